import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { FileRefused } from "../refused.server.ts";
import type { DecodeAnswer, DecodeJob } from "./decode.worker.ts";
import { isDecodedHere } from "./decode-picture.server.ts";

/**
 * The bytes of a picture as Sharp takes them: those of the file, or a PNG that a child process makes of it. Loaded with the server and not
 * when first used, since its program lies beside the server's. Throws FileRefused.
 */
export async function pictureBytes(path: string, mediaType: string): Promise<Uint8Array> {
  return isDecodedHere(mediaType) ? decodedApart({ path, mediaType }) : readFile(path);
}

async function decodedApart(job: DecodeJob): Promise<Uint8Array> {
  const program = new URL(`./decode.worker${extname(import.meta.filename)}`, import.meta.url);
  const answer = await runWorker<DecodeAnswer>(program, job).catch((cause) => {
    if (cause instanceof TooMuch)
      throw new FileRefused("tiene más píxeles de los que se admiten. Redúcela.", { cause });
    throw cause;
  });
  if ("refused" in answer) throw new FileRefused(answer.refused);
  return answer.png;
}
