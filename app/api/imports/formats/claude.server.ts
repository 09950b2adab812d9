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

/** A conversation of Claude. */
export function fromClaude(chat: Json): ImportedChat {
  const messages = objects(chat.chat_messages);
  const nodes = messages.map((message, index) => ({
    key: text(message.uuid),
    // Older exports have no parents, only an order; a parent id of zeros marks the first message.
    parent:
      message.parent_message_uuid === undefined
        ? text(messages[index - 1]?.uuid) || null
        : text(message.parent_message_uuid) || null,
    role: message.sender === "human" ? "user" : "assistant",
    content: [
      partsOf(message.content) || text(message.text),
      // The text of an attachment comes along.
      ...objects(message.attachments).map(({ file_name, extracted_content }) =>
        text(extracted_content) ? `**${text(file_name)}**\n\n${text(extracted_content)}` : "",
      ),
    ]
      .filter(Boolean)
      .join("\n\n"),
    at: time(message.created_at),
    files: objects(message.files).map(({ file_name }) => fileNamed(text(file_name))),
  }));
  const about = { key: text(chat.uuid), title: chat.name, at: time(chat.created_at), archived: false };
  return chatOf(about, nodes, nodes.at(-1)?.key);
}
