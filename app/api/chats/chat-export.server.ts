import type { Db } from "../../db/connection.server.ts";
import type { ChatRow, MessageRow } from "../../db/tables.ts";
import { storedPartsOfChat } from "../../replies/parts.server.ts";
import { iso, isoOrNull } from "../http/schemas.server.ts";
import { showParts } from "./message-fields.server.ts";

/** Names of models by their ids. */
type Models = Map<string, string>;
/** A chat with all versions of its messages, and what belongs to them. */
type WholeChat = Awaited<ReturnType<typeof wholeChat>>;

/** Reads what an export of a chat consists of. */
export async function wholeChat(db: Db, chat: ChatRow) {
  const [messages, attachments, parts] = await Promise.all([
    db.selectFrom("messages").where("chatId", "=", chat.id).orderBy("id").selectAll().execute(),
    attachmentsOfChat(db, chat.id),
    storedPartsOfChat(db, chat.id),
  ]);
  return { chat, messages, attachments, parts };
}

/** A chat as JSON. */
export function chatAsJson(whole: WholeChat, models: Models) {
  const { chat, messages } = whole;
  return {
    id: chat.id,
    title: chat.title,
    createdAt: iso(chat.createdAt),
    lastMessageAt: iso(chat.lastMessageAt),
    pinned: chat.pinned === 1,
    archived: chat.archived === 1,
    messages: messages.map((message) => ({
      id: message.id,
      parentId: message.parentId,
      role: message.role,
      createdAt: iso(message.createdAt),
      finishedAt: isoOrNull(message.finishedAt),
      status: message.status,
      model: message.modelId && (models.get(message.modelId) ?? null),
      content: message.content,
      parts: partsIn(whole, message),
      attachments: namesOf(whole, message),
    })),
  };
}

/** A chat as Markdown. Headings mark other versions of a message; thoughts are folded. Times in UTC. */
export function chatAsMarkdown(whole: WholeChat, models: Models): string {
  const moment = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  const answered = new Set<string | null>();
  const turns = whole.messages.map((message) => {
    const who = message.role === "user" ? "Tú" : ((message.modelId && models.get(message.modelId)) ?? "Asistente");
    const again = answered.has(message.parentId) ? ", otra versión" : "";
    answered.add(message.parentId);
    const files = namesOf(whole, message).map((name) => `- Adjunto: ${name}\n`);
    const list = files.length > 0 ? `${files.join("")}\n` : "";
    const said = message.role === "user" ? message.content : partsIn(whole, message).map(partAsMarkdown).join("\n\n");
    return `## ${who} (${moment.format(message.createdAt)}${again})\n\n${list}${said}\n`;
  });
  return `# ${whole.chat.title}\n\n${turns.join("\n")}`;
}

const partsIn = ({ parts }: WholeChat, message: MessageRow) => showParts(message, parts.get(message.id) ?? []);

// Blank lines within, so that the fold's content is read as Markdown.
const partAsMarkdown = ({ kind, text }: ReturnType<typeof partsIn>[number]) =>
  kind === "text" ? text : `<details>\n<summary>Razonamiento</summary>\n\n${text}\n\n</details>`;

const namesOf = ({ attachments }: WholeChat, { id }: MessageRow) =>
  attachments.filter(({ messageId }) => messageId === id).map(({ name }) => name);

/** What was sent along with the messages of a chat. */
const attachmentsOfChat = (db: Db, chatId: string) =>
  db
    .selectFrom("attachments")
    .innerJoin("messages", "messages.id", "attachments.messageId")
    .where("messages.chatId", "=", chatId)
    .orderBy("attachments.position")
    .select(["attachments.messageId", "attachments.name"])
    .execute();

const percent = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;

/** Content-Disposition of a download (RFC 6266): an ASCII name for old clients, then the name in UTF-8. */
export function attachmentName(name: string): string {
  const plain = name.normalize("NFD").replace(/[^\w .-]+/g, "") || "archivo";
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percent)}`;
}

// Characters that some file system does not allow in names.
const notInNames = /[/\\:*?"<>|\p{Cc}\p{Cf}]+/gu;

/** A title as a file name without extension. */
export function fileName(title: string): string {
  const name = [...title.replace(notInNames, " ").replace(/\s+/g, " ").trim()].slice(0, 60).join("").toWellFormed();
  return name || "conversacion";
}
