import { withoutMarks } from "./chatgpt-marks.server.ts";
import {
  chatOf,
  fileNamed,
  type ImportedChat,
  type ImportedFile,
  isObject,
  type Json,
  objects,
  partsOf,
  text,
  time,
} from "./imported-chat.server.ts";

// Thoughts as old releases kept them.
const thoughts = /^\s*:::thinking\n[\s\S]*?\n:::\s*/;

/**
 * A conversation of LibreChat, from the export of its pages or from its database. The messages are in `messages`, or in `messagesTree`
 * in older exports; both are a flat list or nest `children`.
 */
export function fromLibreChat(chat: Json): ImportedChat {
  const flat: { message: Json; above: string }[] = [];
  const listed = Array.isArray(chat.messagesTree) ? chat.messagesTree : chat.messages;
  const open = objects(listed)
    .map((message) => ({ message, above: "" }))
    .reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    flat.push(next);
    const above = text(next.message.messageId);
    open.push(
      ...objects(next.message.children)
        .map((message) => ({ message, above }))
        .reverse(),
    );
  }
  const nodes = flat.map(({ message, above }) => {
    const parent = text(message.parentMessageId);
    return {
      key: text(message.messageId),
      // A parent id of zeros marks the first message.
      parent: /^[0-]*$/.test(parent) ? above || null : parent,
      role: message.isCreatedByUser ? "user" : "assistant",
      content: withoutMarks((text(message.text) || partsOf(message.content)).replace(thoughts, "")),
      at: time(message.createdAt),
      files: [...objects(message.files).map(fileOf), ...objects(message.content).flatMap(pictureOf)],
    };
  });
  const about = {
    key: text(chat.conversationId),
    title: chat.title,
    at: time(chat.createdAt),
    archived: chat.isArchived === true,
    pinned: chat.pinned === true,
  };
  // LibreChat does not store which branch is shown: the branch that was written last is taken.
  const last = nodes.reduce<(typeof nodes)[number] | undefined>(
    (one, node) => (one && one.at > node.at ? one : node),
    undefined,
  );
  return chatOf(about, nodes, last?.key);
}

const fileOf = ({ filename, file_id }: Json): ImportedFile => fileNamed(text(filename), text(file_id));

function pictureOf({ type, image_file }: Json): ImportedFile[] {
  if (type !== "image_file" || !isObject(image_file)) return [];
  return [{ kind: "image", name: text(image_file.filename), ref: text(image_file.file_id) }];
}
