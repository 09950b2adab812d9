import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { contentOf, type ZipEntry, zipEntries } from "../../files/formats/zip-directory.server.ts";
import { answerJob } from "../../process/child-process-entry.ts";
import { limits } from "../../process/limits.ts";
import { pathInArchive } from "../chats/path-in-archive.server.ts";
import { fileNamed, type ImportedFile } from "./formats/imported-chat.server.ts";
import { readExport } from "./formats/read-export.server.ts";
import { type ImportedAccount, readAccount } from "./formats/tertulia-account.server.ts";
import { type FoundAccount, type FoundChat, type FoundFile, findFiles } from "./found-chat.server.ts";

/** `folder`: where files of the export are put. */
export type ImportWork = { path: string; folder: string };
/** `left`: files with conversations that can't be read; `unread`: number of unreadable conversations in other files. */
export type ImportAnswer =
  | { chats: FoundChat[]; account: FoundAccount | undefined; left: FoundChat["left"]; unread: number }
  | { refused: string };

// In bytes: most that all JSON entries of an archive inflate to, and most that all its files take. ChatGPT's archive contains images, too.
const inflatedAtMost = 200 * 1024 * 1024;
const filesAtMost = 500 * 1024 * 1024;

answerJob(({ path, folder }: ImportWork) => answer(readFileSync(path), folder));

function answer(bytes: Buffer, folder: string): ImportAnswer {
  const isZip = bytes.subarray(0, 4).toString("latin1") === "PK\x03\x04";
  const entries = isZip ? (zipEntries(bytes) ?? []) : [];
  const { read, account, left } = isZip ? inArchive(entries) : inFile(bytes);
  const known = read.filter((one) => one !== undefined);
  if (known.length === 0 && !account) {
    if (!isZip && parsed(bytes) === undefined) return { refused: notJson };
    return { refused: left.length > 0 ? `${unreadable} ${left[0]?.name}.` : unknown };
  }
  const chats = known.flatMap((one) => one.chats);
  const unread = known.reduce((sum, one) => sum + one.unread, 0);
  if (chats.length === 0 && unread === 0 && !account) return { refused: "no tiene conversaciones con mensajes." };
  const files = new ExportedFiles(entries, folder);
  return {
    left,
    unread,
    chats: chats.map((chat) => findFiles(chat, (file) => files.take(file))),
    account: account && {
      ...account,
      files: account.files.flatMap(({ id, name, projectId }) => {
        const found = files.take(fileNamed(name, pathInArchive(id, name)));
        return found ? [{ ...found, id, projectId }] : [];
      }),
    },
  };
}

const unknown =
  "no es una exportación que se conozca: puedes importar la de Tertulia, ChatGPT, Claude, DeepSeek, Open WebUI o LibreChat.";
const notJson = "no es un JSON válido: puede que la descarga se cortara. Tampoco es un ZIP.";
const unreadable = "no se puede leer: dentro está dañado, o es demasiado grande,";

/** `read`: the conversations of each JSON file; undefined for a JSON file of another kind. */
type Contents = {
  read: ReturnType<typeof readExport>[];
  account: ImportedAccount | undefined;
  left: FoundChat["left"];
};

function inFile(bytes: Uint8Array): Contents {
  return { read: [readExport(parsed(bytes))], account: undefined, left: [] };
}

function inArchive(entries: ZipEntry[]): Contents {
  const contents: Contents = { read: [], account: undefined, left: [] };
  let room = inflatedAtMost;
  for (const entry of entries) {
    // Files that the person uploaded are not conversations of this export, nor are those that macOS adds.
    if (!entry.name.endsWith(".json") || /^(?:archivos|__MACOSX)\//.test(entry.name)) continue;
    const content = contentOf(entry, room);
    const json = typeof content === "string" ? undefined : parsed(content);
    if (typeof content !== "string") room -= content.length;
    if (json === undefined) contents.left.push({ kind: "file", name: entry.name });
    else if (entry.name === "datos.json") contents.account = readAccount(json);
    else contents.read.push(readExport(json));
  }
  return contents;
}

/** Undefined for a text that is no JSON. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

const dataUrl = /^data:image\/(\w+);base64,/;

/** The files that lie in the archive of an export, or in its text; each is put in a folder when it is asked for. */
class ExportedFiles {
  readonly #entries: ZipEntry[];
  readonly #byName: Map<string, ZipEntry>;
  readonly #folder: string;
  #count = 0;
  #room = filesAtMost;

  constructor(entries: ZipEntry[], folder: string) {
    this.#entries = entries;
    this.#byName = new Map(entries.map((entry) => [entry.name, entry]));
    this.#folder = folder;
  }

  /** Undefined if the export does not have the file, or if the files taken before leave no room for it. */
  take({ kind, name, ref }: ImportedFile): FoundFile | undefined {
    const inText = dataUrl.exec(ref);
    if (inText) {
      const bytes = Buffer.from(ref.slice(inText[0].length), "base64");
      return this.#put({ kind, name: name || `imagen.${inText[1]}` }, bytes);
    }
    const entry = ref ? (this.#byName.get(ref) ?? this.#entries.find(({ name }) => isOf(name, ref))) : undefined;
    const content = entry && contentOf(entry, limits.document);
    // A file that is damaged, too large or compressed in an unknown way is reported as left out.
    if (!content || typeof content === "string") return undefined;
    return this.#put({ kind, name: name || basename(entry.name) }, content);
  }

  #put(file: Pick<FoundFile, "kind" | "name">, bytes: Uint8Array): FoundFile | undefined {
    this.#room -= bytes.length;
    if (this.#room < 0) return;
    const path = join(this.#folder, String(this.#count++));
    writeFileSync(path, bytes);
    return { ...file, path, size: bytes.length };
  }
}

/** Whether `ref` refers to this entry: ChatGPT gives only the beginning of the entry's name. */
function isOf(entry: string, ref: string): boolean {
  const name = basename(entry);
  return name.startsWith(ref) && /^(?:$|[-.])/.test(name.slice(ref.length));
}
