import {
  chatOf,
  fileNamed,
  type ImportedChat,
  type ImportedFile,
  isObject,
  type Json,
  objects,
  parentsIn,
  partsOf,
  text,
  time,
  withIds,
} from "./imported-chat.server.ts";

const uuid = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;
// Open WebUI stores thoughts and tool calls as elements in the text; old releases store thoughts as they came from the model.
const details = /<details type="(?:reasoning|tool_calls|code_interpreter)"/g;
const detailsEnd = "</details>";
const thoughts = /^\s*<think>[\s\S]*?<\/think>\s*/;

/** A conversation of Open WebUI: its row, and the JSON in it. */
export function fromOpenWebUi(item: Json, chat: Json): ImportedChat {
  const history = isObject(chat.history) ? chat.history : {};
  const listed = isObject(history.messages) ? withIds(history.messages) : objects(chat.messages);
  const parents = parentsIn(listed, "childrenIds");
  const parentOf = ({ id, parentId }: Json) => text(parentId === undefined ? parents.get(text(id)) : parentId);
  const questions = new Set(listed.filter(({ role }) => role === "user").map(({ id }) => text(id)));
  const nodes = listed.map((message) => ({
    key: text(message.id),
    parent: parentOf(message) || null,
    // Replies that were cut off are stored without a role.
    role: text(message.role) || (questions.has(parentOf(message)) ? "assistant" : ""),
    content: withoutDetails(saidIn(message)).replace(thoughts, ""),
    at: time(message.timestamp),
    files: [...objects(message.files).flatMap(fileOf), ...objects(message.content).flatMap(pictureOf)],
  }));
  const title = text(item.title) || chat.title;
  const about = {
    key: text(item.id),
    title,
    at: time(item.created_at ?? item.timestamp),
    archived: isSet(item.archived),
    pinned: isSet(item.pinned),
  };
  return chatOf(about, nodes, text(history.currentId) || nodes.at(-1)?.key);
}

/** Removes the elements; an unclosed element stays text. */
function withoutDetails(said: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { index } of said.matchAll(details)) {
    if (index < from) continue;
    const end = endOfDetails(said, index);
    if (end < 0) break;
    kept.push(from === 0 ? said.slice(from, index) : said.slice(from, index).trimStart());
    from = end;
  }
  return kept.join("") + (from === 0 ? said : said.slice(from).trimStart());
}

/** The end of the element that begins at a place, which may hold others; -1 if it is not closed. */
function endOfDetails(said: string, from: number): number {
  let open = 0;
  for (const { index, 0: tag } of said.slice(from).matchAll(/<details\b|<\/details>/g)) {
    open += tag === detailsEnd ? -1 : 1;
    if (open === 0) return from + index + detailsEnd.length;
  }
  return -1;
}

// A flag is a boolean in the JSON, 1 in the database.
const isSet = (value: unknown) => value === true || value === 1;

/** Text of a message: a text, a list of parts, or only what the model's API answered. */
function saidIn({ content, output }: Json): string {
  const said = typeof content === "string" ? text(content) : partsOf(content);
  if (said.trim()) return said;
  return objects(output)
    .filter(({ type }) => type === "message")
    .map((one) => partsOf(one.content))
    .join("\n\n");
}

/** A file of a message. Entries of other types refer to knowledge, pages and other chats. */
function fileOf({ name, type, url, id, file }: Json): ImportedFile[] {
  if (type !== undefined && type !== "file" && type !== "image") return [];
  const inside = isObject(file) ? file : {};
  const address = text(url);
  const ref = address.startsWith("data:")
    ? address
    : text(id) || text(inside.id) || (uuid.exec(address)?.[0] ?? address.replace(/^.*\//, ""));
  const named = fileNamed(text(name) || text(inside.filename), ref);
  return [type === "image" ? { ...named, kind: "image" } : named];
}

function pictureOf({ type, image_url }: Json): ImportedFile[] {
  const url = isObject(image_url) ? text(image_url.url) : text(image_url);
  return type === "image_url" ? [{ kind: "image", name: "", ref: url }] : [];
}
