import { fromChatGpt } from "./chatgpt.server.ts";
import { fromClaude } from "./claude.server.ts";
import { fromDeepSeek, isOfDeepSeek } from "./deepseek.server.ts";
import { type ImportedChat, isObject, type Json } from "./imported-chat.server.ts";
import { fromLibreChat } from "./librechat.server.ts";
import { fromOpenWebUi } from "./open-webui.server.ts";
import { fromTertulia } from "./tertulia.server.ts";

/** Conversations with messages, and how many could not be read. */
export type ReadExport = { chats: ImportedChat[]; unread: number };

/**
 * The conversations in a file of Tertulia's, ChatGPT's, Claude's, DeepSeek's, Open WebUI's or LibreChat's export; undefined for other
 * files. A conversation that makes its reader fail is left out and counted.
 */
export function readExport(file: unknown): ReadExport | undefined {
  const list = (Array.isArray(file) ? file : [file]).filter(isObject);
  const readers = list.flatMap((item) => readerOf(item) ?? []);
  if (readers.length === 0) return undefined;
  const read = readers.map(readOne);
  return {
    chats: read.filter((chat) => chat !== undefined).filter(({ messages }) => messages.length > 0),
    unread: read.filter((chat) => chat === undefined).length,
  };
}

/** A conversation; undefined if its reader fails. */
export function readOne(read: () => ImportedChat): ImportedChat | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function readerOf(item: Json): (() => ImportedChat) | undefined {
  const { chat } = item;
  if (isObject(item.mapping)) return () => (isOfDeepSeek(item) ? fromDeepSeek(item) : fromChatGpt(item));
  if (Array.isArray(item.chat_messages)) return () => fromClaude(item);
  if (isObject(chat) && (isObject(chat.history) || Array.isArray(chat.messages)))
    return () => fromOpenWebUi(item, chat);
  if (isObject(item.history) && isObject(item.history.messages)) return () => fromOpenWebUi(item, item);
  if (Array.isArray(item.messagesTree)) return () => fromLibreChat(item);
  if (!Array.isArray(item.messages)) return undefined;
  if (item.conversationId || item.messages.some((one) => isObject(one) && one.messageId))
    return () => fromLibreChat(item);
  return typeof item.title === "string" ? () => fromTertulia(item) : undefined;
}
