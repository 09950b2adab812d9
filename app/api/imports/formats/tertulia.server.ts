import { chatOf, fileNamed, type ImportedChat, type Json, objects, text, time } from "./imported-chat.server.ts";

/** A conversation of a Tertulia. */
export function fromTertulia(chat: Json): ImportedChat {
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
