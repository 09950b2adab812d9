import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { gunzipSync } from "node:zlib";
import { deserialize } from "bson";
import { unescaped } from "../../../process/text/unescaped.ts";
import { isObject, type Json, objects, text } from "../formats/imported-chat.server.ts";
import { fromLibreChat } from "../formats/librechat.server.ts";
import { readOne } from "../formats/read-export.server.ts";
import { counted, type House, type HouseAssistant, HouseUnreadable } from "./house.server.ts";

// BSON's limit.
const documentAtMost = 16 * 1024 * 1024 + 16 * 1024;

/**
 * A house of LibreChat: the folder that `mongodump` makes of its database, and the folders of its files (`uploads`, and `images` in
 * or beside it). Throws HouseUnreadable.
 */
export function libreChatHouse(dump: string, uploads: string | undefined): House {
  const folder = [dump, join(dump, "LibreChat"), join(dump, "dump", "LibreChat")].find((one) =>
    ["users.bson", "users.bson.gz"].some((name) => existsSync(join(one, name))),
  );
  if (!folder) throw new HouseUnreadable(`En ${dump} no hay una copia de mongodump: falta users.bson.`);
  const all = (name: string) => documentsOf(folder, name);
  const users = all("users");
  const kept = all("conversations");
  const conversations = kept.filter((row) => row.isTemporary !== true && !row.expiredAt);
  const [presets, memories] = [all("presets").length, all("memoryentries").length];
  const access = Map.groupBy(all("aclentries"), (row) => idOf({ _id: row.resourceId }));
  const isPublic = (row: Json) => (access.get(idOf(row)) ?? []).some(({ principalType }) => principalType === "public");
  // Read first, so that a truncated dump fails before anything is stored.
  const messages = all("messages");
  const prompts = new Map(all("prompts").map((row) => [idOf(row), text(row.prompt)]));
  const files = all("files");
  const temporary = kept.length - conversations.length;
  return {
    source: "librechat",
    people: users.map(personOf),
    groups: all("groups").map(groupOf),
    projects: all("chatprojects").map(projectOf),
    templates: all("promptgroups").map((row) => ({
      id: idOf(row),
      person: String(row.author),
      title: text(row.name),
      content: prompts.get(String(row.productionId)) ?? "",
      shared: isPublic(row),
    })),
    assistants: all("agents").map((row) => assistantOf(row, isPublic(row))),
    files: new Map(
      files.map((row) => [
        text(row.file_id),
        {
          name: text(row.filename),
          path: storedAt(text(row.filepath), uploads),
          readers: new Set([String(row.user)]),
        },
      ]),
    ),
    chatCount: conversations.length,
    chats: () => chatsOf(conversations, messages, new Set(users.map(idOf))),
    left: [
      counted(temporary, "chat temporal.", "chats temporales."),
      counted(presets, "ajuste guardado (preset).", "ajustes guardados (presets)."),
      counted(memories, "recuerdo personal.", "recuerdos personales."),
      "Las contraseñas, las etiquetas, las valoraciones y los enlaces compartidos.",
    ].filter((sentence) => sentence !== undefined),
    close() {},
  };
}

const personOf = (row: Json): House["people"][number] => ({
  id: idOf(row),
  name: text(row.name) || text(row.username),
  email: text(row.email),
  isAdmin: row.role === "ADMIN",
});

const groupOf = (row: Json): House["groups"][number] => ({
  id: idOf(row),
  name: text(row.name),
  description: text(row.description),
  people: Array.isArray(row.memberIds) ? row.memberIds.map(String) : [],
});

const projectOf = (row: Json): House["projects"][number] => ({
  id: idOf(row),
  person: String(row.user),
  name: text(row.name),
  description: text(row.description),
  instructions: "",
  files: [],
  readers: [],
});

function assistantOf(row: Json, isPublic: boolean): HouseAssistant {
  const resources = isObject(row.tool_resources) ? row.tool_resources : {};
  const parameters = isObject(row.model_parameters) ? row.model_parameters : {};
  return {
    id: text(row.id),
    person: String(row.author),
    name: text(row.name),
    purpose: text(row.description),
    instructions: text(row.instructions),
    model: text(row.model),
    temperature: typeof parameters.temperature === "number" ? parameters.temperature : null,
    beginnings: Array.isArray(row.conversation_starters) ? row.conversation_starters.map(text).filter(Boolean) : [],
    files: Object.values(resources).flatMap((one) =>
      isObject(one) && Array.isArray(one.file_ids) ? one.file_ids.map(String) : [],
    ),
    sharedWith: isPublic ? "everybody" : null,
  };
}

/** Chats of these people; messages are kept in no order. */
function* chatsOf(conversations: Json[], messages: Json[], people: Set<string>): ReturnType<House["chats"]> {
  // Ids of conversations are unique per person only.
  const byChat = Map.groupBy(messages, (row) => `${String(row.user)} ${text(row.conversationId)}`);
  for (const row of conversations) {
    const person = String(row.user);
    if (!people.has(person)) continue;
    const own = byChat.get(`${person} ${text(row.conversationId)}`) ?? [];
    const said = own.filter(isSaid).sort((a, b) => Number(a.createdAt) - Number(b.createdAt));
    yield {
      person,
      project: text(row.chatProjectId) || null,
      chat: readOne(() => fromLibreChat({ ...row, messages: said })),
    };
  }
}

const idOf = ({ _id }: Json) => String(_id);
// An error of a model without text is no message.
const isSaid = (message: Json) =>
  message.error !== true || text(message.text) !== "" || objects(message.content).length > 0;

/** The documents of a collection, one after the other, each beginning with its length. Throws HouseUnreadable. */
function documentsOf(folder: string, collection: string): Json[] {
  const path = join(folder, `${collection}.bson`);
  const packed = `${path}.gz`;
  if (!existsSync(path) && !existsSync(packed)) return [];
  const documents: Json[] = [];
  try {
    const bytes = existsSync(path) ? readFileSync(path) : gunzipSync(readFileSync(packed));
    for (let at = 0; at < bytes.length; ) {
      const length = bytes.readInt32LE(at);
      if (length < 5 || length > documentAtMost || at + length > bytes.length) throw new RangeError("Cut");
      documents.push(deserialize(bytes.subarray(at, at + length)));
      at += length;
    }
  } catch (cause) {
    if (cause instanceof Error && "syscall" in cause) throw cause;
    throw new HouseUnreadable(`${basename(path)} está dañado o incompleto. Haz la copia otra vez con mongodump.`, {
      cause,
    });
  }
  return documents;
}

/** A file by its address in LibreChat: /images/<person>/<name> or /uploads/<person>/<name>, maybe with a query. */
function storedAt(address: string, uploads: string | undefined): string | undefined {
  const [, kind, inside] = /^\/?(images|uploads)\/([^?]+)/.exec(address) ?? [];
  if (!uploads || !kind || !inside) return undefined;
  const folders = [join(uploads, kind), uploads, join(uploads, "..", kind)];
  return folders
    .flatMap((folder) => [inside, unescaped(inside)].flatMap((name) => within(folder, name)))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

/** Path of a file in a folder; none if the name leads out of the folder. */
function within(folder: string, name: string): string[] {
  const path = resolve(folder, name);
  return path.startsWith(`${resolve(folder)}${sep}`) ? [path] : [];
}
