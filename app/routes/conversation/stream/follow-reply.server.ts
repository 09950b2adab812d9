import type { Chunk } from "../../../replies/chunk.ts";
import type { Client } from "../../../web/api-client.server.ts";
import { accepted } from "../../../web/api-result.server.ts";
import { chunksOf } from "./chunks.server.ts";

/** A reply's chunks from its beginning, each time all that are new. The request to the API is sent when the first chunk is read. */
export async function* followReply(api: Client, messageId: string, signal: AbortSignal): AsyncGenerator<Chunk[]> {
  yield* await openReply(api, messageId, signal);
}

/** Like `followReply`, but sends the request at once. Throws ApiProblem if the reply cannot be followed. */
export async function openReply(api: Client, messageId: string, signal: AbortSignal): Promise<AsyncGenerator<Chunk[]>> {
  const answer = api.api.intelligence.conversation.$post({ json: { messageId } }, { init: { signal } });
  const response = await accepted(answer);
  return chunksOf(response);
}
