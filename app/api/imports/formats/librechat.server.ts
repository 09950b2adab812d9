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
 * A conversation of LibreChat: as its pages export it, with `messages` or, of older releases, `messagesTree`, both as a list or with
 * `children`; or as its database has it.
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
  // It does not keep which branch is shown: the one that was written last.
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
