/** A conversation of another program's, its messages so that each comes after the one that it answers. */
export type ImportedChat = { key: string; title: string; at: number; leaf: string; messages: ImportedMessage[] };
export type ImportedMessage = {
  key: string;
  parent: string | null;
  role: "user" | "assistant";
  content: string;
  at: number;
};

/** A message before what can't be shown has been left out. */
type Node = { key: string; parent: string | null; role: string; content: string; at: number };
type Json = Record<string, unknown>;

/** The conversations in a file of Tertulia's, ChatGPT's or LibreChat's export; undefined: it is none of them. */
export function readExport(file: unknown): ImportedChat[] | undefined {
  const list = (Array.isArray(file) ? file : [file]).filter(isObject);
  const read = list.flatMap((item) => {
    if (isObject(item.mapping)) return [fromChatGpt(item)];
    if (Array.isArray(item.messages) && (item.conversationId || item.messages.some((m) => isObject(m) && m.messageId)))
      return [fromLibreChat(item)];
    if (Array.isArray(item.messages) && typeof item.title === "string") return [fromTertulia(item)];
    return [];
  });
  return read.length > 0 ? read.filter(({ messages }) => messages.length > 0) : undefined;
}

function fromTertulia(chat: Json): ImportedChat {
  const nodes = objects(chat.messages).map((message) => ({
    key: text(message.id),
    parent: text(message.parentId) || null,
    role: text(message.role),
    content: text(message.content),
    at: time(message.createdAt),
  }));
  return chatOf(text(chat.id), chat.title, time(chat.createdAt), nodes, nodes.at(-1)?.key);
}

function fromChatGpt(chat: Json): ImportedChat {
  const nodes = objects(Object.values(chat.mapping as Json)).map((node) => {
    const message = isObject(node.message) ? node.message : {};
    const author = isObject(message.author) ? message.author : {};
    const content = isObject(message.content) ? message.content : {};
    // Thoughts, searches and code that was run are no part of what was said.
    const said = content.content_type === "text" || content.content_type === "multimodal_text";
    const parts = said && Array.isArray(content.parts) ? content.parts : [];
    return {
      key: text(node.id),
      parent: text(node.parent) || null,
      role: text(author.role),
      content: parts.filter((part) => typeof part === "string").join("\n\n"),
      at: time(message.create_time),
    };
  });
  const key = text(chat.conversation_id) || text(chat.id);
  return chatOf(key, chat.title, time(chat.create_time), nodes, text(chat.current_node));
}

function fromLibreChat(chat: Json): ImportedChat {
  const flat: Json[] = [];
  const flatten = (messages: unknown) => {
    for (const message of objects(messages)) {
      flat.push(message);
      flatten(message.children);
    }
  };
  flatten(chat.messages);
  const nodes = flat.map((message) => ({
    key: text(message.messageId),
    // A first message answers one of zeros.
    parent: /^[0-]*$/.test(text(message.parentMessageId)) ? null : text(message.parentMessageId),
    role: message.isCreatedByUser ? "user" : "assistant",
    content: text(message.text) || partsOf(message.content),
    at: time(message.createdAt),
  }));
  return chatOf(text(chat.conversationId), chat.title, time(chat.createdAt), nodes, nodes.at(-1)?.key);
}

const partsOf = (content: unknown) =>
  objects(content)
    .filter(({ type }) => type === "text")
    .map((part) => (isObject(part.text) ? text(part.text.value) : text(part.text)))
    .join("\n\n");

/** Leaves out what is empty or of no person or model, and hangs what follows it on what came before it. */
function chatOf(key: string, title: unknown, at: number, nodes: Node[], last: string | undefined): ImportedChat {
  const children = Map.groupBy(nodes, ({ parent }) => parent);
  const known = new Set(nodes.map((node) => node.key));
  const messages: ImportedMessage[] = [];
  const kept = new Map<string, string | null>();
  // Whatever answers something that is not there begins the conversation; what goes in circles is never reached.
  const queue = nodes
    .filter(({ parent }) => parent === null || !known.has(parent))
    .map((node) => ({ node, above: null as string | null }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { node, above } = next;
    if (kept.has(node.key)) continue;
    const { role } = node;
    const said = (role === "user" || role === "assistant") && node.content.trim() !== "";
    if (said) messages.push({ ...node, role, parent: above, at: node.at || at });
    const here = said ? node.key : above;
    kept.set(node.key, here);
    for (const child of children.get(node.key) ?? []) queue.push({ node: child, above: here });
  }
  const leaf = (last && kept.get(last)) || messages.at(-1)?.key || "";
  return { key, title: text(title).trim() || messages[0]?.content.slice(0, 60) || "Sin título", at, leaf, messages };
}

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);
const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown) => (typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : "");

/** Epoch ms of a date text or of seconds; 0: unknown. */
function time(value: unknown): number {
  const ms = typeof value === "number" ? value * 1000 : Date.parse(text(value));
  return Number.isFinite(ms) && ms > 0 && ms < 4e12 ? Math.round(ms) : 0;
}
