import { setImmediate } from "node:timers/promises";
import type { Db } from "../../db/engine.server.ts";
import type { ChatRow, MessageRow } from "../../db/tables.ts";
import { digitalSource } from "../../process/text/digital-source.ts";
import { storedJson } from "../../process/text/json.ts";
import type { Source } from "../../replies/chunk.ts";
import { partsOf, storedPartsOf } from "../../replies/parts.server.ts";
import { iso, isoOrNull } from "../http/schemas.server.ts";
import { showParts } from "./message-fields.server.ts";
import { pathInArchive } from "./path-in-archive.server.ts";

/** Data for an export: names of models by their ids, and the line that says that an AI answers. */
export type ExportAbout = { models: Map<string, string>; aiNotice: string };
/** Some messages of a chat, in all versions, with their attachments, parts and names of images. */
type Stretch = Awaited<ReturnType<typeof withTheirs>>;

// A chat may have ten thousand messages: what is read and written at once takes some ms.
const atOnce = 100;

/** A chat as JSON, piece by piece. */
export async function* chatAsJson(db: Db, chat: ChatRow, about: ExportAbout): AsyncGenerator<string> {
  const head = {
    id: chat.id,
    title: chat.title,
    createdAt: iso(chat.createdAt),
    lastMessageAt: iso(chat.lastMessageAt),
    pinned: chat.pinned === 1,
    archived: chat.archived === 1,
    projectId: chat.projectId,
    assistantId: chat.assistantId,
    leafId: chat.leafId,
    aiNotice: about.aiNotice,
  };
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "messages": [`;
  let between = "\n";
  for await (const stretch of stretches(db, chat.id)) {
    const messages = stretch.messages.map((message) => JSON.stringify(messageAsJson(stretch, message, about), null, 2));
    yield between + messages.join(",\n").replaceAll(/^/gm, "    ");
    between = ",\n";
  }
  yield `${between === "\n" ? "" : "\n  "}]\n}`;
}

const messageAsJson = (stretch: Stretch, message: MessageRow, { models }: ExportAbout) => ({
  id: message.id,
  parentId: message.parentId,
  role: message.role,
  ...(message.role === "assistant" && { digitalSourceType: digitalSource.generated }),
  createdAt: iso(message.createdAt),
  finishedAt: isoOrNull(message.finishedAt),
  status: message.status,
  error: message.error,
  model: message.modelId && (models.get(message.modelId) ?? null),
  content: message.content,
  parts: partsIn(stretch, message).map((part) => {
    const name = part.kind === "image" && stretch.images.get(part.fileId);
    return name ? { ...part, name, path: pathInArchive(part.fileId, name) } : part;
  }),
  ...(message.sources && {
    sources: textsOfSources(message.sources),
  }),
  attachments: attachedTo(stretch, message).map(({ fileId, name }) => ({
    name,
    // Path in the archive of everything; null: the file was deleted.
    path: fileId && pathInArchive(fileId, name),
  })),
});

/** Sources with their words and the passage of a file, without the place in other chats. */
const textsOfSources = (stored: string) =>
  storedJson<Source[]>(stored).map(({ chatId: _, messageId: __, isListed: ___, ...said }) => said);

/** A chat as Markdown with front matter in YAML, piece by piece. Headings mark other versions of a message; thoughts are folded. Times in UTC. */
export async function* chatAsMarkdown(
  db: Db,
  chat: ChatRow,
  { models, aiNotice }: ExportAbout,
): AsyncGenerator<string> {
  const moment = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  const answered = new Set<string | null>();
  // A JSON string is also a valid YAML string.
  yield `---\ntitle: ${JSON.stringify(chat.title)}\ndigitalSourceType: ${digitalSource.partlyGenerated}\n---\n\n`;
  yield `# ${chat.title}\n\n*${aiNotice}*\n`;
  for await (const stretch of stretches(db, chat.id)) {
    const turns = stretch.messages.map((message) => {
      const who = message.role === "user" ? "Tú" : ((message.modelId && models.get(message.modelId)) ?? "Asistente");
      const again = answered.has(message.parentId) ? ", otra versión" : "";
      answered.add(message.parentId);
      const files = attachedTo(stretch, message).map(({ name }) => `- Adjunto: ${name}\n`);
      const list = files.length > 0 ? `${files.join("")}\n` : "";
      const said =
        message.role === "user" ? message.content : partsIn(stretch, message).map(partAsMarkdown).join("\n\n");
      return `\n## ${who} (${moment.format(message.createdAt)} UTC${again})\n\n${list}${said}\n`;
    });
    yield turns.join("");
  }
}

/** All messages of a chat in their order, some at a time, so that other requests run in between. */
async function* stretches(db: Db, chatId: string): AsyncGenerator<Stretch> {
  for (let after = ""; ; ) {
    const messages = await db
      .selectFrom("messages")
      .where("chatId", "=", chatId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(atOnce)
      .selectAll()
      .execute();
    const last = messages.at(-1);
    if (!last) return;
    yield await withTheirs(db, messages);
    after = last.id;
    await setImmediate();
  }
}

async function withTheirs(db: Db, messages: MessageRow[]) {
  const ids = messages.map(({ id }) => id);
  const [attachments, parts] = await Promise.all([attachmentsOf(db, ids), storedPartsOf(db, ids)]);
  const made = messages.flatMap(({ id, content }) =>
    partsOf(content, parts.get(id) ?? []).flatMap((part) => (part.kind === "image" ? part.image.fileId : [])),
  );
  return { messages, attachments, parts, images: await namesOf(db, made) };
}

async function namesOf(db: Db, fileIds: string[]): Promise<Map<string, string>> {
  if (fileIds.length === 0) return new Map();
  const files = await db.selectFrom("files").where("id", "in", fileIds).select(["id", "name"]).execute();
  return new Map(files.map(({ id, name }) => [id, name]));
}

/** The parts in full, because only the author or an administrator exports a chat. */
const partsIn = ({ parts }: Stretch, message: MessageRow) => showParts(message, parts.get(message.id) ?? []);

/** A part as Markdown: thoughts and calls are folded. Blank lines inside a fold have its content read as Markdown. */
function partAsMarkdown(part: ReturnType<typeof partsIn>[number]): string {
  if (part.kind === "text") return part.text;
  if (part.kind === "reasoning") return fold("Razonamiento", part.text);
  if (part.kind === "image") return `*(Imagen: ${part.alt})*`;
  const { label, server, input, output } = part;
  const code = (text: string) => `\`\`\`\`\n${text.replaceAll("````", "``` `")}\n\`\`\`\``;
  const whose = server ? `${label} (${server})` : label;
  return fold(`Herramienta: ${whose}`, [code(input), output && code(output)].filter(Boolean).join("\n\n"));
}

const fold = (title: string, text: string) =>
  `<details>\n<summary>${title.replace(/[<>&]/g, "")}</summary>\n\n${text}\n\n</details>`;

const attachedTo = ({ attachments }: Stretch, { id }: MessageRow) => attachments.get(id) ?? [];

/** Files that were sent with these messages, by message. */
async function attachmentsOf(db: Db, messageIds: string[]) {
  const rows = await db
    .selectFrom("attachments")
    .where("messageId", "in", messageIds)
    .orderBy("position")
    .select(["messageId", "fileId", "name"])
    .execute();
  return Map.groupBy(rows, ({ messageId }) => messageId);
}

const percent = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;

/** Content-Disposition of a download (RFC 6266): an ASCII name for old clients, then the name in UTF-8. */
export function attachmentName(name: string): string {
  const plain = name.normalize("NFD").replace(/[^\w .-]+/g, "") || "archivo";
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percent)}`;
}
