import {
  chatOf,
  fileNamed,
  type ImportedChat,
  isObject,
  type Json,
  objects,
  text,
  time,
  withIds,
} from "./imported-chat.server.ts";

/** Whether a conversation with a `mapping`, as ChatGPT's also have it, is of DeepSeek. */
export const isOfDeepSeek = (chat: Json): boolean => "inserted_at" in chat;

/** A conversation of DeepSeek; thoughts and searches are left out. */
export function fromDeepSeek(chat: Json): ImportedChat {
  const nodes = withIds(chat.mapping).map((node) => {
    const message = isObject(node.message) ? node.message : {};
    const fragments = objects(message.fragments);
    const said = fragments.filter(({ type }) => type === "REQUEST" || type === "RESPONSE");
    return {
      key: text(node.id),
      parent: text(node.parent) || null,
      role: fragments.some(({ type }) => type === "REQUEST") ? "user" : "assistant",
      content: said.map(({ content }) => text(content)).join("\n\n"),
      at: time(message.inserted_at),
      files: objects(message.files).map((file) => fileNamed(text(file.file_name) || text(file.name))),
    };
  });
  const about = { key: text(chat.id), title: chat.title, at: time(chat.inserted_at), archived: false };
  return chatOf(about, nodes, undefined);
}
