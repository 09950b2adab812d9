import type { SearchModelRow } from "../db/tables.ts";
import { faultOf } from "../process/fault.ts";
import { ReplyError, replyError } from "../replies/errors.server.ts";
import { fetchModel } from "../replies/providers/model-fetch.server.ts";

/** A search model's row with its API key decrypted. */
export type SearchModelAccess = Pick<SearchModelRow, "externalId" | "baseUrl" | "apiKey">;

// A vector of fewer numbers says nothing; no model gives more.
const shortest = 8;
const longest = 8_192;

/**
 * Vectors of texts by a model behind OpenAI's `/embeddings`, all of the same length. Throws ReplyError with a
 * Spanish sentence if the server refuses, is silent or answers something else. `dimensions`: how many numbers are wanted; undefined: as
 * many as the model has.
 */
export async function embed(
  { externalId, baseUrl, apiKey }: SearchModelAccess,
  texts: string[],
  signal: AbortSignal,
  dimensions?: number,
): Promise<number[][]> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const provider = createOpenAICompatible({
    name: "search",
    baseURL: baseUrl.replace(/\/+$/, ""),
    apiKey: apiKey ?? undefined,
    fetch: fetchModel,
  });
  const asking = {
    values: texts,
    abortSignal: signal,
    ...(dimensions !== undefined && { providerOptions: { openaiCompatible: { dimensions } } }),
  };
  const asked = Promise.resolve(provider.embeddingModel(externalId).doEmbed(asking));
  const { embeddings } = await asked.catch((error: unknown) => {
    if (signal.aborted && faultOf(signal.reason).name === "TimeoutError") throw tooSlow(error);
    const told = replyError(error);
    throw told instanceof ReplyError && told.kind === "too-long" ? tooLong(error) : told;
  });
  const length = embeddings[0]?.length ?? 0;
  const fits = embeddings.length === texts.length && embeddings.every((one) => one.length === length);
  if (!fits || length < shortest || length > longest || !embeddings.flat().every(Number.isFinite)) {
    throw new ReplyError("El modelo de búsqueda ha contestado algo que no son los números de cada texto.");
  }
  if (dimensions !== undefined && length !== dimensions) throw ReplyError.notTaken("dimensions");
  return embeddings;
}

const tooLong = (cause: unknown) =>
  new ReplyError("Este texto es demasiado largo para el modelo de búsqueda.", { status: 413, cause });
const tooSlow = (cause: unknown) => new ReplyError("El modelo de búsqueda no ha contestado a tiempo.", { cause });
