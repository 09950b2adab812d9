import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { answerJob } from "../process/child-process-entry.ts";
import { limits } from "../process/limits.ts";
import { Unreadable, withPassword } from "./formats/unreadable.server.ts";
import { type ZipEntry, zipEntries } from "./formats/zip-directory.server.ts";
import type { UnpackAnswer, Unpacked, UnpackJob } from "./unpack.server.ts";

// Files that macOS and Windows leave in folders, and hidden ones.
const passedOver = /(^|\/)(__MACOSX\/|\.|Thumbs\.db$|desktop\.ini$)|\/$/i;
// Ways in which an entry is stored (APPNOTE 4.4.5) that are read here. The others are a tenth of a percent of what people send.
const stored = 0;
const deflated = 8;

answerJob((job: UnpackJob): UnpackAnswer => {
  try {
    return { files: unpack(job) };
  } catch (error) {
    if (error instanceof Unreadable) return { refused: error.message };
    throw error;
  }
});

function unpack({ path, folder, filesAtMost }: UnpackJob): Unpacked[] {
  const all = zipEntries(readFileSync(path));
  if (!all) throw new Unreadable("es un ZIP dañado o incompleto: no se puede abrir.");
  const entries = all.filter(({ name }) => !passedOver.test(name));
  if (entries.length === 0) throw new Unreadable("es un ZIP sin archivos dentro.");
  if (entries.length > filesAtMost) {
    throw new Unreadable(`lleva dentro más de ${filesAtMost} archivos. Pártelo en varios.`);
  }
  if (entries.every(({ isEncrypted }) => isEncrypted)) throw withPassword();
  let room: number = limits.uploadBody;
  return entries.map((entry, index) => {
    const file = { path: join(folder, String(index)), name: entry.name };
    const content = contentOf(entry, room);
    if (typeof content === "string") return { ...file, size: 0, refused: content };
    room -= content.length;
    writeFileSync(file.path, content);
    return { ...file, size: content.length };
  });
}

/** Content of an entry, or why there is none. Throws Unreadable if it takes more than the room there is. */
function contentOf({ method, isEncrypted, data }: ZipEntry, room: number): Buffer | string {
  if (isEncrypted) return "tiene contraseña dentro del ZIP. Quítasela y vuelve a subirlo.";
  if (method !== stored && method !== deflated) {
    return "está comprimido de una forma que no se abre aquí. Comprímelo otra vez como ZIP, o súbelo suelto.";
  }
  if (!data) return "está dañado o incompleto dentro del ZIP.";
  try {
    const content = method === stored ? data : inflateRawSync(data, { maxOutputLength: Math.max(1, room) });
    if (content.length > room) throw new RangeError("No room");
    return content;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new Unreadable("se hincha al abrirlo hasta un tamaño que no se admite. Pártelo en varios.");
    }
    return "está dañado o incompleto dentro del ZIP.";
  }
}
