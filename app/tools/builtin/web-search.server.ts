import { cutText } from "../../process/text/cut-text.ts";
import { listOf, recordOf } from "../../process/text/json.ts";
import type { Caller, Found, OwnTool } from "../tool.server.ts";
import { ToolRefused } from "../tool.server.ts";

const resultsAtMost = 6;
const answerAtMost = 2 * 1024 * 1024;
const quoteLength = 600;

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
    const query = String(busqueda ?? "")
      .trim()
      .slice(0, 400);
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
    .flatMap((one) => (one ? [{ title: text(one.title), url: text(one.url), quote: text(one[quote]) }] : []));

const searchers: Record<SearchEngine["kind"], Search> = {
  async searxng({ address }, query, signal) {
    const url = new URL(`${(address ?? "").replace(/\/+$/, "")}/search`);
    url.search = new URLSearchParams({ q: query, format: "json", language: "es" }).toString();
    const answer = await asked(url, { signal });
    if (answer.status === 403) {
      throw new ToolRefused(
        "SearXNG no da resultados en JSON: hay que añadir «json» a search.formats en su settings.yml.",
      );
    }
    return resultsIn((await jsonOf(answer, "SearXNG")).results, "content");
  },
  async brave({ address, secret }, query, signal) {
    const url = new URL(address ?? "https://api.search.brave.com/res/v1/web/search");
    url.search = new URLSearchParams({ q: query, count: String(resultsAtMost) }).toString();
    const answer = await asked(url, { signal, headers: { "X-Subscription-Token": secret() ?? "" } });
    const results = resultsIn(recordOf((await jsonOf(answer, "Brave")).web)?.results, "description");
    return results.map((one) => ({ ...one, quote: one.quote.replace(/<\/?strong>/g, "") }));
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
