import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mediaTypeOf } from "../../files/media-type.server.ts";
import { readDocument } from "../../files/read-document.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { invalid } from "../http/problem.server.ts";

/** A file as a program sends it: its name, and its bytes in Base64. */
export type SentFile = { name: string; data: string };

/** An image re-encoded: of limited size and without metadata. Throws 422 for the request's field `field`. */
export async function readImage(data: string, field: string): Promise<Uint8Array> {
  const { remakeImage } = await import("../../files/pictures/images.server.ts");
  const made = await remakeImage(Buffer.from(data, "base64")).catch((error) => {
    throw error instanceof FileRefused ? invalid(field, `Una imagen ${error.message}`) : error;
  });
  return made.image;
}

/** The text of a document, read in a process of its own. Throws 422 for the request's field `field`. */
export async function readFileText({ name, data }: SentFile, field: string): Promise<string> {
  const bytes = Buffer.from(data, "base64");
  const folder = await mkdtemp(join(tmpdir(), "tertulia-programa-"));
  try {
    const path = join(folder, "archivo");
    await writeFile(path, bytes);
    const mediaType = await mediaTypeOf(path, name, bytes.length);
    return (await readDocument({ path, mediaType })).text;
  } catch (error) {
    throw error instanceof FileRefused ? invalid(field, `«${name}» ${error.message}`) : error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
