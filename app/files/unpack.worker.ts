import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerJob } from "../process/child-process-entry.ts";
import { limits } from "../process/limits.ts";
import { Unreadable, withPassword } from "./formats/unreadable.server.ts";
import { contentOf, zipEntries } from "./formats/zip-directory.server.ts";
import type { UnpackAnswer, Unpacked, UnpackJob } from "./unpack.server.ts";

// Files that macOS and Windows leave in folders, and hidden ones.
const passedOver = /(^|\/)(__MACOSX\/|\.|Thumbs\.db$|desktop\.ini$)|\/$/i;
const refusals = {
  encrypted: "tiene contraseña dentro del ZIP. Quítasela y vuelve a subirlo.",
  unknown: "está comprimido de una forma que no se abre aquí. Comprímelo otra vez como ZIP, o súbelo suelto.",
  damaged: "está dañado o incompleto dentro del ZIP.",
};

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
  // Some programs write paths that begin with «./».
  const named = all.map((entry) => ({ ...entry, name: entry.name.replace(/^(?:\.\/)+/, "") }));
  const entries = named.filter(({ name }) => !passedOver.test(name));
  if (entries.length === 0) throw new Unreadable("es un ZIP sin archivos dentro.");
  if (entries.length > filesAtMost) {
    throw new Unreadable(`lleva dentro más de ${filesAtMost} archivos. Pártelo en varios.`);
  }
  if (entries.every(({ isEncrypted }) => isEncrypted)) throw withPassword();
  let room: number = limits.uploadBody;
  return entries.map((entry, index) => {
    const file = { path: join(folder, String(index)), name: entry.name };
    const content = contentOf(entry, room);
    if (content === "large") {
      throw new Unreadable("se hincha al abrirlo hasta un tamaño que no se admite. Pártelo en varios.");
    }
    if (typeof content === "string") return { ...file, size: 0, refused: refusals[content] };
    room -= content.length;
    writeFileSync(file.path, content);
    return { ...file, size: content.length };
  });
}
