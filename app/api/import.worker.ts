import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import { cutPassages, searchWords } from "../db/search.server.ts";
import { limits } from "../limits.ts";
import { answerJob } from "../worker-job.ts";
import { type ImportedChat, readExport } from "./import-formats.ts";

export type FoundChat = Omit<ImportedChat, "messages"> & {
  messages: (ImportedChat["messages"][number] & { passages: { text: string; words: string }[] })[];
};
export type ImportAnswer = { chats: FoundChat[] } | { refused: string };

// ChatGPT's archive has pictures beside the conversations; what is inflated is bounded one by one.
const inflatedAtMost = 200 * 1024 * 1024;

answerJob(({ path }: { path: string }) => answer(readFileSync(path)));

function answer(bytes: Buffer): ImportAnswer {
  const isZip = bytes.subarray(0, 4).toString("latin1") === "PK\x03\x04";
  const chats = isZip ? fromArchive(bytes) : fromJson(bytes);
  if (!chats)
    return { refused: "no es una exportación que se conozca: vale la de Tertulia, la de ChatGPT y la de LibreChat." };
  if (chats.length === 0) return { refused: "no tiene conversaciones con mensajes." };
  return { chats: chats.map(indexed) };
}

function fromArchive(bytes: Buffer): ImportedChat[] | undefined {
  let room = inflatedAtMost;
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        // What the person once uploaded is no conversation of this export.
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

/** Cut and stemmed here, where nobody waits. */
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
