/** An imported conversation; each message comes after its parent. */
export type ImportedChat = {
  key: string;
  title: string;
  at: number;
  archived: boolean;
  leaf: string;
  messages: ImportedMessage[];
  /** Files of messages that are left out, such as images that a tool has made. */
  lost: ImportedFile[];
};
/** `name` is empty where the export says none; `ref`: how it is found in the export, if it may be there. */
export type ImportedFile = { kind: "image" | "file"; name: string; ref: string };
export type ImportedMessage = {
  key: string;
  parent: string | null;
  role: "user" | "assistant";
  content: string;
  at: number;
  files: ImportedFile[];
};

/** A message before filtering. */
type Node = {
  key: string;
  parent: string | null;
  role: string;
  content: string;
  at: number;
  files?: ImportedFile[];
};
type Json = Record<string, unknown>;

/**
 * The conversations in a file of Tertulia's, ChatGPT's, Claude's, Open WebUI's or LibreChat's export; undefined: it is none
 * of them.
 */
export function readExport(file: unknown): ImportedChat[] | undefined {
  const list = (Array.isArray(file) ? file : [file]).filter(isObject);
  const read = list.flatMap((item) => {
    if (isObject(item.mapping)) return [fromChatGpt(item)];
    if (Array.isArray(item.chat_messages)) return [fromClaude(item)];
    if (isObject(item.chat) && (isObject(item.chat.history) || Array.isArray(item.chat.messages))) {
      return [fromOpenWebUi(item, item.chat)];
    }
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
    files: objects(message.attachments).map(({ name, path }) => fileNamed(text(name), text(path))),
  }));
  const archived = chat.archived === true;
  return chatOf(
    { key: text(chat.id), title: chat.title, at: time(chat.createdAt), archived },
    nodes,
    nodes.at(-1)?.key,
  );
}

function fromChatGpt(chat: Json): ImportedChat {
  const nodes = objects(Object.values(chat.mapping as Json)).map((node) => {
    const message = isObject(node.message) ? node.message : {};
    const author = isObject(message.author) ? message.author : {};
    const content = isObject(message.content) ? message.content : {};
    const metadata = isObject(message.metadata) ? message.metadata : {};
    const recipient = text(message.recipient) || "all";
    // Thoughts, searches, executed code and hidden instructions are left out.
    const said = content.content_type === "text" || content.content_type === "multimodal_text";
    const shown = said && recipient === "all" && metadata.is_visually_hidden_from_conversation !== true;
    const parts = shown && Array.isArray(content.parts) ? content.parts : [];
    const canvas = recipient.startsWith("canmore.") ? canvasIn(text(content.text)) : "";
    return {
      key: text(node.id),
      parent: text(node.parent) || null,
      role: text(author.role),
      content: canvas || withoutMarks(parts.map(partSaid).filter(Boolean).join("\n\n")),
      at: time(message.create_time),
      files: chatGptFiles(objects(parts), objects(metadata.attachments)),
    };
  });
  const key = text(chat.conversation_id) || text(chat.id);
  const archived = chat.is_archived === true;
  return chatOf({ key, title: chat.title, at: time(chat.create_time), archived }, nodes, text(chat.current_node));
}

/** Its images are parts, and most of them are among the attachments, which have names; both say the id of the entry in the archive. */
function chatGptFiles(parts: Json[], attachments: Json[]): ImportedFile[] {
  const attached = attachments.map(({ name, id }) => fileNamed(text(name), text(id)));
  const pictures = parts
    .filter(({ content_type }) => content_type === "image_asset_pointer")
    .map(({ asset_pointer }) => ({
      kind: "image" as const,
      name: "",
      ref: text(asset_pointer).replace(/^.*\/\//, ""),
    }));
  return [...attached, ...pictures.filter(({ ref }) => !ref || !attached.some((one) => one.ref === ref))];
}

/** One part of a message: its text or its transcript. */
function partSaid(part: unknown): string {
  if (typeof part === "string") return part;
  return isObject(part) && part.content_type === "audio_transcription" ? text(part.text) : "";
}

/** The text of a canvas that a model created or rewrote; later edits are patterns, not texts. */
function canvasIn(call: string): string {
  try {
    const given: unknown = JSON.parse(call);
    if (!isObject(given)) return "";
    const [update] = objects(given.updates);
    const whole = text(given.content) || (update?.pattern === ".*" ? text(update.replacement) : "");
    const title = text(given.name);
    return whole && title ? `**${title}**\n\n${whole}` : whole;
  } catch {
    return "";
  }
}

/** Removes citation marks, which are enclosed in private-use characters. */
const withoutMarks = (said: string) =>
  said.replace(/\uE200[^\uE201]{0,2000}\uE201/g, "").replace(/[\uE000-\uF8FF]/g, "");

function fromClaude(chat: Json): ImportedChat {
  const messages = objects(chat.chat_messages);
  const nodes = messages.map((message, index) => ({
    key: text(message.uuid),
    // Older exports have no parents, only an order; a parent id of zeros marks the first message.
    parent:
      message.parent_message_uuid === undefined
        ? text(messages[index - 1]?.uuid) || null
        : text(message.parent_message_uuid) || null,
    role: message.sender === "human" ? "user" : "assistant",
    content: [
      partsOf(message.content) || text(message.text),
      // The text of an attachment comes along.
      ...objects(message.attachments).map(({ file_name, extracted_content }) =>
        text(extracted_content) ? `**${text(file_name)}**\n\n${text(extracted_content)}` : "",
      ),
    ]
      .filter(Boolean)
      .join("\n\n"),
    at: time(message.created_at),
    files: objects(message.files).map(({ file_name }) => fileNamed(text(file_name))),
  }));
  const about = { key: text(chat.uuid), title: chat.name, at: time(chat.created_at), archived: false };
  return chatOf(about, nodes, nodes.at(-1)?.key);
}

function fromOpenWebUi(item: Json, chat: Json): ImportedChat {
  const history = isObject(chat.history) ? chat.history : {};
  const listed = isObject(history.messages) ? Object.values(history.messages) : chat.messages;
  const nodes = objects(listed).map((message) => ({
    key: text(message.id),
    parent: text(message.parentId) || null,
    role: text(message.role),
    content: withoutDetails(text(message.content)),
    at: time(message.timestamp),
    files: objects(message.files).map(({ name, type, url }) => {
      const file = fileNamed(text(name), text(url));
      return type === "image" ? { ...file, kind: "image" as const } : file;
    }),
  }));
  const title = text(item.title) || chat.title;
  const about = { key: text(item.id), title, at: time(item.created_at), archived: item.archived === true };
  return chatOf(about, nodes, text(history.currentId) || nodes.at(-1)?.key);
}

/** Removes thoughts and tool calls, which are stored as <details> in the text. */
const withoutDetails = (content: string) =>
  content.replace(/<details type="(?:reasoning|tool_calls|code_interpreter)"[^>]*>[\s\S]*?<\/details>\s*/g, "");

const fileNamed = (name: string, ref = ""): ImportedFile => ({
  kind: /\.(?:png|jpe?g|gif|webp|avif|heic)$/i.test(name) ? "image" : "file",
  name,
  ref,
});

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
    // A parent id of zeros marks the first message.
    parent: /^[0-]*$/.test(text(message.parentMessageId)) ? null : text(message.parentMessageId),
    role: message.isCreatedByUser ? "user" : "assistant",
    content: text(message.text) || partsOf(message.content),
    at: time(message.createdAt),
    files: objects(message.files).map(({ filename }) => fileNamed(text(filename))),
  }));
  const about = { key: text(chat.conversationId), title: chat.title, at: time(chat.createdAt), archived: false };
  return chatOf(about, nodes, nodes.at(-1)?.key);
}

const partsOf = (content: unknown) =>
  objects(content)
    .filter(({ type }) => type === "text")
    .map((part) => (isObject(part.text) ? text(part.text.value) : text(part.text)))
    .join("\n\n");

/** Drops messages of other roles, and those without text and files; attaches their children to their parents. */
function chatOf(
  { key, title, at, archived }: { key: string; title: unknown; at: number; archived: boolean },
  nodes: Node[],
  last: string | undefined,
): ImportedChat {
  const children = Map.groupBy(nodes, ({ parent }) => parent);
  const known = new Set(nodes.map((node) => node.key));
  const messages: ImportedMessage[] = [];
  const lost: ImportedFile[] = [];
  const kept = new Map<string, string | null>();
  // Messages with an unknown parent become first messages; cycles are never reached.
  const queue = nodes
    .filter(({ parent }) => parent === null || !known.has(parent))
    .map((node) => ({ node, above: null as string | null }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { node, above } = next;
    if (kept.has(node.key)) continue;
    const { role } = node;
    const files = node.files ?? [];
    const said =
      (role === "user" || role === "assistant") &&
      (node.content.trim() !== "" || (role === "user" && files.length > 0));
    if (said) messages.push({ key: node.key, content: node.content, role, parent: above, at: node.at || at, files });
    else lost.push(...files);
    const here = said ? node.key : above;
    kept.set(node.key, here);
    for (const child of children.get(node.key) ?? []) queue.push({ node: child, above: here });
  }
  const leaf = (last && kept.get(last)) || messages.at(-1)?.key || "";
  const shown = text(title).trim() || messages[0]?.content.slice(0, 60) || "Sin título";
  return { key, title: shown, at, archived, leaf, messages, lost };
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
