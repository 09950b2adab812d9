import { drawnIn } from "./drawings/draw.server.ts";
import { needsThread, type RenderEnv, renderMarkdown } from "./render.server.ts";
import { renderInThread } from "./render-thread.server.ts";

// Cache limit in characters of HTML (about 50 MB). Finished texts are rendered once, however often they are read.
const keptInAll = 25_000_000;
const rendered = new Map<string, { source: string; html: string }>();
let size = 0;

// In characters. Shorter texts take at most 30 ms (npm run bench -- worst); longer ones are rendered in the thread.
const shortEnough = 3_000;

/**
 * Markdown as safe HTML, its drawings as pictures, cached under `name` until `source` changes. Never blocks other requests for long.
 * `owner`: a key that is the same for all texts of one person or share, for fair turns in the rendering thread.
 */
export async function renderedText(name: string, source: string, given: RenderEnv, owner: string): Promise<string> {
  const env = given.drawingsAt === undefined ? given : { ...given, drawn: await drawnIn(source, owner) };
  // The HTML changes as drawings become known, and differs in light pages, which link to them.
  const key = `${name}${env.light ? ":light" : ""}${[...(env.drawn ?? [])].map(([one, known]) => (known ? `:${one}` : "")).join("")}`;
  const before = rendered.get(key);
  if (before?.source === source) return before.html;
  const html = await render(source, env, owner);
  forget(key);
  rendered.set(key, { source, html });
  size += html.length;
  for (const oldest of rendered.keys()) {
    if (size <= keptInAll) break;
    forget(oldest);
  }
  return html;
}

/** Markdown as safe HTML, without the cache. */
export const renderSafely = (source: string, owner: string): Promise<string> => render(source, {}, owner);

async function render(source: string, env: RenderEnv, owner: string): Promise<string> {
  if (source.length > shortEnough || needsThread(source)) return renderInThread(source, env, owner);
  // A page renders many messages; this lets other requests run in between.
  await new Promise(setImmediate);
  return renderMarkdown(source, env);
}

function forget(key: string): void {
  size -= rendered.get(key)?.html.length ?? 0;
  rendered.delete(key);
}
