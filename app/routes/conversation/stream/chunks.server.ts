import type { Chunk } from "../../../replies/chunk.ts";
import { chunksHandedOver } from "../../../web/api-client.server.ts";
import { accepted } from "../../../web/api-result.server.ts";

/** The `start` object of a stream; the rest is not read, as the reply does not depend on its readers. */
export async function firstChunk(answer: Promise<unknown>): Promise<Extract<Chunk, { type: "start" }>> {
  const response = await accepted(answer as Promise<Response>);
  for await (const chunks of chunksOf(response)) {
    for (const chunk of chunks) if (chunk.type === "start") return chunk;
  }
  throw new Error("the stream ended before it started");
}

/** The chunks of a reply: as objects from an API in this process, read from the body of any other. */
export function chunksOf(response: Response): AsyncGenerator<Chunk[]> {
  const chunks = chunksHandedOver(response);
  if (chunks) return chunks;
  if (!response.body) throw new Error("No response body reader available");
  return readChunks(response.body);
}

/** Reads the stream of a reply: JSON objects separated by blank lines, all of a read at once; what does not parse is skipped. */
export async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Chunk[]> {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const bytes of body) {
    buffer += decoder.decode(bytes, { stream: true });
    const parts = buffer.split("\n\n");
    buffer = parts.pop() ?? "";
    const chunks = parts.flatMap((part) => parseChunk(part) ?? []);
    if (chunks.length > 0) yield chunks;
  }
}

function parseChunk(text: string): Chunk | undefined {
  try {
    return JSON.parse(text) as Chunk;
  } catch {
    return;
  }
}
