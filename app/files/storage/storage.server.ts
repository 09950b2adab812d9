/** The variants of a stored file: the original, an image for models, a smaller image for pages. */
export const variants = ["original", "image", "preview"] as const;
export type Variant = (typeof variants)[number];

/** One stored variant. `at`: when it was stored, in ms since 1970; `size` in bytes. */
export type StoredFile = { id: string; variant: Variant; size: number; at: number };

/** Bytes from `start` to `end`, both included, counted from 0. */
export type Part = { start: number; end: number };
/** `size` in bytes. `read` streams all bytes or a part. A stream opens them at its first read, so an unread stream leaves nothing open. */
export type Content = { size: number; read(part?: Part): ReadableStream<Uint8Array> };

/** The bytes of files. A stored variant is complete or absent, even if the process is killed while it stores it. */
export interface Storage {
  /** Stores bytes, a copy of the file at a path, or a stream of bytes; if the stream fails, nothing of it is left. */
  put(id: string, variant: Variant, source: Uint8Array | string | AsyncIterable<Uint8Array>): Promise<void>;
  /** The bytes; undefined if they are not there. */
  read(id: string, variant: Variant): Promise<Buffer | undefined>;
  /** The bytes, to be streamed. */
  stream(id: string, variant: Variant): Promise<Content | undefined>;
  /** Lets `use` have the bytes as a file on this machine's disk, which is not to be changed; undefined if they are not there. */
  lend<Result>(id: string, variant: Variant, use: (path: string) => Promise<Result>): Promise<Result | undefined>;
  /** Deletes all variants of files. A missing file counts as deleted. */
  delete(ids: string[]): Promise<void>;
  /** Deletes unfinished files that killed processes have left, if older than `before`, in ms since 1970. */
  deleteUnfinished(before: number): Promise<void>;
  /** Everything that is stored, in the order of `nameOf`. */
  list(): AsyncGenerator<StoredFile>;
  close(): void;
}

/** The store of files does not answer or refuses; `cause` is what it said. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/**
 * The name of a variant in its store, with `/`. The end of a UUIDv7 is random, so files spread evenly over 256 folders. It is the
 * same in a folder and in a bucket: programs that copy between them need no list.
 */
export const nameOf = (id: string, variant: Variant): string => `${id.slice(-2)}/${id}.${variant}`;

/** File and variant of a name in a store; undefined for names that are not ours, such as an unfinished `.part`. */
export function readName(name: string): Pick<StoredFile, "id" | "variant"> | undefined {
  const [, id, ending] = /^[^/]+\/([^/.]+)\.([a-z]+)$/.exec(name) ?? [];
  const variant = variants.find((one) => one === ending);
  return id && variant ? { id, variant } : undefined;
}
