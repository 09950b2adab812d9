import { strToU8, zipSync } from "fflate";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageRow } from "../../app/db/rows.server.ts";
import type { MessageRow } from "../../app/db/tables.ts";
import type { Source } from "../../app/replies/chunk.ts";
import { partsOf, type ReplyPart, storedPartsOf, storeParts } from "../../app/replies/parts.server.ts";
import type { Call } from "../../app/replies/tools/call.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines, sqlite } from "../support/engines.ts";

// The whole of somebody's data, taken from one house into another.
describe.each(await queryEngines())("an account from SQLite to $name", (engine) => {
  let [from, to]: (Api | undefined)[] = [];
  let ana: Account;
  let archive: ArrayBuffer;
  const houses = () => (from && to ? { from, to } : expect.fail("not opened"));
  beforeAll(async () => {
    from = await openApi(sqlite);
    to = await openApi(engine);
    ana = await from.signUp("Ana");
    await fill(from, ana);
    archive = await (await from.fetch(`/api/user/${ana.id}/export`, ana.token)).arrayBuffer();
  });
  afterAll(async () => {
    await from?.close();
    await to?.close();
  });
  const bring = async (api: Api, { token }: Pick<Account, "token">) => {
    const sent = [new File([archive], "tertulia.zip")];
    return (await api.upload(token, sent, {}, "/api/chat/import")).body as Record<string, unknown>;
  };

  it("arrives complete, with everything that belongs to the account", async () => {
    const { to } = houses();
    const bea = await to.signUp("Bea");
    expect(await bring(to, bea)).toMatchObject({ chats: 1, messages: 4, things: 6, left: [] });
    expect(await shapeOf(to, bea.id)).toEqual(await shapeOf(houses().from, ana.id));
  });

  it("comes again without doubles", async () => {
    const { to } = houses();
    const { token, id } = await to.signUp("Cai");
    await bring(to, { token });
    const before = await shapeOf(to, id);
    expect(await bring(to, { token })).toMatchObject({
      chats: 0,
      files: 0,
      things: 0,
      known: 1,
    });
    expect(await shapeOf(to, id)).toEqual(before);
  });

  it("brings back a project that was deleted since", async () => {
    const { to } = houses();
    const { token, id } = await to.signUp("Dan");
    await bring(to, { token });
    const { assistants: _, ...before } = await shapeOf(to, id);
    await to.db.deleteFrom("projects").where("userId", "=", id).execute();
    expect(await bring(to, { token })).toMatchObject({ chats: 1, things: 1 });
    expect(await shapeOf(to, id)).toMatchObject(before);
  });

  it("comes into its own house without doubles", async () => {
    const { from } = houses();
    const before = await shapeOf(from, ana.id);
    expect(await bring(from, ana)).toMatchObject({ chats: 0, things: 0, files: 0 });
    expect(await shapeOf(from, ana.id)).toEqual(before);
  });
});

async function fill(api: Api, { token, id: userId }: Account): Promise<void> {
  const make = async (path: string, json: object) => {
    const { body, status } = await api.call("POST", `/api/${path}`, { token, json });
    expect([path, status]).toEqual([path, 201]);
    return (body as { id: string }).id;
  };
  const projectId = await make("project", {
    name: "Obras",
    description: "Del tejado",
    instructions: "Contesta breve.",
  });
  const sent = new File(["La fianza son 640 euros."], "contrato.txt");
  const { body } = await api.upload(token, [sent], { projectId });
  const [{ id: fileId = "" } = {}] = (body as { items: { id: string }[] }).items;
  const assistantId = await make("assistant", {
    ...{ name: "Cronista", purpose: "Actas", instructions: "Redactas actas.", temperature: 0.4 },
    ...{ fileIds: [fileId], beginnings: ["Redacta el acta"] },
  });
  await make("template", { title: "Carta", content: "Escribe a {{quien}}" });
  await make("schedule", {
    content: "¿Qué hay hoy?",
    days: [1, 3],
    time: "08:30",
    zone: "Europe/Madrid",
    assistantId,
    tells: true,
  });
  const looks = await make("schedule", { content: "¿Qué hay nuevo?", days: [1], time: "08:30", zone: "UTC" });
  await api.db.updateTable("schedules").set({ looksIn: '["documents"]' }).where("id", "=", looks).execute();
  const skill = zipSync({
    "SKILL.md": strToU8("---\nname: actas\ndescription: Levantar actas\n---\nSé breve."),
    "modelo.md": strToU8("ACTA DE LA SESIÓN"),
  });
  const zip = new File([skill as Uint8Array<ArrayBuffer>], "actas.zip");
  await api.upload(token, [zip], {}, "/api/skill/upload");
  const attached = await api.upload(token, [new File(["Acta del lunes."], "acta.txt")]);
  const fileIds = (attached.body as { items: { id: string }[] }).items.map(({ id }) => id);
  const [start] = await api.converse(token, { content: "¿Qué dice el acta?", projectId, assistantId, fileIds });
  if (start?.type !== "start") throw new Error("a conversation begins with its start");
  const { chatId } = start;
  const asked = await api.db
    .selectFrom("messages")
    .where("chatId", "=", chatId)
    .where("role", "=", "user")
    .select("id")
    .executeTakeFirstOrThrow();
  const other = messageRow(Date.now(), {
    chatId,
    userId,
    parentId: asked.id,
    role: "assistant",
    content: "Otra versión",
    finishedAt: Date.now(),
  });
  await api.db.insertInto("messages").values(other).execute();
  await makeReply(api, { token, id: userId }, { ...other, parentId: asked.id });
  const set = { pinned: 1 as const, archived: 1 as const, leafId: other.id, title: "El acta", titled: 1 as const };
  await api.db.updateTable("chats").set(set).where("id", "=", chatId).execute();
}

/** A stopped reply of a model that both houses have, with a thought, a call, an image and sources. */
async function makeReply(api: Api, { token, id: userId }: Pick<Account, "token" | "id">, beside: MessageRow) {
  const model = await api.db.selectFrom("models").select("id").executeTakeFirstOrThrow();
  const drawn = await api.upload(token, [new File([await drawnPng()], "plano.png")]);
  const [{ id: fileId = "" } = {}] = (drawn.body as { items: { id: string }[] }).items;
  const quoted = { chatId: null, messageId: null, title: "Contrato", quote: "640 euros" };
  const reply = messageRow(Date.now() + 1, {
    ...{ chatId: beside.chatId, userId, parentId: beside.parentId, role: "assistant", modelId: model.id },
    ...{ content: "Miro. Son 640 euros.", status: "stopped", finishedAt: Date.now() + 2_000 },
    sources: JSON.stringify([
      { n: 1, kind: "file", ...quoted },
      { n: 2, kind: "page", ...quoted, url: "https://obras.example/", readAt: 1_700_000_000_000, isListed: true },
    ]),
  });
  await api.db.insertInto("messages").values(reply).execute();
  const [startedAt, finishedAt] = [reply.createdAt, reply.createdAt + 900];
  const call: Call = {
    ...{ id: "c1", step: 0, name: "obras_buscar", tool: "buscar", toolId: null, label: "Buscar", server: "Obras" },
    ...{ input: '{"que":"fianza"}', readOnly: false, edited: true },
  };
  await storeParts(
    api.db,
    reply.id,
    [
      { n: 0, part: { kind: "reasoning", at: 0, text: "Hay que mirar.", startedAt, finishedAt } },
      { n: 2, part: { kind: "tool", at: 6, text: "640", status: "done", call, startedAt, finishedAt } },
      {
        n: 3,
        part: {
          kind: "image",
          at: 6,
          text: "El plano",
          startedAt,
          finishedAt: startedAt,
          image: { fileId, width: 2, height: 2 },
        },
      },
    ],
    Date.now(),
  );
}

const drawnPng = () =>
  sharp({ create: { width: 2, height: 2, channels: 3, background: "red" } })
    .png()
    .toBuffer();

/** An account without its ids, to be compared. */
async function shapeOf({ db }: Api, userId: string) {
  const own = (table: "projects" | "templates" | "assistants" | "schedules" | "chats" | "messages" | "files") =>
    db
      .selectFrom(table as "projects")
      .where("userId", "=", userId)
      .orderBy("id")
      .selectAll()
      .execute();
  const [projects, templates, assistants, schedules, chats, messages, files] = await Promise.all([
    own("projects"),
    own("templates"),
    own("assistants"),
    own("schedules"),
    own("chats"),
    own("messages"),
    own("files"),
  ]);
  const skills = await db
    .selectFrom("skills")
    .leftJoin("skillFiles", "skillFiles.skillId", "skills.id")
    .where("skills.userId", "=", userId)
    .select(["name", "description", "content", "path", "text"])
    .execute();
  const nameOf = (rows: { id: string }[], id: unknown, field: string) =>
    id === null
      ? null
      : (Object.entries(rows.find((row) => row.id === id) ?? {}).find(([name]) => name === field)?.[1] ?? null);
  const only = (rows: object[], ...names: string[]) =>
    rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name))));
  const attachments = await db
    .selectFrom("attachments")
    .where("messageId", "in", ["", ...messages.map(({ id }) => id)])
    .select(["name", "mediaType"])
    .execute();
  const models = await db.selectFrom("models").select(["id", "name"]).execute();
  const parts = await storedPartsOf(
    db,
    messages.map(({ id }) => id),
  );
  return {
    projects: only(projects, "name", "description", "instructions"),
    templates: only(templates, "title", "content"),
    assistants: assistants.map((row) => ({
      ...only([row], "name", "purpose", "instructions", "temperature", "beginnings")[0],
      files: (JSON.parse(String(Object(row).fileIds)) as string[]).map((id) => nameOf(files, id, "name")),
    })),
    schedules: schedules.map((row) => ({
      ...only([row], "content", "days", "time", "zone", "tells", "enabled", "looksIn")[0],
      assistant: nameOf(assistants, Object(row).assistantId, "name"),
    })),
    skills,
    chats: chats.map((row) => ({
      ...only([row], "title", "pinned", "archived", "createdAt")[0],
      project: nameOf(projects, Object(row).projectId, "name"),
      assistant: nameOf(assistants, Object(row).assistantId, "name"),
      shown: nameOf(messages, Object(row).leafId, "content"),
    })),
    messages: messages
      .map((row) => ({
        ...only([row], "role", "content", "createdAt", "status", "error")[0],
        model: nameOf(models, Object(row).modelId, "name"),
        sources: sourcesOf(row, files),
        parts: partsOf("", parts.get(row.id) ?? []).map((part) => shapeOfPart(part, files)),
        above: nameOf(messages, Object(row).parentId, "content"),
      }))
      .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    documents: files.map((row) => [Object(row).name, nameOf(projects, Object(row).projectId, "name")]).sort(),
    attachments: attachments.map(({ name, mediaType }) => [name, mediaType]).sort(),
  };
}

/** Without trust in addresses: a list of results was not read here. */
const sourcesOf = (row: object, files: { id: string }[]) =>
  (JSON.parse(String(Object(row).sources ?? "[]")) as Source[]).map(({ isListed: _, fileId, ...source }) => ({
    ...source,
    isThere: files.some(({ id }) => id === fileId),
  }));

function shapeOfPart(part: ReplyPart, files: { id: string }[]) {
  if (part.kind === "tool") {
    const { name, tool, label, server, input, edited } = part.call;
    return { ...part, call: { name, tool, label, server, input, edited } };
  }
  if (part.kind !== "image") return part;
  const { fileId, ...size } = part.image;
  return { ...part, image: { ...size, there: files.some(({ id }) => id === fileId) } };
}
