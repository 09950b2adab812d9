import { renderMarkdown } from "./render.server.ts";

// Characters of HTML: about 50 MB. Replies are rendered once, however often they are read.
const keptInAll = 25_000_000;
const rendered = new Map<string, { content: string; sources: number; html: string }>();
let size = 0;

/** The HTML of a finished message. `id` is its identity; a changed content or number of sources is rendered anew. */
export function renderedMessage(id: string, content: string, sources: number): string {
  const before = rendered.get(id);
  if (before?.content === content && before.sources === sources) return before.html;
  const html = renderMarkdown(content, { sourcesId: id, sources });
  forget(id);
  rendered.set(id, { content, sources, html });
  size += html.length;
  for (const oldest of rendered.keys()) {
    if (size <= keptInAll) break;
    forget(oldest);
  }
  return html;
}

function forget(id: string): void {
  size -= rendered.get(id)?.html.length ?? 0;
  rendered.delete(id);
}
