import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Unzip, UnzipInflate } from "fflate";
import { answerJob } from "../process/child-process-entry.ts";
import { limits } from "../process/limits.ts";
import { Unreadable, withPassword } from "./formats/unreadable.server.ts";
import type { UnpackAnswer, Unpacked, UnpackJob } from "./unpack.server.ts";

const step = 64 * 1024;
// Files that macOS and Windows leave in folders, and hidden ones.
const passedOver = /(^|\/)(__MACOSX\/|\.|Thumbs\.db$|desktop\.ini$)|\/$/i;

answerJob((job: UnpackJob): UnpackAnswer => {
  try {
    return { files: unpack(job) };
  } catch (error) {
    if (error instanceof Unreadable) return { refused: error.message };
    throw error;
  }
});

function unpack({ path, folder, filesAtMost }: UnpackJob): Unpacked[] {
  const bytes = readFileSync(path);
  // The first bit of the flags of the first entry (APPNOTE 4.4.4).
  if ((bytes[6] ?? 0) & 1) throw withPassword();
  const files: Unpacked[] = [];
  let inflated = 0;
  let isDamaged = false;
  const unzip = new Unzip((entry) => {
    if (passedOver.test(entry.name)) return;
    if (files.length >= filesAtMost) {
      throw new Unreadable(`lleva dentro más de ${filesAtMost} archivos. Pártelo en varios.`);
    }
    const file = { path: join(folder, String(files.length)), name: entry.name, size: 0 };
    files.push(file);
    const handle = openSync(file.path, "w");
    entry.ondata = (error, chunk, isLast) => {
      if (error) isDamaged = true;
      inflated += chunk?.length ?? 0;
      if (inflated > limits.uploadBody) {
        throw new Unreadable("se hincha al abrirlo hasta un tamaño que no se admite. Pártelo en varios.");
      }
      if (chunk) file.size += writeSync(handle, chunk);
      if (isLast || error) closeSync(handle);
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  try {
    for (let at = 0; at < bytes.length && !isDamaged; at += step) {
      unzip.push(bytes.subarray(at, at + step), at + step >= bytes.length);
    }
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    isDamaged = true;
  }
  if (isDamaged) throw new Unreadable("es un ZIP dañado o incompleto: no se puede abrir.");
  if (files.length === 0) throw new Unreadable("es un ZIP sin archivos dentro.");
  return files;
}
