import { cutText } from "../../../process/text/cut-text.ts";
import type { Source } from "../../../replies/chunk.ts";
import type { ImagePart, MadeImage, ReplyPart } from "../../../replies/parts.server.ts";

/** An imported conversation; each message comes after its parent. */
export type ImportedChat = {
  key: string;
  title: string;
  at: number;
  archived: boolean;
  pinned: boolean;
  /** Ids in the export. */
  project: string | null;
  assistant: string | null;
  leaf: string;
  messages: ImportedMessage[];
  /** Files of messages that are left out, such as images that a tool has made. */
  lost: ImportedFile[];
};
/** `name` is empty if the export gives none; `ref`: the export's reference to the file, empty if there is none. */
export type ImportedFile = { kind: "image" | "file"; name: string; ref: string };
export type ImportedMessage = {
  key: string;
  parent: string | null;
  role: "user" | "assistant";
  content: string;
  at: number;
  files: ImportedFile[];
  reply?: ImportedReply;
};
/** How a reply was made, where the export says it. `model`: its name. */
export type ImportedReply = {
  model: string | null;
  status: "complete" | "stopped" | "failed" | "interrupted";
  error: string | null;
  finishedAt: number | null;
  parts: ImportedPart<ImportedFile>[];
  sources: Source[];
};
/** A part of a reply, in order; an image is a file of the export. */
export type ImportedPart<File> =
  | Exclude<ReplyPart, ImagePart>
  | (Omit<ImagePart, "image"> & { image: Omit<MadeImage, "fileId"> & { file: File } });

/** A message before filtering. */
export type Node = {
  key: string;
  parent: string | null;
  role: string;
  content: string;
  at: number;
  files?: ImportedFile[];
  reply?: ImportedReply | undefined;
};
export type Json = Record<string, unknown>;

/** A file by its name; `ref`: how the export refers to it. */
export const fileNamed = (name: string, ref = ""): ImportedFile => ({
  kind: /\.(?:png|jpe?g|gif|webp|avif|heic)$/i.test(name) ? "image" : "file",
  name,
  ref,
});

/** The text of a list of parts, as several programs and APIs have it. */
export const partsOf = (content: unknown) =>
  objects(content)
    .filter(({ type }) => type === "text" || type === "input_text" || type === "output_text" || type === "steer")
    .map((part) => (isObject(part.text) ? text(part.text.value) : text(part.text)))
    .filter(Boolean)
    .join("\n\n");

/**
 * The messages with a key each. In an export of a plain list they have none, or no parents: each then follows the one before it.
 */
function keyed(given: Node[]): Node[] {
  const nodes = given.map((node, index) => ({ ...node, key: node.key || `mensaje-${index + 1}` }));
  if (nodes.some(({ parent }) => parent !== null)) return nodes;
  return nodes.map((node, index) => ({ ...node, parent: nodes[index - 1]?.key ?? null }));
}

/** Drops messages of other roles and messages without text and files; attaches the children of a dropped message to its parent. */
export function chatOf(
  about: Pick<ImportedChat, "key" | "at" | "archived"> & { title: unknown } & Partial<
      Pick<ImportedChat, "pinned" | "project" | "assistant">
    >,
  given: Node[],
  last: string | undefined,
): ImportedChat {
  const nodes = keyed(given);
  const { key, title, archived, pinned = false, project = null, assistant = null } = about;
  const at =
    about.at || nodes.reduce((first, node) => (node.at > 0 && (first === 0 || node.at < first) ? node.at : first), 0);
  const children = Map.groupBy(nodes, ({ parent }) => parent);
  const known = new Set(nodes.map((node) => node.key));
  const messages: ImportedMessage[] = [];
  const lost: ImportedFile[] = [];
  const kept = new Map<string, string | null>();
  // Messages with an unknown parent become first messages; cycles are never reached.
  const queue: { node: (typeof nodes)[number]; above: string | null }[] = nodes
    .filter(({ parent }) => parent === null || !known.has(parent))
    .map((node) => ({ node, above: null }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { node, above } = next;
    if (kept.has(node.key)) continue;
    const { role, content } = node;
    const reply = node.reply ?? (role === "assistant" ? replyWithImages(node) : undefined);
    // Images of a reply are its parts.
    const files = (node.files ?? []).filter(({ kind }) => node.reply || !reply || kind !== "image");
    const said =
      (role === "user" || role === "assistant") &&
      (content.trim() !== "" || (role === "user" && files.length > 0) || (reply?.parts.length ?? 0) > 0);
    if (said) {
      messages.push({ key: node.key, content, role, parent: above, at: node.at || at, files, ...(reply && { reply }) });
    } else lost.push(...files);
    const here = said ? node.key : above;
    kept.set(node.key, here);
    for (const child of children.get(node.key) ?? []) queue.push({ node: child, above: here });
  }
  const leaf = (last && kept.get(last)) || messages.at(-1)?.key || "";
  const shown = text(title).trim() || cutText(messages[0]?.content ?? "", 60) || "Sin título";
  return { key, title: shown, at, archived, pinned, project, assistant, leaf, messages, lost };
}

/** A reply with the images that it has made, after its text; undefined if it has none. */
function replyWithImages({ content, at, files = [] }: Node): ImportedReply | undefined {
  const images = files.filter(({ kind }) => kind === "image");
  if (images.length === 0) return undefined;
  const times = { at: content.length, text: "", startedAt: at, finishedAt: at };
  const shown = images.map((file) => ({
    ...{ kind: "image" as const, ...times },
    image: { file, width: null, height: null },
  }));
  const parts = [...(content ? [{ kind: "text" as const, at: 0 }] : []), ...shown];
  return { model: null, status: "complete", error: null, finishedAt: at || null, parts, sources: [] };
}

/** Whether a value of an export is an object. */
export const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === "object" && !Array.isArray(value);
export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
/** The objects of a table by their ids, each with its id. */
export const withIds = (table: unknown): Json[] =>
  Object.entries(isObject(table) ? table : {}).flatMap(([id, item]) =>
    isObject(item) ? [{ ...item, id: text(item.id) || id }] : [],
  );
/** Parents by their children, for messages that do not name their parent. `field`: the list of a message's children. */
export const parentsIn = (messages: Json[], field: string): Map<string, string> =>
  new Map(
    messages.flatMap((message) => {
      const children = message[field];
      return Array.isArray(children) ? children.map((child): [string, string] => [text(child), text(message.id)]) : [];
    }),
  );
/** The value of a JSON text; undefined if `json` is not a text, or not valid JSON. */
export function parsed(json: unknown): unknown {
  if (typeof json !== "string") return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** A text of an export; empty for anything else. */
export const text = (value: unknown) => (typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : "");

// Some programs mix units: a number from `from` on is in milliseconds, microseconds or nanoseconds, a smaller one in seconds.
const units: [from: number, perSecond: number][] = [
  [1e17, 1e9],
  [1e14, 1e6],
  [1e11, 1e3],
  [0, 1],
];

/** Epoch ms of a date, or of a number (or its text) in seconds or smaller units; 0: unknown. */
export function time(value: unknown): number {
  const number = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
  const [, perSecond = 1] = units.find(([from]) => typeof number === "number" && number >= from) ?? [];
  const ms =
    typeof number === "number"
      ? (number / perSecond) * 1000
      : value instanceof Date
        ? value.getTime()
        : Date.parse(text(value));
  return Number.isFinite(ms) && ms > 0 && ms < 4e12 ? Math.round(ms) : 0;
}
