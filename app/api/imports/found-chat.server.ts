import { cutPassages } from "../../db/search/passages.server.ts";
import { searchWords } from "../../db/search/words.server.ts";
import { limits } from "../../process/limits.ts";
import type { ImportedChat, ImportedFile, ImportedPart, ImportedReply } from "./formats/imported-chat.server.ts";
import type { ImportedAccount } from "./formats/tertulia-account.server.ts";

/** A file that the export has: `path` is where it was put. */
export type FoundFile = Pick<ImportedFile, "kind" | "name"> & { path: string; size: number };
/** `parts`: without images that the export does not have. */
export type FoundReply = Omit<ImportedReply, "parts"> & { parts: ImportedPart<FoundFile>[] };
type FoundMessage = Omit<ImportedChat["messages"][number], "files" | "reply"> & {
  passages: { text: string; words: string }[];
  files: FoundFile[];
  reply: FoundReply | undefined;
};
export type FoundChat = Omit<ImportedChat, "messages" | "lost"> & {
  messages: FoundMessage[];
  /** Images and files that the export does not contain. */
  left: Pick<ImportedFile, "kind" | "name">[];
};
/** Things of an account beside its chats, with its files. */
export type FoundAccount = Omit<ImportedAccount, "files"> & {
  files: (FoundFile & Pick<ImportedAccount["files"][number], "id" | "projectId">)[];
};

const pictureGone = "*(Una imagen que la exportación no trae.)*";

/** Adds to an imported chat its files, as `take` finds them, and its passages. Stemming blocks the thread for a while. */
export function findFiles(chat: ImportedChat, take: (file: ImportedFile) => FoundFile | undefined): FoundChat {
  const left: FoundChat["left"] = chat.lost.map(({ kind, name }) => ({ kind, name }));
  const takeOrLeave = (file: ImportedFile): FoundFile | undefined => {
    const found = take(file);
    if (!found) left.push({ kind: file.kind, name: file.name });
    return found;
  };
  const messages = chat.messages.map(({ reply: told, ...message }) => {
    const reply = told && foundReply(told, takeOrLeave);
    // A reply that was only a picture.
    const isGone = message.content === "" && told !== undefined && told.parts.length > 0 && reply?.parts.length === 0;
    const content = isGone ? pictureGone : message.content.slice(0, limits.reply).toWellFormed();
    const passages = cutPassages(content).map((text) => ({ text, words: searchWords(text).join(" ") }));
    const files = message.files.flatMap((file) => takeOrLeave(file) ?? []);
    return { ...message, content, passages, files, reply };
  });
  return { ...chat, messages, left };
}

function foundReply(reply: ImportedReply, take: (file: ImportedFile) => FoundFile | undefined): FoundReply {
  const parts = reply.parts.flatMap((part): ImportedPart<FoundFile>[] => {
    if (part.kind !== "image") return [part];
    const file = take(part.image.file);
    return file ? [{ ...part, image: { ...part.image, file } }] : [];
  });
  return { ...reply, parts };
}
