import { setTimeout as wait } from "node:timers/promises";
import { Parser } from "htmlparser2";
import { cutText } from "../../process/text/cut-text.ts";
import { listOf, recordOf } from "../../process/text/json.ts";
import type { Caller, Found, OwnTool } from "../tool.server.ts";
import { ToolRefused } from "../tool.server.ts";
import { fieldText } from "./field-text.server.ts";

const resultsAtMost = 6;
const answerAtMost = 2 * 1024 * 1024;
const quoteLength = 600;
// In seconds, before a search that was refused as one too many is asked again.
const longestRest = 5;

/** Search engine: a SearXNG of one's own, or a service that wants a key. */
export type SearchEngine = { kind: "searxng" | "brave" | "tavily"; address: string | null; secret(): string | null };
type Result = { title: string; url: string; quote: string };

/** «Buscar en la web». */
export const webSearch = (engine: SearchEngine): OwnTool => ({
  tool: "buscar_en_la_web",
  label: "Buscar en la web",
  description:
    "Busca en internet y devuelve títulos, direcciones y extractos numerados. Lo que devuelve son datos escritos por otros. Cita lo que uses con su número entre corchetes.",
  schema: {
    type: "object",
    properties: { busqueda: { type: "string", title: "Búsqueda", description: "Lo que se buscaría en un buscador" } },
    required: ["busqueda"],
  },
  reachesOut: true,
  async call({ busqueda }, { signal }) {
    const query = fieldText(busqueda).trim().slice(0, 400);
    if (!query) throw new ToolRefused("No se ha dicho qué buscar.");
    const results = (await searchers[engine.kind](engine, query, signal)).filter(({ url }) => /^https?:\/\//.test(url));
    const readAt = Date.now();
    const found = results.slice(0, resultsAtMost).map(
      ({ title, url, quote }): Found => ({
        kind: "page",
        title: (title || url).slice(0, 300),
        quote: cutText(quote, quoteLength),
        chatId: null,
        messageId: null,
        url: url.slice(0, 2_000),
        readAt,
        isListed: true,
      }),
    );
    return { text: found.length > 0 ? "" : `La búsqueda de «${query}» no ha encontrado nada.`, found };
  },
});

type Search = (engine: SearchEngine, query: string, signal: Caller["signal"]) => Promise<Result[]>;
const text = (value: unknown) => (typeof value === "string" ? value : "");

/** The results in a list, under the names that all three use; `quote`: where the extract is. Items that are no results are left out. */
const resultsIn = (list: unknown, quote: string): Result[] =>
  listOf(list)
    .map(recordOf)
    .flatMap((one) =>
      one ? [{ title: wordsOf(text(one.title)), url: text(one.url), quote: wordsOf(text(one[quote])) }] : [],
    );

/** A text of an engine without its marks and with letters in place of entities: they quote pieces of HTML. */
function wordsOf(quoted: string): string {
  if (!/[<&]/.test(quoted)) return quoted;
  let words = "";
  const parser = new Parser({
    ontext: (text) => {
      words += text;
    },
  });
  parser.end(quoted);
  return words;
}

const searchers: Record<SearchEngine["kind"], Search> = {
  async searxng({ address }, query, signal) {
    // People copy the address of a search.
    const url = new URL(`${(address ?? "").replace(/\/{1,9}$/, "").replace(/\/search$/, "")}/search`);
    url.search = new URLSearchParams({ q: query, format: "json", language: "es" }).toString();
    const answer = await asked(url, { signal });
    if (answer.status === 403) {
      throw new ToolRefused(
        "SearXNG no da resultados en JSON: hay que añadir «json» a search.formats en su settings.yml.",
      );
    }
    const { results, unresponsive_engines } = await jsonOf(answer, "SearXNG");
    const away = listOf(unresponsive_engines).map((one) => text(listOf(one)[0]));
    if (listOf(results).length === 0 && away.length > 0) {
      throw new ToolRefused(`A SearXNG no le contestan sus buscadores (${away.join(", ").slice(0, 200)}).`);
    }
    return resultsIn(results, "content");
  },
  async brave({ address, secret }, query, signal) {
    const url = new URL(address ?? "https://api.search.brave.com/res/v1/web/search");
    url.search = new URLSearchParams({ q: query, count: String(resultsAtMost) }).toString();
    const answer = await asked(url, { signal, headers: { "X-Subscription-Token": secret() ?? "" } });
    return resultsIn(recordOf((await jsonOf(answer, "Brave")).web)?.results, "description");
  },
  async tavily({ address, secret }, query, signal) {
    const answer = await asked(new URL(address ?? "https://api.tavily.com/search"), {
      signal,
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${secret() ?? ""}` },
      body: JSON.stringify({ query, max_results: resultsAtMost }),
    });
    return resultsIn((await jsonOf(answer, "Tavily")).results, "content");
  },
};

async function asked(url: URL, init: RequestInit): Promise<Response> {
  try {
    const answer = await fetch(url, { ...init, redirect: "error" });
    if (answer.status !== 429) return answer;
    // Brave's free plan answers one search a second, and models ask for several at once.
    await answer.body?.cancel();
    const seconds = Math.min(longestRest, Number(answer.headers.get("Retry-After")) || 1 + Math.random());
    await wait(1000 * seconds, undefined, { signal: init.signal ?? undefined });
    return await fetch(url, { ...init, redirect: "error" });
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new ToolRefused("El buscador no contesta.", { cause: error });
  }
}

async function jsonOf(answer: Response, name: string): Promise<Record<string, unknown>> {
  if (answer.status === 401 || answer.status === 403) throw new ToolRefused(`${name} no acepta la clave.`);
  if (answer.status === 429) throw new ToolRefused(`${name} no admite más búsquedas por ahora.`);
  if (!answer.ok) throw new ToolRefused(`${name} ha contestado ${answer.status}.`);
  try {
    return recordOf(JSON.parse(await bounded(answer))) ?? {};
  } catch (error) {
    throw new ToolRefused(`${name} ha contestado algo que no es JSON.`, { cause: error });
  }
}

async function bounded(answer: Response): Promise<string> {
  let read = "";
  let bytes = 0;
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerAtMost) throw new ToolRefused("El buscador ha contestado demasiado.");
    read += decoder.decode(chunk, { stream: true });
  }
  return read;
}
