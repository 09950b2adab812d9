import { withoutMarks } from "./chatgpt-marks.server.ts";
import {
  chatOf,
  fileNamed,
  type ImportedChat,
  type ImportedFile,
  isObject,
  type Json,
  objects,
  parentsIn,
  parsed,
  text,
  time,
  withIds,
} from "./imported-chat.server.ts";

/** A conversation of ChatGPT. */
export function fromChatGpt(chat: Json): ImportedChat {
  const listed = withIds(chat.mapping);
  const parents = parentsIn(listed, "children");
  const nodes = listed.map((node) => {
    const message = isObject(node.message) ? node.message : {};
    const author = isObject(message.author) ? message.author : {};
    const content = isObject(message.content) ? message.content : {};
    const metadata = isObject(message.metadata) ? message.metadata : {};
    const recipient = text(message.recipient) || "all";
    // Thoughts, searches, executed code and hidden instructions are left out.
    const said = content.content_type === "text" || content.content_type === "multimodal_text";
    const shown = said && recipient === "all" && metadata.is_visually_hidden_from_conversation !== true;
    const parts = shown && Array.isArray(content.parts) ? content.parts : [];
    const canvas = recipient.startsWith("canmore.") ? canvasIn(text(content.text)) : "";
    const files = chatGptFiles(objects(parts), objects(metadata.attachments));
    const report = reportIn(metadata);
    // Tools draw the pictures and write the reports of the assistant; their words are for the model.
    const isOfTool = author.role === "tool";
    const words = isOfTool ? report : canvas || withoutMarks(parts.map(partSaid).filter(Boolean).join("\n\n"));
    return {
      key: text(node.id),
      parent: text(node.parent === undefined ? parents.get(text(node.id)) : node.parent) || null,
      role: isOfTool && (report || files.length > 0) ? "assistant" : text(author.role),
      content: words,
      at: time(message.create_time),
      files,
    };
  });
  const key = text(chat.conversation_id) || text(chat.id);
  const archived = chat.is_archived === true;
  return chatOf({ key, title: chat.title, at: time(chat.create_time), archived }, nodes, text(chat.current_node));
}

/** The files of a message. Images are parts; most are also attachments, which have names. Both give the id of the archive's entry. */
function chatGptFiles(parts: Json[], attachments: Json[]): ImportedFile[] {
  const attached = attachments.map(({ name, id }) => fileNamed(text(name), text(id)));
  const pictures = parts
    .filter(({ content_type }) => content_type === "image_asset_pointer")
    .map(({ asset_pointer }) => ({
      kind: "image" as const,
      name: "",
      ref: text(asset_pointer).replace(/^.*\/\//, ""),
    }));
  return [...attached, ...pictures.filter(({ ref }) => !ref || !attached.some((one) => one.ref === ref))];
}

/** The report of a deep research, which its page keeps in its state. */
function reportIn({ chatgpt_sdk }: Json): string {
  const state = isObject(chatgpt_sdk) ? parsed(chatgpt_sdk.widget_state) : undefined;
  const message = isObject(state) && isObject(state.report_message) ? state.report_message : {};
  const content = isObject(message.content) ? message.content : {};
  const parts = Array.isArray(content.parts) ? content.parts : [];
  return withoutMarks(parts.map(partSaid).filter(Boolean).join("\n\n"));
}

/** One part of a message: its text or its transcript. */
function partSaid(part: unknown): string {
  if (typeof part === "string") return part;
  return isObject(part) && part.content_type === "audio_transcription" ? text(part.text) : "";
}

/** The text of a canvas that a model created or rewrote; later edits are patterns, not texts. */
function canvasIn(call: string): string {
  const given = parsed(call);
  if (!isObject(given)) return "";
  const [update] = objects(given.updates);
  const whole = text(given.content) || (update?.pattern === ".*" ? text(update.replacement) : "");
  const title = text(given.name);
  return whole && title ? `**${title}**\n\n${whole}` : whole;
}
