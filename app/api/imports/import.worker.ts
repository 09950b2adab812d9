import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import { cutPassages, searchWords } from "../../db/search.server.ts";
import { answerJob } from "../../process/child-process-entry.ts";
import { limits } from "../../process/limits.ts";
import { type ImportedChat, readExport } from "./import-formats.ts";

export type FoundChat = Omit<ImportedChat, "messages"> & {
  messages: (ImportedChat["messages"][number] & { passages: { text: string; words: string }[] })[];
};
export type ImportAnswer = { chats: FoundChat[] } | { refused: string };

// ChatGPT's archive also contains images; each entry that is inflated has its own limit.
const inflatedAtMost = 200 * 1024 * 1024;

answerJob(({ path }: { path: string }) => answer(readFileSync(path)));

function answer(bytes: Buffer): ImportAnswer {
  const isZip = bytes.subarray(0, 4).toString("latin1") === "PK\x03\x04";
  const chats = isZip ? fromArchive(bytes) : fromJson(bytes);
  if (!chats)
    return {
      refused:
        "no es una exportación que se conozca: puedes importar la de Tertulia, ChatGPT, Claude, Open WebUI o LibreChat.",
    };
  if (chats.length === 0) return { refused: "no tiene conversaciones con mensajes." };
  return { chats: chats.map(indexed) };
}

function fromArchive(bytes: Buffer): ImportedChat[] | undefined {
  let room = inflatedAtMost;
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        // Files that the person uploaded are not conversations of this export.
        if (!name.endsWith(".json") || name.startsWith("archivos/") || originalSize > room) return false;
        room -= originalSize;
        return true;
      },
    });
  } catch {
    return undefined;
  }
  const read = Object.values(files).map((file) => fromJson(file));
  return read.some(Boolean) ? read.flatMap((chats) => chats ?? []) : undefined;
}

function fromJson(bytes: Uint8Array): ImportedChat[] | undefined {
  try {
    return readExport(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

/** Cut and stemmed in this child process, off the main thread. */
function indexed(chat: ImportedChat): FoundChat {
  return {
    ...chat,
    messages: chat.messages.map((message) => {
      const content = message.content.slice(0, limits.reply).toWellFormed();
      const passages = cutPassages(content).map((text) => ({ text, words: searchWords(text).join(" ") }));
      return { ...message, content, passages };
    }),
  };
}
