import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { unzipSync } from "fflate";
import { answerJob } from "../../process/child-process-entry.ts";
import { limits } from "../../process/limits.ts";
import { pathInArchive } from "../chats/path-in-archive.server.ts";
import { fileNamed, type ImportedChat, type ImportedFile } from "./formats/imported-chat.server.ts";
import { readExport } from "./formats/read-export.server.ts";
import { type ImportedAccount, readAccount } from "./formats/tertulia-account.server.ts";
import { type FoundAccount, type FoundChat, type FoundFile, findFiles } from "./found-chat.server.ts";

/** `folder`: where files of the export are put. */
export type ImportWork = { path: string; folder: string };
export type ImportAnswer = { chats: FoundChat[]; account: FoundAccount | undefined } | { refused: string };

// ChatGPT's archive also contains images; each entry that is inflated has its own limit.
const inflatedAtMost = 200 * 1024 * 1024;
const filesAtMost = 500 * 1024 * 1024;

answerJob(({ path, folder }: ImportWork) => answer(readFileSync(path), folder));

function answer(bytes: Buffer, folder: string): ImportAnswer {
  const isZip = bytes.subarray(0, 4).toString("latin1") === "PK\x03\x04";
  const { chats, account } = isZip ? fromArchive(bytes) : { chats: fromJson(bytes), account: undefined };
  if (!chats && !account)
    return {
      refused:
        "no es una exportación que se conozca: puedes importar la de Tertulia, ChatGPT, Claude, Open WebUI o LibreChat.",
    };
  if (chats?.length === 0 && !account) return { refused: "no tiene conversaciones con mensajes." };
  const files = new ExportedFiles(isZip ? bytes : undefined, folder);
  return {
    chats: (chats ?? []).map((chat) => findFiles(chat, (file) => files.take(file))),
    account: account && {
      ...account,
      files: account.files.flatMap(({ id, name, projectId }) => {
        const found = files.take(fileNamed(name, pathInArchive(id, name)));
        return found ? [{ ...found, id, projectId }] : [];
      }),
    },
  };
}

type Contents = { chats: ImportedChat[] | undefined; account: ImportedAccount | undefined };

function fromArchive(bytes: Buffer): Contents {
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
    return { chats: undefined, account: undefined };
  }
  const read = Object.values(files).map((file) => fromJson(file));
  const data = files["datos.json"];
  return {
    chats: read.some(Boolean) ? read.flatMap((chats) => chats ?? []) : undefined,
    account: data && readAccount(parsed(data)),
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function fromJson(bytes: Uint8Array): ImportedChat[] | undefined {
  try {
    return readExport(parsed(bytes));
  } catch {
    return undefined;
  }
}

const dataUrl = /^data:image\/(\w+);base64,/;

/** The files that lie in the archive of an export, or in its text; each is put in a folder when it is asked for. */
class ExportedFiles {
  readonly #bytes: Buffer | undefined;
  readonly #folder: string;
  readonly #names: string[] = [];
  #count = 0;
  #room = filesAtMost;

  constructor(archive: Buffer | undefined, folder: string) {
    this.#bytes = archive;
    this.#folder = folder;
    if (!archive) return;
    const keepName = ({ name }: { name: string }) => {
      this.#names.push(name);
      return false;
    };
    unzipSync(archive, { filter: keepName });
  }

  /** Undefined if the export does not have it, or what was taken before fills the room there is. */
  take({ kind, name, ref }: ImportedFile): FoundFile | undefined {
    const inText = dataUrl.exec(ref);
    if (inText) {
      const bytes = Buffer.from(ref.slice(inText[0].length), "base64");
      return this.#put({ kind, name: name || `imagen.${inText[1]}` }, bytes);
    }
    const entry = ref ? this.#names.find((one) => isOf(one, ref)) : undefined;
    if (!entry || !this.#bytes) return;
    const bytes = this.#inflate(entry);
    return bytes && this.#put({ kind, name: name || basename(entry) }, bytes);
  }

  #inflate(entry: string): Uint8Array | undefined {
    const wanted = ({ name, originalSize }: { name: string; originalSize: number }) =>
      name === entry && originalSize <= limits.document;
    try {
      return unzipSync(this.#bytes ?? new Uint8Array(), { filter: wanted })[entry];
    } catch {
      // Damaged, or compressed in a way that is not known: it is among what is left.
      return;
    }
  }

  #put(file: Pick<FoundFile, "kind" | "name">, bytes: Uint8Array): FoundFile | undefined {
    this.#room -= bytes.length;
    if (this.#room < 0) return;
    const path = join(this.#folder, String(this.#count++));
    writeFileSync(path, bytes);
    return { ...file, path, size: bytes.length };
  }
}

/** Whether an entry is the one that is meant: Tertulia says its path, ChatGPT the beginning of its name. */
function isOf(entry: string, ref: string): boolean {
  if (entry === ref) return true;
  const name = basename(entry);
  return name.startsWith(ref) && /^(?:$|[-.])/.test(name.slice(ref.length));
}
