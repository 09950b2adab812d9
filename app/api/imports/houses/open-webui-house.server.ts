import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isObject, type Json, objects, parsed, text } from "../formats/imported-chat.server.ts";
import { fromOpenWebUi } from "../formats/open-webui.server.ts";
import { readOne } from "../formats/read-export.server.ts";
import {
  counted,
  type House,
  type HouseAssistant,
  type HouseFile,
  type HouseProject,
  HouseUnreadable,
} from "./house.server.ts";

const nobody = "Los chats de cuentas que ya no existen.";

/**
 * A house of Open WebUI: its `webui.db` of any release since 0.3, and its folder of uploads. Missing tables and columns are allowed,
 * because they differ by the age of the installation. Throws HouseUnreadable.
 */
export function openWebUiHouse(database: string, uploads: string | undefined): House {
  const db = opened(database);
  const tables = new Set(
    db
      .prepare("select name from sqlite_master where type = 'table'")
      .all()
      .map((row) => text(row.name)),
  );
  tables.add("sqlite_master");
  const all: All = (table) => (tables.has(table) ? [...rowsOf(db, `select * from "${table}"`)] : []);
  const byId = (rows: Json[], name: string) => Map.groupBy(rows, (row) => text(row[name]));
  const people = all("user").filter(({ role }) => role !== "pending");
  const memberRows = byId(all("group_member"), "group_id");
  const groups = all("group").map((row) => ({
    id: text(row.id),
    name: text(row.name),
    description: text(row.description),
    people: [
      ...(memberRows.get(text(row.id)) ?? []).map((member) => text(member.user_id)),
      ...textsOf(parsed(row.user_ids)),
    ],
  }));
  // People choose the ids of models and prompts, which may equal ids of other things: the key includes the type.
  const grants = Map.groupBy(all("access_grant"), (row) => `${text(row.resource_type)} ${text(row.resource_id)}`);
  const grantsOf = (type: string, row: Json) => grants.get(`${type} ${text(row.id)}`) ?? [];
  const sharing = (type: string, row: Json) => sharedWith(row, grantsOf(type, row), tables.has("access_grant"));
  const readersOf = (row: Json) =>
    sharing("knowledge", row) === "everybody"
      ? people.map(({ id }) => text(id))
      : readers(row, grantsOf("knowledge", row), groups);
  const collections = collectionsIn(all("knowledge"), byId(all("knowledge_file"), "knowledge_id"), readersOf);
  const filesOf = new Map(collections.map(({ id, files: inside }) => [id, inside]));
  const names = folderNames(all("folder"));
  return {
    source: "open-webui",
    people: people.map((row) => ({
      id: text(row.id),
      name: text(row.name),
      email: text(row.email),
      isAdmin: row.role === "admin",
    })),
    groups,
    projects: [...all("folder").map((row) => folderAsProject(row, names)), ...collections],
    templates: all("prompt").map((row) => ({
      id: text(row.id) || text(row.command),
      person: text(row.user_id),
      title: text(row.name) || text(row.title) || text(row.command).replace(/^\//, ""),
      content: text(row.content),
      shared: sharing("prompt", row) === "everybody",
    })),
    assistants: all("model").flatMap((row) => assistantOf(row, filesOf, sharing("model", row))),
    files: filesIn(all("file"), collections, uploads),
    chatCount: Number(db.prepare("select count(*) as n from chat").get()?.n ?? 0),
    chats: () => chatsOf(db, all, new Set(people.map(({ id }) => text(id)))),
    left: leftBehind(db, all),
    close: () => db.close(),
  };
}

/** Rows of a table; none where the release has no such table. */
type All = (table: string) => Json[];

/** Chats of these people, with messages that only the table `chat_message` has. */
function* chatsOf(db: DatabaseSync, all: All, people: Set<string>): ReturnType<House["chats"]> {
  const pinned = new Set(all("chatidtag").flatMap((row) => (row.tag_name === "pinned" ? [text(row.chat_id)] : [])));
  const hasMessages = all("sqlite_master").some(({ name }) => name === "chat_message");
  const messagesOf = (chatId: string) =>
    hasMessages ? [...rowsOf(db, "select * from chat_message where chat_id = ? order by created_at", chatId)] : [];
  for (const row of rowsOf(db, "select * from chat")) {
    const [id, person] = [text(row.id), text(row.user_id)];
    if (!people.has(person) || isInternal(row)) continue;
    const stored = parsed(row.chat);
    const chat = withRows(isObject(stored) ? stored : {}, id, messagesOf(id));
    const imported = readOne(() => fromOpenWebUi({ ...row, pinned: pinned.has(id) ? 1 : row.pinned }, chat));
    yield { person, project: text(row.folder_id) || null, chat: imported };
  }
}

/** Sentences about data that is not moved. */
function leftBehind(db: DatabaseSync, all: All): string[] {
  const pending = counted(
    all("user").filter(({ role }) => role === "pending").length,
    "cuenta que esperaba",
    "cuentas que esperaban",
  );
  const orphans =
    "select count(*) as n from chat where user_id not in (select id from \"user\") and user_id not like 'shared-%'";
  const memories = counted(all("memory").length, "recuerdo personal", "recuerdos personales");
  const channels = counted(all("channel").length, "canal", "canales");
  return [
    pending && `${pending} la aprobación.`,
    db.prepare(orphans).get()?.n ? nobody : undefined,
    memories && `${memories}.`,
    channels && `${channels} con sus mensajes.`,
    "Las contraseñas, las valoraciones, las herramientas y las funciones.",
  ].filter((sentence) => sentence !== undefined);
}

/** Rows of a query. A number that no double can hold, such as a time in ns, becomes the nearest double. Throws HouseUnreadable. */
function* rowsOf(db: DatabaseSync, query: string, ...given: string[]): Generator<Json> {
  try {
    const statement = db.prepare(query);
    statement.setReadBigInts(true);
    for (const row of statement.iterate(...given)) {
      yield Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
      );
    }
  } catch (cause) {
    throw new HouseUnreadable(broken, { cause });
  }
}

const broken =
  "La base de datos no se puede leer: está dañada, incompleta o cifrada. Cópiala con el servidor parado, con sus archivos -wal y -shm.";

function opened(path: string): DatabaseSync {
  if (!existsSync(path)) throw new HouseUnreadable(`No hay ningún archivo ${path}.`);
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    const tables = db.prepare("select count(*) as n from sqlite_master where name in ('user', 'chat')").get();
    db.prepare("select count(*) as n from chat").get();
    if (tables?.n === 2) return db;
  } catch (cause) {
    throw new HouseUnreadable(broken, { cause });
  }
  throw new HouseUnreadable(`${basename(path)} no es la base de datos de un Open WebUI.`);
}

const objectIn = (cell: unknown): Json => {
  const value = parsed(cell);
  return isObject(value) ? value : {};
};
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(text).filter(Boolean) : []);
const isInternal = (row: Json) => objectIn(row.meta).internal === true;

/** Adds to a chat the messages that only the table `chat_message` has; their ids there begin with the id of the chat. */
function withRows(chat: Json, chatId: string, rows: Json[]): Json {
  const history = isObject(chat.history) ? chat.history : {};
  const messages: Json = isObject(history.messages) ? { ...history.messages } : {};
  const own = (id: unknown) => text(id).replace(`${chatId}-`, "");
  let isAdded = false;
  for (const row of rows) {
    const id = own(row.id);
    if (isObject(messages[id]) || !id) continue;
    isAdded = true;
    messages[id] = {
      id,
      parentId: own(row.parent_id) || null,
      role: row.role,
      content: parsed(row.content),
      output: parsed(row.output),
      files: parsed(row.files),
      timestamp: row.created_at,
    };
  }
  return isAdded ? { ...chat, history: { ...history, messages } } : chat;
}

/** Files by their ids. The readers of a collection may open its files. */
function filesIn(rows: Json[], collections: HouseProject[], uploads: string | undefined): Map<string, HouseFile> {
  const names = uploads && existsSync(uploads) ? readdirSync(uploads, { withFileTypes: true }) : [];
  const stored = new Map(
    names.filter((entry) => entry.isFile()).map(({ name, parentPath }) => [name, join(parentPath, name)]),
  );
  const byUuid = new Map([...stored].map(([name, path]) => [name.slice(0, name.indexOf("_")), path]));
  const readers = new Map<string, string[]>();
  for (const { person, readers: others, files } of collections) {
    for (const id of files) readers.set(id, [...(readers.get(id) ?? []), person, ...others]);
  }
  return new Map(
    rows.map((row) => {
      const [id, meta] = [text(row.id), objectIn(row.meta)];
      const name = text(meta.name) || text(row.filename).replace(`${id}_`, "");
      const kept = basename(text(row.path) || text(meta.path));
      const path = stored.get(kept) ?? stored.get(`${id}_${name}`) ?? byUuid.get(id);
      return [id, { name, path, readers: new Set([text(row.user_id), ...(readers.get(id) ?? [])]) }];
    }),
  );
}

/** Names of folders, each preceded by the names of the folders above it. */
function folderNames(rows: Json[]): Map<string, string> {
  const byId = new Map(rows.map((row) => [text(row.id), row]));
  return new Map(
    rows.map((row) => {
      const names = [text(row.name)];
      const seen = new Set([text(row.id)]);
      for (
        let above = byId.get(text(row.parent_id));
        above && !seen.has(text(above.id));
        above = byId.get(text(above.parent_id))
      ) {
        seen.add(text(above.id));
        names.unshift(text(above.name));
      }
      return [text(row.id), names.join(" / ")];
    }),
  );
}

function folderAsProject(row: Json, names: Map<string, string>): HouseProject {
  const data = objectIn(row.data);
  return {
    id: text(row.id),
    person: text(row.user_id),
    name: names.get(text(row.id)) ?? text(row.name),
    description: "",
    instructions: text(data.system_prompt),
    files: objects(data.files).flatMap(({ id, type }) => (type === "file" ? [text(id)] : [])),
    readers: [],
  };
}

function collectionsIn(rows: Json[], inside: Map<string, Json[]>, readersOf: (row: Json) => string[]): HouseProject[] {
  return rows.map((row) => ({
    id: text(row.id),
    person: text(row.user_id),
    name: text(row.name),
    description: text(row.description),
    instructions: "",
    files: [
      ...(inside.get(text(row.id)) ?? []).map((one) => text(one.file_id)),
      ...textsOf(objectIn(row.data).file_ids),
    ],
    readers: readersOf(row).filter((id) => id !== text(row.user_id)),
  }));
}

/** An assistant, for a model that is based on another model; a row without a base only has the settings of its own model. */
function assistantOf(
  row: Json,
  filesOf: Map<string, string[]>,
  shared: HouseAssistant["sharedWith"],
): HouseAssistant[] {
  if (!text(row.base_model_id)) return [];
  const [params, meta] = [objectIn(row.params), objectIn(row.meta)];
  return [
    {
      id: text(row.id),
      person: text(row.user_id),
      name: text(row.name),
      purpose: text(meta.description),
      instructions: text(params.system),
      model: text(row.base_model_id),
      temperature: typeof params.temperature === "number" ? params.temperature : null,
      beginnings: objects(meta.suggestion_prompts)
        .map(({ content }) => text(content))
        .filter(Boolean),
      files: objects(meta.knowledge).flatMap(({ id, type }) =>
        type === "file" ? [text(id)] : (filesOf.get(text(id)) ?? []),
      ),
      sharedWith: shared,
    },
  ];
}

/** Groups that a thing is shared with: from rows of `access_grant`, or in older releases from a cell, whose null means everybody. */
function sharedWith(row: Json, grants: Json[], hasGrants: boolean): HouseAssistant["sharedWith"] {
  if (hasGrants) {
    if (grants.some((grant) => grant.principal_id === "*")) return "everybody";
    const groups = grants.flatMap((grant) => (grant.principal_type === "group" ? [text(grant.principal_id)] : []));
    return groups.length > 0 ? [...new Set(groups)] : null;
  }
  // Null means everybody; a cell that can't be read means nobody.
  if (row.access_control === null || row.access_control === "null") return "everybody";
  const control = objectIn(row.access_control);
  const read = isObject(control.read) ? control.read : {};
  const groups = textsOf(read.group_ids);
  return groups.length > 0 ? groups : null;
}

/** People who may read a thing, by name or by their groups; a grant to everybody is left out. */
function readers(row: Json, grants: Json[], groups: House["groups"]): string[] {
  const control = objectIn(row.access_control);
  const read = isObject(control.read) ? control.read : {};
  const ids = (type: string) =>
    grants.flatMap((grant) => (grant.principal_type === type ? [text(grant.principal_id)] : []));
  const groupIds = new Set([...ids("group"), ...textsOf(read.group_ids)]);
  const members = groups.filter(({ id }) => groupIds.has(id)).flatMap(({ people }) => people);
  return [...new Set([...ids("user"), ...textsOf(read.user_ids), ...members])].filter((id) => id !== "*");
}
