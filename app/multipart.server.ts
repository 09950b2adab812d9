import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AtOnce } from "./at-once.server.ts";
import { limits } from "./limits.ts";

/** A file as it came, on disk until `discard`. Its name is the sender's; a file that is too large ends where the limit was passed. */
export type ReceivedFile = { field: string; name: string; path: string; size: number };
export type Multipart = { fields: FormData; files: ReceivedFile[]; discard(): Promise<void> };

/** A body that can't be read, and why: the sentence is its caller's. */
export class MultipartError extends Error {
  override name = "MultipartError";
  readonly reason: "large" | "broken" | "many";
  constructor(reason: MultipartError["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

const prefix = "tertulia-recibido-";
// More than a message takes, so that one too many is a sentence and not a broken request.
const filesAtMost = 40;

type Rules = { maxFields: number; maxFile: number; by: string };
// A person's tabs and telephones; each may leave as much on disk as a body holds.
const reading = new AtOnce(10);

export const isMultipart = (request: Request) =>
  /^multipart\/form-data\b/i.test(request.headers.get("Content-Type") ?? "");

/**
 * Reads multipart/form-data (RFC 7578): fields into memory, files to disk, however many requests do so at once.
 * `maxFields` bounds the fields, `maxFile` (bytes) what is kept of each file, `by` (whoever sends it) how many there are at once.
 * Throws MultipartError.
 */
export async function readMultipart(request: Request, rules: Rules): Promise<Multipart> {
  if (!reading.enter(rules.by)) throw new MultipartError("many");
  try {
    return await readBody(request, rules);
  } finally {
    reading.leave(rules.by);
  }
}

async function readBody(request: Request, { maxFields, maxFile }: Rules): Promise<Multipart> {
  if (Number(request.headers.get("Content-Length") ?? 0) > limits.uploadBody) throw new MultipartError("large");
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
      const kept = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          // What passes the limit shows the rule that it was passed, and is not kept.
          if (maxFile > 0 && file.size <= maxFile) yield chunk;
          file.size += chunk.length;
        }
      };
      const written = pipeline(stream, kept, createWriteStream(file.path), { signal: broken.signal });
      written.catch((error) => busboy.destroy(error));
      writing.push(written);
    });
    await pipeline(Readable.from(bounded(request)), busboy);
    await Promise.all(writing);
    if (!whole) throw new MultipartError("broken");
  } catch (error) {
    // A parser that is destroyed does not end the streams of its files.
    broken.abort();
    await Promise.allSettled(writing);
    await discard();
    throw isParseError(error) ? new MultipartError("broken") : error;
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
    if (size > limits.uploadBody) throw new MultipartError("large");
    yield chunk;
  }
}

/** What busboy finds wrong with a body has no code; a full disk or a cut connection has. */
const isParseError = (error: unknown) =>
  error instanceof Error && !(error instanceof MultipartError) && (error as NodeJS.ErrnoException).code === undefined;
