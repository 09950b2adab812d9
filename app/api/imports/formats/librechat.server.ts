import {
  chatOf,
  fileNamed,
  type ImportedChat,
  type Json,
  objects,
  partsOf,
  text,
  time,
} from "./imported-chat.server.ts";

/** A conversation of LibreChat. */
export function fromLibreChat(chat: Json): ImportedChat {
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
