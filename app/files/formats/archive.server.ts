import { Unzip, UnzipInflate, unzipSync } from "fflate";
import { damaged, Unreadable } from "./unreadable.server.ts";

// A Word file of a thousand pages has some 20 MB of XML; a zip bomb has gigabytes.
const inflatedAtMost = 150 * 1024 * 1024;
const step = 16 * 1024;

/** An archive that has been found to be sound: what lies in it by its name. */
export type Archive = {
  names: string[];
  read(name: string): Uint8Array | undefined;
  text(name: string): string | undefined;
};

/** Opens a ZIP, or a document that is one. `what`: what it is called if it turns out to be damaged. Throws Unreadable. */
export function openArchive(bytes: Uint8Array, what: string): Archive {
  const names = namesIn(bytes, what);
  const read = (name: string) => {
    if (!names.includes(name)) return undefined;
    try {
      return unzipSync(bytes, { filter: (file) => file.name === name })[name];
    } catch {
      throw damaged(what);
    }
  };
  return {
    names,
    read,
    text(name) {
      const content = read(name);
      return content && new TextDecoder().decode(content);
    },
  };
}

/** Inflates the archive once without keeping it, because the sizes in its headers may be forged. */
function namesIn(bytes: Uint8Array, what: string): string[] {
  const names: string[] = [];
  let inflated = 0;
  let isDamaged = false;
  const unzip = new Unzip((file) => {
    names.push(file.name);
    file.ondata = (error, chunk) => {
      if (error) isDamaged = true;
      else inflated += chunk.length;
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  for (let at = 0; at < bytes.length && !isDamaged; at += step) {
    try {
      unzip.push(bytes.subarray(at, at + step), at + step >= bytes.length);
    } catch {
      isDamaged = true;
    }
    if (inflated > inflatedAtMost) throw new Unreadable("se hincha al abrirlo hasta un tamaño que no se admite.");
  }
  if (isDamaged || names.length === 0) throw damaged(what);
  return names;
}
