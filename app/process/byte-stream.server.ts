import { ReadableStream as NodeStream } from "node:stream/web";

/** Chunks as a web stream, which reads none ahead of its reader. A cast, as the types of Node's streams and of `fetch` differ. */
export const byteStream = (chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> =>
  NodeStream.from(chunks) as unknown as ReadableStream<Uint8Array>;
