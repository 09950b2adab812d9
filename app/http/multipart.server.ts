import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { faultOf } from "../process/fault.ts";
import { limits } from "../process/limits.ts";
import { ConcurrencyLimit } from "../process/work/concurrency-limit.server.ts";
import { BodyRefused, boundedBody } from "./bounded-body.server.ts";
import { headerOf } from "./header.server.ts";

/** An uploaded file, on disk until `discard`. `name` is what the sender called it. A file over the limit is truncated there. */
export type ReceivedFile = { field: string; name: string; path: string; size: number };
export type Multipart = { fields: FormData; files: ReceivedFile[]; discard(): Promise<void> };

/** A body that can't be read, and why. The caller chooses the sentence. */
export class MultipartError extends Error {
  override name = "MultipartError";
  readonly reason: "large" | "broken" | "many";
  constructor(reason: MultipartError["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

const prefix = "tertulia-recibido-";
// Enough for a folder of papers. More than a message takes, so that one file too many gets a sentence instead of a broken request.
const filesAtMost = 200;

type Rules = { maxFields: number; maxFile: number; by: string };
// Concurrent uploads of one person (tabs, phones); each may use as much disk as one body.
const reading = new ConcurrencyLimit(10);

export const isMultipart = (request: Request) => /^multipart\/form-data\b/i.test(headerOf(request, "Content-Type"));

/**
 * Reads multipart/form-data (RFC 7578): fields into memory, files to disk. One sender has at most ten such bodies at once.
 * `maxFields`: most fields; `maxFile`: bytes kept of each file; `by`: who sends it, to limit concurrent uploads.
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
      headers: { "content-type": headerOf(request, "Content-Type") },
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
          // One byte over the limit is enough for the caller to see that it was exceeded; the rest is dropped.
          if (maxFile > 0 && file.size <= maxFile) yield chunk;
          file.size += chunk.length;
        }
      };
      const written = pipeline(stream, kept, createWriteStream(file.path), { signal: broken.signal });
      written.catch((error) => busboy.destroy(error));
      writing.push(written);
    });
    await pipeline(Readable.from(boundedBody(request, { maxSize: limits.uploadBody })), busboy);
    await Promise.all(writing);
    if (!whole) throw new MultipartError("broken");
  } catch (error) {
    // Destroying the parser does not end the streams of its files.
    broken.abort();
    await Promise.allSettled(writing);
    await discard();
    if (error instanceof BodyRefused) throw new MultipartError(error.reason === "large" ? "large" : "broken");
    throw isParseError(error) ? new MultipartError("broken") : error;
  }
  return { fields, files, discard };
}

// Escapes of browsers for the three characters that a header can't have (HTML, multipart/form-data encoding).
const unescaped = (name: string) => name.replace(/%22/g, '"').replace(/%0D/g, "\r").replace(/%0A/g, "\n");

/** Removes temporary files that a killed process left behind. */
export async function sweepReceived(): Promise<void> {
  const dayAgo = Date.now() - 24 * 60 * 60_000;
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const path = join(tmpdir(), name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < dayAgo) await rm(path, { recursive: true, force: true });
  }
}

/** Errors of busboy about the body have no `code`; those of a full disk or a cut connection do. */
const isParseError = (error: unknown) => error instanceof Error && faultOf(error).code === "";
