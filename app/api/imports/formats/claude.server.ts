import {
  chatOf,
  fileNamed,
  type ImportedChat,
  isObject,
  type Json,
  objects,
  partsOf,
  text,
  time,
} from "./imported-chat.server.ts";

/** The text of a message with the documents that Claude has written beside it, in order. */
function withArtifacts(content: unknown): string {
  return objects(content)
    .map((part) => (part.type === "tool_use" ? artifactIn(part) : partsOf([part])))
    .filter(Boolean)
    .join("\n\n");
}

/** A document that a call has written whole; empty for other calls. Later edits are patches, not texts. */
function artifactIn({ name, input }: Json): string {
  if (!isObject(input)) return "";
  const written = name === "artifacts" ? text(input.content) : name === "create_file" ? text(input.file_text) : "";
  const title = text(input.title) || text(input.path).replace(/^.*\//, "");
  const language = text(input.language) || /^application\/vnd\.ant\.code/.test(text(input.type));
  const shown = language && written ? `\`\`\`${text(input.language)}\n${written}\n\`\`\`` : written;
  return shown && title ? `**${title}**\n\n${shown}` : shown;
}

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
      withArtifacts(message.content) || text(message.text),
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
  return chatOf(about, nodes, text(chat.current_leaf_message_uuid) || nodes.at(-1)?.key);
}
