import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { limits } from "./limits.ts";

/** A file as it came, on disk until `discard`. Its name is the sender's; a file that is too large ends where the limit was passed. */
export type ReceivedFile = { field: string; name: string; path: string; size: number };
export type Multipart = { fields: FormData; files: ReceivedFile[]; discard(): Promise<void> };

/** A body that can't be read: `tooLarge` tells which of the two sentences fits. */
export class MultipartError extends Error {
  override name = "MultipartError";
  readonly tooLarge: boolean;
  constructor(tooLarge: boolean) {
    super(tooLarge ? "the body is too large" : "the body is no whole multipart");
    this.tooLarge = tooLarge;
  }
}

const prefix = "tertulia-recibido-";
// More than a message takes, so that one too many is a sentence and not a broken request.
const filesAtMost = 40;

export const isMultipart = (request: Request) =>
  /^multipart\/form-data\b/i.test(request.headers.get("Content-Type") ?? "");

/**
 * Reads multipart/form-data (RFC 7578): fields into memory, files to disk, however many requests do so at once.
 * `maxFields` bounds the fields. Throws MultipartError.
 */
export async function readMultipart(request: Request, maxFields: number): Promise<Multipart> {
  if (Number(request.headers.get("Content-Length") ?? 0) > limits.uploadBody) throw new MultipartError(true);
  const { Busboy } = await import("@fastify/busboy");
  const dir = await mkdtemp(join(tmpdir(), prefix));
  const discard = () => rm(dir, { recursive: true, force: true });
  const fields = new FormData();
  const files: ReceivedFile[] = [];
  const writing: Promise<void>[] = [];
  const broken = new AbortController();
  let whole = true;
  let typed = 0;
  try {
    const busboy = Busboy({
      headers: { "content-type": request.headers.get("Content-Type") ?? "" },
      preservePath: true,
      limits: {
        // One byte more than any rule allows shows the rule that it was passed.
        fileSize: limits.importFile + 1,
        files: filesAtMost,
        fields: maxFields,
        fieldSize: limits.formBody,
        headerPairs: 20,
      },
    });
    busboy.on("field", (name, value, nameCut, valueCut) => {
      typed += value.length;
      if (nameCut || valueCut || typed > limits.formBody) whole = false;
      else fields.append(name, value);
    });
    for (const limit of ["fieldsLimit", "filesLimit", "partsLimit"] as const) {
      busboy.on(limit, () => {
        whole = false;
      });
    }
    busboy.on("file", (field, stream, name) => {
      // A file field that was left empty.
      if (!name) return void stream.resume();
      const file = { field, name: unescaped(name), path: join(dir, String(files.length)), size: 0 };
      files.push(file);
      stream.on("data", (chunk: Buffer) => {
        file.size += chunk.length;
      });
      const written = pipeline(stream, createWriteStream(file.path), { signal: broken.signal });
      written.catch((error) => busboy.destroy(error));
      writing.push(written);
    });
    await pipeline(Readable.from(bounded(request)), busboy);
    await Promise.all(writing);
    if (!whole) throw new MultipartError(false);
  } catch (error) {
    // A parser that is destroyed does not end the streams of its files.
    broken.abort();
    await Promise.allSettled(writing);
    await discard();
    throw isParseError(error) ? new MultipartError(false) : error;
  }
  return { fields, files, discard };
}

// What browsers write for the three characters that a header can't have (HTML, multipart/form-data encoding).
const unescaped = (name: string) => name.replace(/%22/g, '"').replace(/%0D/g, "\r").replace(/%0A/g, "\n");

/** Removes what a killed process has left in the folder for temporary files. */
export async function sweepReceived(): Promise<void> {
  const dayAgo = Date.now() - 24 * 60 * 60_000;
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const path = join(tmpdir(), name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < dayAgo) await rm(path, { recursive: true, force: true });
  }
}

async function* bounded(request: Request): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limits.uploadBody) throw new MultipartError(true);
    yield chunk;
  }
}

/** What busboy finds wrong with a body has no code; a full disk or a cut connection has. */
const isParseError = (error: unknown) =>
  error instanceof Error && !(error instanceof MultipartError) && (error as NodeJS.ErrnoException).code === undefined;
