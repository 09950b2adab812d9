import { readChunks } from "../../../http/chunk-stream.server.ts";
import type { Chunk } from "../../../replies/chunk.ts";
import { chunksHandedOver } from "../../../web/api-client.server.ts";
import { accepted } from "../../../web/api-result.server.ts";

/** The `start` object of a stream, or undefined where the message waits; the rest is not read: the reply does not depend on its readers. */
export async function firstChunk(answer: Promise<unknown>): Promise<Extract<Chunk, { type: "start" }> | undefined> {
  const response = await accepted(answer as Promise<Response>);
  for await (const chunks of chunksOf(response)) {
    for (const chunk of chunks) {
      if (chunk.type === "start") return chunk;
      if (chunk.type === "queued") return;
    }
  }
  throw new Error("the stream ended before it started");
}

/** The chunks of a reply: as objects from an API in this process; from any other API, they are read from the body. */
export function chunksOf(response: Response): AsyncGenerator<Chunk[]> {
  const chunks = chunksHandedOver(response);
  if (chunks) return chunks;
  if (!response.body) throw new Error("No response body reader available");
  return readChunks(response.body);
}
