import type { ChatRow, MessageRow } from "../db/tables.ts";
import { iso, isoOrNull } from "./schemas.server.ts";

type Models = Map<string, string>;

/** A chat with all its messages, versions included, as other programs read it. */
export function chatAsJson(chat: ChatRow, messages: MessageRow[], models: Models) {
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
    })),
  };
}

/** A chat as people read it; another version of a message says so in its heading. Times in UTC. */
export function chatAsMarkdown(chat: ChatRow, messages: MessageRow[], models: Models): string {
  const moment = new Intl.DateTimeFormat("es", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  const answered = new Set<string | null>();
  const turns = messages.map((message) => {
    const who = message.role === "user" ? "Tú" : ((message.modelId && models.get(message.modelId)) ?? "Asistente");
    const again = answered.has(message.parentId) ? ", otra versión" : "";
    answered.add(message.parentId);
    return `## ${who} (${moment.format(message.createdAt)}${again})\n\n${message.content}\n`;
  });
  return `# ${chat.title}\n\n${turns.join("\n")}`;
}

/** Content-Disposition of a download (RFC 6266): its name in UTF-8, after one that everyone understands. */
export function attachmentName(name: string): string {
  const plain = name.normalize("NFD").replace(/[^\w .-]+/g, "") || "archivo";
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()]/g, escape)}`;
}

// What some file system or other does not take in a name.
const notInNames = /[/\\:*?"<>|\p{Cc}\p{Cf}]+/gu;

/** A title as the name of a file, without its ending. */
export function fileName(title: string): string {
  const name = [...title.replace(notInNames, " ").replace(/\s+/g, " ").trim()].slice(0, 60).join("").toWellFormed();
  return name || "conversacion";
}
