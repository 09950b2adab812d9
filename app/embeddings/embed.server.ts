import type { SearchModelRow } from "../db/tables.ts";
import { faultOf } from "../process/fault.ts";
import { listOf, recordOf } from "../process/text/json.ts";
import { ReplyError, replyError, toldBy } from "../replies/errors.server.ts";
import { postToModel } from "../replies/providers/model-post.server.ts";

/** A search model's row with its API key decrypted. */
export type SearchModelAccess = Pick<SearchModelRow, "externalId" | "baseUrl" | "apiKey">;

// A vector of fewer numbers says nothing; no model gives more.
const shortest = 8;
const longest = 8_192;

// Models that have refused `encoding_format`, in this process.
const formatless = new Set<string>();
const serversAtMost = 100;

/** A text, or its tokens by the model's own tokenizer. */
export type Embedded = string | number[];

/**
 * Vectors of texts by a model behind OpenAI's `/embeddings`, all of the same length. Throws ReplyError with a
 * Spanish sentence if the server refuses, is silent or answers something else. `dimensions`: how many numbers are wanted; undefined: as
 * many as the model has.
 */
export async function embed(
  { externalId, baseUrl, apiKey }: SearchModelAccess,
  texts: Embedded[],
  signal: AbortSignal,
  dimensions?: number,
): Promise<number[][]> {
  const body = { model: externalId, input: texts, dimensions };
  const ask = async (format: object) =>
    (await postToModel({ baseUrl, path: "/embeddings", apiKey, body: { ...body, ...format }, signal })).text();
  const key = `${baseUrl} ${externalId}`;
  // Voyage refuses the name of the format that it answers in.
  const asked = formatless.has(key)
    ? ask({})
    : ask({ encoding_format: "float" }).catch((error: unknown) => {
        if (!/encoding_format/.test(toldBy(error)?.said ?? "")) throw error;
        if (formatless.size < serversAtMost) formatless.add(key);
        return ask({});
      });
  const answer = await asked.catch((error: unknown) => {
    if (signal.aborted && faultOf(signal.reason).name === "TimeoutError") throw tooSlow(error);
    const told = replyError(error);
    throw told instanceof ReplyError && told.kind === "too-long" ? tooLong(error) : told;
  });
  const embeddings = vectorsIn(answer);
  const length = embeddings[0]?.length ?? 0;
  const fits = embeddings.length === texts.length && embeddings.every((one) => one.length === length);
  if (!fits || length < shortest || length > longest || !embeddings.flat().every(Number.isFinite)) {
    throw new ReplyError("El modelo de búsqueda ha contestado algo que no son los números de cada texto.", {
      kind: "nonsense",
    });
  }
  if (dimensions !== undefined && length !== dimensions) throw ReplyError.notTaken("dimensions");
  return embeddings;
}

/**
 * The vectors of an answer in the order of the texts: `data` of OpenAI's, `embeddings` of Ollama's, or llama.cpp's list itself. Servers
 * answer in any order and say it in `index`; some give one vector in a list of its own, or in Base64.
 */
function vectorsIn(answer: string): number[][] {
  const said = jsonIn(answer);
  if (said === undefined) throw ReplyError.of("nonsense");
  const fields = recordOf(said);
  const entries = [fields?.data, fields?.embeddings, said].map(listOf).find(({ length }) => length > 0) ?? [];
  const places = entries.map((entry) => recordOf(entry)?.index);
  const isOrdered = new Set(places).size === entries.length && places.every(Number.isInteger);
  const ordered = isOrdered
    ? entries.toSorted((a, b) => Number(recordOf(a)?.index) - Number(recordOf(b)?.index))
    : entries;
  return ordered.map((entry) => vectorOf(recordOf(entry)?.embedding ?? entry));
}

/** The value of a JSON text; undefined for another text. Numbers are doubles here, of however many digits. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function vectorOf(given: unknown): number[] {
  if (typeof given === "string") {
    const bytes = Buffer.from(given, "base64");
    return Array.from({ length: bytes.length >> 2 }, (_, index) => bytes.readFloatLE(4 * index));
  }
  const numbers = listOf(given);
  const [first] = numbers;
  if (numbers.length === 1 && Array.isArray(first)) return vectorOf(first);
  return numbers.map((one) => (typeof one === "number" ? one : Number.NaN));
}

const tooLong = (cause: unknown) =>
  new ReplyError("Este texto es demasiado largo para el modelo de búsqueda.", { status: 413, cause });
const tooSlow = (cause: unknown) => new ReplyError("El modelo de búsqueda no ha contestado a tiempo.", { cause });
