import {
  chatOf,
  fileNamed,
  type ImportedChat,
  isObject,
  type Json,
  objects,
  text,
  time,
} from "./imported-chat.server.ts";

/** A conversation of Open WebUI: its row, and the JSON in it. */
export function fromOpenWebUi(item: Json, chat: Json): ImportedChat {
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
