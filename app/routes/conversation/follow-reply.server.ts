import { accepted } from "../../answers.server.ts";
import type { Client } from "../../api/client.server.ts";
import type { Chunk } from "../../intelligence/chunk.ts";
import { readChunks } from "./chunks.server.ts";

/** A reply's chunks from its beginning, by the API; asked for when first read. */
export async function* followReply(api: Client, messageId: string, signal: AbortSignal): AsyncGenerator<Chunk> {
  yield* await openReply(api, messageId, signal);
}

/** The same, asked for at once. Throws ApiProblem when it can't be followed. */
export async function openReply(api: Client, messageId: string, signal: AbortSignal): Promise<AsyncGenerator<Chunk>> {
  const answer = api.api.intelligence.conversation.$post({ json: { messageId } }, { init: { signal } });
  const response = (await accepted(answer)) as unknown as Response;
  if (!response.body) throw new Error("No response body reader available");
  return readChunks(response.body);
}
