import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const seconds = 1_735_700_000;
const json = JSON.stringify;
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** A house as Open WebUI keeps it, by its published schema: of early 2025, or of 2026 with tables for members, grants and messages. */
export function makeOpenWebUi(folder: string, era: "2025" | "2026"): { database: string; uploads: string } {
  const [database, uploads] = [join(folder, "webui.db"), join(folder, "uploads")];
  mkdirSync(uploads, { recursive: true });
  writeFileSync(join(uploads, `${id(1)}_acta.txt`), "La fianza del local son 640 euros.");
  writeFileSync(join(uploads, `${id(2)}_plano.png`), png);
  const db = new DatabaseSync(database);
  const isNew = era === "2026";
  db.exec(`
    create table "user" (id text, name text, email text, role text, created_at integer);
    create table chat (id text, user_id text, title text, chat text, created_at integer, updated_at integer, archived integer, pinned integer, meta text, folder_id text);
    create table folder (id text, parent_id text, user_id text, name text, data text);
    create table file (id text, user_id text, filename text, path text, meta text, data text);
    create table "group" (id text, user_id text, name text, description text${isNew ? "" : ", user_ids text"});
    create table knowledge (id text, user_id text, name text, description text${isNew ? "" : ", data text, access_control text"});
    create table model (id text, user_id text, base_model_id text, name text, params text, meta text${isNew ? "" : ", access_control text"});
    create table prompt (command text, user_id text, ${isNew ? "id text, name text" : "title text"}, content text${isNew ? "" : ", access_control text"});
    create table channel (id text, created_at bigint);
    insert into channel values ('general', 1735700000000000000);
  `);
  if (isNew) {
    db.exec(`
      create table group_member (id text, group_id text, user_id text);
      create table knowledge_file (id text, knowledge_id text, file_id text);
      create table access_grant (id text, resource_type text, resource_id text, principal_type text, principal_id text, permission text);
      create table chat_message (id text, chat_id text, role text, parent_id text, content text, output text, files text, created_at integer);
    `);
  }
  const insert = (table: string, row: Record<string, string | number | null | undefined>) => {
    const given = Object.entries(row).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
    const columns = given.map(({ name }) => name).join();
    const places = given.map(() => "?").join();
    db.prepare(`insert into "${table}" (${columns}) values (${places})`).run(...given.map(({ value }) => value));
  };
  insert("user", { id: "u-ana", name: "Ana", email: "Ana@casa.example", role: "admin" });
  insert("user", { id: "u-bea", name: "Bea", email: "bea@casa.example", role: "user" });
  insert("user", { id: "u-cai", name: "Cai", email: "cai@casa.example", role: "pending" });
  const members = isNew ? {} : { user_ids: json(["u-bea"]) };
  insert("group", { id: "g-1", user_id: "u-ana", name: "Tesorería", description: "", ...members });
  if (isNew) insert("group_member", { id: "m-1", group_id: "g-1", user_id: "u-bea" });
  insert("group", {
    id: "g-2",
    user_id: "u-ana",
    name: "Tesorería",
    description: "",
    ...(isNew ? {} : { user_ids: json(["u-ana"]) }),
  });
  if (isNew) insert("group_member", { id: "m-2", group_id: "g-2", user_id: "u-ana" });
  insert("folder", {
    id: "f-1",
    parent_id: null,
    user_id: "u-bea",
    name: "Obras",
    data: json({ system_prompt: "Contesta breve." }),
  });
  insert("folder", { id: "f-2", parent_id: "f-1", user_id: "u-bea", name: "Tejado", data: null });
  // The last two are in no chat of Bea's: Ana's names them, though she may not open the one, and the other lies elsewhere.
  writeFileSync(join(uploads, `${id(4)}_nomina.txt`), "La nómina de Bea.");
  writeFileSync(join(folder, "fuera.txt"), "No es de los archivos de la casa.");
  for (const [n, name, person] of [
    [1, "acta.txt", "u-bea"],
    [2, "plano.png", "u-ana"],
    [3, "perdido.pdf", "u-ana"],
    [4, "nomina.txt", "u-bea"],
    [5, "/../../fuera.txt", "u-ana"],
  ] as const) {
    insert("file", {
      id: id(n),
      user_id: person,
      filename: name,
      path: `/app/backend/data/uploads/${id(n)}_${name}`,
      meta: json({ name }),
    });
  }
  const control = (value: unknown) => (isNew ? {} : { access_control: value === undefined ? null : json(value) });
  const inside = isNew ? {} : { data: json({ file_ids: [id(1)] }) };
  insert("knowledge", {
    id: "k-1",
    user_id: "u-bea",
    name: "Actas",
    description: "De la junta",
    ...inside,
    ...control({ read: { user_ids: ["u-ana"], group_ids: [] } }),
  });
  insert("model", {
    ...{ id: "cronista", user_id: "u-ana", base_model_id: "llama3", name: "Cronista" },
    params: json({ system: "Redactas actas.", temperature: 0.4 }),
    meta: json({
      description: "Hace actas",
      suggestion_prompts: [{ content: "Redacta el acta" }],
      knowledge: [{ id: "k-1", type: "collection" }],
    }),
    ...control({ read: { group_ids: ["g-1"], user_ids: [] } }),
  });
  insert("model", {
    id: "llama3",
    user_id: "u-ana",
    base_model_id: null,
    name: "Llama",
    params: "{}",
    meta: "{}",
    ...control(undefined),
  });
  insert("prompt", {
    ...{
      command: isNew ? "carta" : "/carta",
      user_id: "u-ana",
      content: "Escribe a {{destinatario | type:text}} sobre {{Asunto_breve}}.",
    },
    ...(isNew ? { id: "p-1", name: "Carta" } : { title: "Carta" }),
    ...control(undefined),
  });
  const unread = isNew ? {} : { access_control: '{"read": ' };
  insert("model", {
    ...{ id: "diario", user_id: "u-bea", base_model_id: "llama3", name: "Diario", params: "{}" },
    meta: json({ knowledge: [{ id: id(2), type: "file" }] }),
    ...unread,
  });
  insert("prompt", {
    ...{ command: "mio", user_id: "u-bea", content: "Solo mío." },
    ...(isNew ? { id: "p-2", name: "Mío" } : { title: "Mío" }),
    ...unread,
  });
  if (isNew) {
    insert("knowledge_file", { id: "kf-1", knowledge_id: "k-1", file_id: id(1) });
    const grant = (type: string, of: string, who: string, whose: string) =>
      insert("access_grant", {
        id: `${type}-${who}`,
        resource_type: type,
        resource_id: of,
        principal_type: whose,
        principal_id: who,
        permission: "read",
      });
    grant("knowledge", "k-1", "u-ana", "user");
    grant("model", "cronista", "g-1", "group");
    grant("prompt", "p-1", "*", "user");
    // A tool that has the id of a model.
    grant("tool", "diario", "*", "user");
  }
  const chat = (n: number, person: string, messages: object[], row: Record<string, string | number | null> = {}) =>
    insert("chat", {
      ...{
        id: `c-${n}`,
        user_id: person,
        title: `Chat ${n}`,
        created_at: seconds,
        updated_at: seconds,
        archived: 0,
        pinned: 0,
      },
      ...{ meta: "{}", folder_id: null, ...row },
      chat: json({
        history: { currentId: "b2", messages: Object.fromEntries(messages.map((one) => [Object(one).id, one])) },
      }),
    });
  const asked = { id: "a", parentId: null, role: "user", content: "¿Cuánto es la fianza?", timestamp: seconds };
  const said = (key: string, content: unknown) => ({
    id: key,
    parentId: "a",
    role: "assistant",
    content,
    timestamp: seconds * 1000,
  });
  chat(
    1,
    "u-bea",
    [
      asked,
      said("b1", "No lo sé."),
      said("b2", '<details type="reasoning" done="true">\n> Miro el acta\n</details>\n640 euros.'),
    ],
    { folder_id: "f-2", pinned: 1 },
  );
  chat(
    2,
    "u-ana",
    [
      {
        ...asked,
        content: [{ type: "text", text: "Mira esto" }],
        files: [
          { type: "file", id: id(1), name: "acta.txt" },
          { type: "image", url: `/api/v1/files/${id(2)}/content`, name: "plano.png" },
          { type: "file", id: id(3), name: "perdido.pdf" },
          { type: "file", id: id(4), name: "nomina.txt" },
          { type: "file", id: id(5), name: "fuera.txt" },
          { type: "collection", id: "k-1" },
        ],
      },
      { ...said("b2", ""), output: [{ type: "message", content: [{ type: "output_text", text: "Es un acta." }] }] },
    ],
    { archived: 1, folder_id: "f-2" },
  );
  chat(3, "u-nadie", [asked]);
  insert("chat", {
    id: "c-4",
    user_id: "u-bea",
    title: "Roto",
    chat: "{no es JSON",
    created_at: seconds,
    updated_at: seconds,
    archived: 0,
    pinned: null,
    meta: null,
    folder_id: null,
  });
  if (isNew) {
    chat(5, "u-bea", []);
    for (const [key, parent, role] of [
      ["a", null, "user"],
      ["b2", "a", "assistant"],
    ] as const) {
      insert("chat_message", {
        id: `c-5-${key}`,
        chat_id: "c-5",
        role,
        parent_id: parent && `c-5-${parent}`,
        content: json(`De la tabla: ${role}`),
        output: "null",
        files: "null",
        created_at: seconds,
      });
    }
  }
  db.close();
  return { database, uploads };
}
