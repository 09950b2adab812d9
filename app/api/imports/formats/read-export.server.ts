import { fromChatGpt } from "./chatgpt.server.ts";
import { fromClaude } from "./claude.server.ts";
import { type ImportedChat, isObject } from "./imported-chat.server.ts";
import { fromLibreChat } from "./librechat.server.ts";
import { fromOpenWebUi } from "./open-webui.server.ts";
import { fromTertulia } from "./tertulia.server.ts";

/**
 * The conversations in a file of Tertulia's, ChatGPT's, Claude's, Open WebUI's or LibreChat's export; undefined: it is none
 * of them.
 */
export function readExport(file: unknown): ImportedChat[] | undefined {
  const list = (Array.isArray(file) ? file : [file]).filter(isObject);
  const read = list.flatMap((item) => {
    if (isObject(item.mapping)) return [fromChatGpt(item)];
    if (Array.isArray(item.chat_messages)) return [fromClaude(item)];
    if (isObject(item.chat) && (isObject(item.chat.history) || Array.isArray(item.chat.messages))) {
      return [fromOpenWebUi(item, item.chat)];
    }
    if (Array.isArray(item.messagesTree)) return [fromLibreChat(item)];
    if (Array.isArray(item.messages) && (item.conversationId || item.messages.some((m) => isObject(m) && m.messageId)))
      return [fromLibreChat(item)];
    if (Array.isArray(item.messages) && typeof item.title === "string") return [fromTertulia(item)];
    return [];
  });
  return read.length > 0 ? read.filter(({ messages }) => messages.length > 0) : undefined;
}
