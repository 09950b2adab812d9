import { damaged, Unreadable } from "./unreadable.server.ts";
import { contentOf, zipEntries } from "./zip-directory.server.ts";

// A Word file of a thousand pages has some 20 MB of XML; a zip bomb has gigabytes.
const inflatedAtMost = 150 * 1024 * 1024;
// Parts up to this size are kept, because several drawings or sheets may refer to the same part.
const keptAtMost = 8 * 1024 * 1024;

/** An archive that has a directory: its entries by their names. */
export type Archive = {
  names: string[];
  read(name: string): Uint8Array | undefined;
  /** Empty where the archive has no such entry. */
  text(name: string): string;
};

/**
 * Opens a ZIP, or a document that is one. `what`: its name in the error if it is damaged. The size of all that is
 * inflated is limited, whatever its entries declare. Throws Unreadable, as do its functions.
 */
export function openArchive(bytes: Uint8Array, what: string): Archive {
  const found = zipEntries(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (!found || found.length === 0) throw damaged(what);
  const entries = new Map(found.map((entry) => [entry.name, entry]));
  const kept = new Map<string, string>();
  let room = inflatedAtMost;
  const read = (name: string) => {
    const entry = entries.get(name);
    if (!entry) return undefined;
    const content = contentOf(entry, room);
    if (content === "large") throw new Unreadable("se hincha al abrirlo hasta un tamaño que no se admite.");
    if (typeof content === "string") throw damaged(what);
    room -= content.length;
    return content;
  };
  return {
    names: [...entries.keys()],
    read,
    text(name) {
      const known = kept.get(name);
      if (known !== undefined) return known;
      const content = read(name);
      if (!content) return "";
      const text = textOf(content);
      if (text.length <= keptAtMost) kept.set(name, text);
      return text;
    },
  };
}

/** XML is in UTF-8, or in UTF-16 with a mark. */
function textOf(bytes: Uint8Array): string {
  const mark = `${bytes[0]} ${bytes[1]}`;
  const encoding = mark === "255 254" ? "utf-16le" : mark === "254 255" ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}
