import type { Db } from "../../db/connection.server.ts";
import type { AttachmentRow, ChatRow, MessageRow } from "../../db/tables.ts";
import { iso, isoOrNull } from "../http/schemas.server.ts";

type Models = Map<string, string>;
type Attachments = Pick<AttachmentRow, "messageId" | "name">[];

/** A chat as JSON, with all versions of its messages. */
export function chatAsJson(chat: ChatRow, messages: MessageRow[], models: Models, attachments: Attachments) {
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
      attachments: namesOf(message, attachments),
    })),
  };
}

/** A chat as Markdown. Headings mark other versions of a message. Times in UTC. */
export function chatAsMarkdown(
  chat: ChatRow,
  messages: MessageRow[],
  models: Models,
  attachments: Attachments,
): string {
  const moment = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  const answered = new Set<string | null>();
  const turns = messages.map((message) => {
    const who = message.role === "user" ? "Tú" : ((message.modelId && models.get(message.modelId)) ?? "Asistente");
    const again = answered.has(message.parentId) ? ", otra versión" : "";
    answered.add(message.parentId);
    const files = namesOf(message, attachments).map((name) => `- Adjunto: ${name}\n`);
    const list = files.length > 0 ? `${files.join("")}\n` : "";
    return `## ${who} (${moment.format(message.createdAt)}${again})\n\n${list}${message.content}\n`;
  });
  return `# ${chat.title}\n\n${turns.join("\n")}`;
}

/** What was sent along with the messages of a chat. */
export const attachmentsOfChat = (db: Db, chatId: string) =>
  db
    .selectFrom("attachments")
    .innerJoin("messages", "messages.id", "attachments.messageId")
    .where("messages.chatId", "=", chatId)
    .orderBy("attachments.position")
    .select(["attachments.messageId", "attachments.name"])
    .execute();

const namesOf = ({ id }: MessageRow, attachments: Attachments) =>
  attachments.filter(({ messageId }) => messageId === id).map(({ name }) => name);

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
