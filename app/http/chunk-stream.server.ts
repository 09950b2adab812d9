import type { Chunk } from "../replies/chunk.ts";

/** Reads the stream of a reply: JSON objects separated by blank lines. Yields all objects of a read together; skips invalid JSON. */
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
    return JSON.parse(text);
  } catch {
    return;
  }
}
