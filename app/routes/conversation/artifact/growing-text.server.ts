import { escapeHtml } from "../../../markdown/render.server.ts";
import { MarkdownStream } from "../../../markdown/stream.server.ts";
import type { Client } from "../../../web/api-client.server.ts";
import { accepted } from "../../../web/api-result.server.ts";
import { drawingsOf, withoutTitle } from "./artifact-text.server.ts";

type Growing = { title: string; kind: "text" | "table" | "code" };

/** An artifact while a model writes it, as HTML that only grows, for the document that shows it; `leave` when its reader leaves. */
export function growingText(client: Client, id: string, growing: Growing, signal: AbortSignal) {
  const left = new AbortController();
  const ends = AbortSignal.any([signal, left.signal]);
  return { pieces: pieces(client, id, growing, ends), leave: () => left.abort() };
}

async function* pieces(
  { api }: Client,
  id: string,
  { kind, title }: Growing,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const answer = await accepted(api.artifact[":id"].growth.$get({ param: { id } }, { init: { signal } }));
  const decoder = new TextDecoder();
  const stream = kind === "text" ? new MarkdownStream({ drawingsAt: drawingsOf(id, 0) }, { byWord: true }) : undefined;
  yield stream ? `<div class="prose" dir="auto">` : `<pre class="growing" dir="auto">`;
  // The first line, until it is known whether it repeats the title.
  let first: string | undefined = "";
  for await (const bytes of answer.body ?? []) {
    let text = decoder.decode(bytes, { stream: true });
    if (!stream) {
      yield escapeHtml(text);
      continue;
    }
    if (first !== undefined) {
      first += text;
      if (!first.trimStart().includes("\n")) continue;
      text = withoutTitle(first, title);
      first = undefined;
    }
    for await (const { append } of stream.feed(text)) yield append;
  }
  for await (const { append } of stream?.feed(withoutTitle(first ?? "", title)) ?? []) yield append;
  yield stream ? `${stream.end().append}</div>` : "</pre>";
  yield `<p class="mt-6">Ya está escrito. <a href="/conversation/escrito/${id}" target="_top">Abrir el escrito</a></p>`;
}
