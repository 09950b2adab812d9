import { chatOf, fileNamed, type ImportedChat, type Json, objects, text, time } from "./imported-chat.server.ts";
import { replyOf } from "./tertulia-reply.server.ts";

/** A conversation of a Tertulia. */
export function fromTertulia(chat: Json): ImportedChat {
  const nodes = objects(chat.messages).map((message) => ({
    ...(message.role === "assistant" && { reply: replyOf(message, time(message.createdAt)) }),
    key: text(message.id),
    parent: text(message.parentId) || null,
    role: text(message.role),
    content: text(message.content),
    at: time(message.createdAt),
    files: objects(message.attachments).map(({ name, path }) => fileNamed(text(name), text(path))),
  }));
  const about = {
    key: text(chat.id),
    title: chat.title,
    at: time(chat.createdAt),
    archived: chat.archived === true,
    pinned: chat.pinned === true,
    project: text(chat.projectId) || null,
    assistant: text(chat.assistantId) || null,
  };
  return chatOf(about, nodes, text(chat.leafId) || nodes.at(-1)?.key);
}
