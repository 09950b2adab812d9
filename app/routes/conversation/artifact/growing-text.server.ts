import { escapeHtml } from "../../../markdown/render.server.ts";
import { MarkdownStream } from "../../../markdown/stream.server.ts";
import type { Client } from "../../../web/api-client.server.ts";
import { accepted } from "../../../web/api-result.server.ts";

type Growing = { kind: "text" | "table" | "code" };

/** An artifact while a model writes it, as HTML that only grows, for the document that shows it; `leave` when its reader leaves. */
export function growingText(client: Client, id: string, { kind }: Growing, signal: AbortSignal) {
  const left = new AbortController();
  const ends = AbortSignal.any([signal, left.signal]);
  return { pieces: pieces(client, id, kind, ends), leave: () => left.abort() };
}

async function* pieces(
  { api }: Client,
  id: string,
  kind: Growing["kind"],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const answer = await accepted(api.artifact[":id"].growth.$get({ param: { id } }, { init: { signal } }));
  const decoder = new TextDecoder();
  const stream = kind === "text" ? new MarkdownStream({}, { byWord: true }) : undefined;
  yield stream ? `<div class="prose" dir="auto">` : `<pre class="growing" dir="auto">`;
  for await (const bytes of answer.body ?? []) {
    const text = decoder.decode(bytes, { stream: true });
    if (!stream) yield escapeHtml(text);
    else for await (const { append } of stream.feed(text)) yield append;
  }
  yield stream ? `${stream.end().append}</div>` : "</pre>";
  yield `<p class="mt-6">Ya está escrito. <a href="/conversation/escrito/${id}" target="_top">Abrir el escrito</a></p>`;
}
