import { readBytes } from "../../files/read-document.server.ts";
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
  try {
    return await readBytes(Buffer.from(data, "base64"), name);
  } catch (error) {
    throw error instanceof FileRefused ? invalid(field, `«${name}» ${error.message}`) : error;
  }
}
