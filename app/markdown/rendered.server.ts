import { renderMarkdown } from "./render.server.ts";

// About 50 MB of HTML at worst: replies are rendered once, however often they are read.
const kept = 2_000;
const rendered = new Map<string, { content: string; sources: number; html: string }>();

/** The HTML of a finished message. `id` is its identity; a changed content or number of sources is rendered anew. */
export function renderedMessage(id: string, content: string, sources: number): string {
  const before = rendered.get(id);
  if (before?.content === content && before.sources === sources) return before.html;
  const html = renderMarkdown(content, { sourcesId: id, sources });
  rendered.delete(id);
  rendered.set(id, { content, sources, html });
  const oldest = rendered.keys().next();
  if (rendered.size > kept && !oldest.done) rendered.delete(oldest.value);
  return html;
}
