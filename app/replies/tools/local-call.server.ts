import { cutText } from "../../process/text/cut-text.ts";
import type { Source } from "../chunk.ts";
import type { ToolPart } from "../parts.server.ts";

type PlainCall = { name: string; input: Record<string, string> };

/** How people write sums: with words for signs, and a comma for decimals. */
const asSum = (text: string) =>
  text
    .replace(/(\d)\.(?=\d{3}(?:\D|$))/g, "$1")
    .replace(/(\d),(\d)/g, "$1.$2")
    .replace(/\bmás\b/gi, "+")
    .replace(/\bmenos\b/gi, "-")
    .replace(/\b(?:por|x)\b/gi, "*")
    .replace(/\b(?:entre|dividido (?:por|entre))\b/gi, "/")
    .replace(/[¿?=\s]+/g, " ")
    .trim();

const sum = /^[\d\s.,+*/^%()×÷·−-]+$/;

/**
 * The call that the local assistant, which is no model, makes for a question in plain words: «busca en la web…», «lee https://…», «¿cuánto
 * es 12,5 por 4?», «¿qué hora es?». Undefined for any other.
 */
export function localCall(question: string): PlainCall | undefined {
  const text = question.trim();
  if (text.length > 500) return undefined;
  const [, search] = /^(?:busca|búscame|buscar?) en (?:la web|internet)[:,]?\s+(.+)$/is.exec(text) ?? [];
  if (search) return { name: "buscar_en_la_web", input: { busqueda: search } };
  const [, address] = /^(?:lee|léeme|leer|abre)(?: la página)?[:,]?\s+(https?:\/\/\S+)$/i.exec(text) ?? [];
  if (address) return { name: "leer_pagina", input: { direccion: address } };
  if (
    /^¿?\s*(?:qué (?:hora|día|fecha) es|a qué (?:día|fecha) estamos|en qué (?:día|fecha) estamos)(?: hoy)?\s*\??$/i.test(
      text,
    )
  ) {
    return { name: "fecha_y_hora", input: {} };
  }
  const said = text.replace(/^¿?\s*(?:cuánto (?:es|son|da|suman?)|calcula)\s+/i, "");
  const expression = asSum(said);
  const isSum = sum.test(expression) && /\d\s*[+*/^%×÷·−-]\s*[\d(]/.test(expression);
  return isSum ? { name: "calcular", input: { cuenta: expression } } : undefined;
}

// Characters of a page that are quoted; the rest is read on the page itself.
const quoted = 2_000;

/** The local assistant's words about its call. */
export function saidOfCall({ status, text, call }: ToolPart, sources: Source[]): string {
  if (status !== "done") return `No ha podido ser. ${escapeMarkdown(text)}`;
  const pages = sources.filter(({ kind }) => kind === "page");
  if (call.tool === "buscar_en_la_web" && pages.length > 0) {
    const results = pages.map(
      ({ n, title, url, quote }) =>
        `${n}. **${escapeMarkdown(title)}** [${n}] — <${url}>\n\n   ${escapeMarkdown(quote)}`,
    );
    return `Esto es lo que ha encontrado el buscador:\n\n${results.join("\n\n")}`;
  }
  const [page] = pages;
  if (call.tool === "leer_pagina" && page) {
    const read = text.slice(text.indexOf("\n", text.indexOf("\n") + 1) + 1);
    const beginning = read.length > quoted ? `${cutText(read, quoted)}…` : read;
    const quote = beginning
      .split("\n")
      .map((line) => `> ${escapeMarkdown(line)}`)
      .join("\n");
    return `**${escapeMarkdown(page.title)}** [${page.n}]\n\n${quote}`;
  }
  return escapeMarkdown(text);
}

const escapeMarkdown = (text: string) => text.replace(/[\\`*_[\]<>#|~$]/g, "\\$&");
