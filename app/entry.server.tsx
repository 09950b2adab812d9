import { PassThrough } from "node:stream";
import { renderToPipeableStream } from "react-dom/server";
import { type EntryContext, type RouterContextProvider, ServerRouter } from "react-router";
import { type LivePart, liveContext, logContext, nonceContext } from "./context.ts";
import { pullStream } from "./pull-stream.server.ts";

/** Renders the whole page before its first byte; what is still under way is then written into it as it comes. */
export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  entry: EntryContext,
  context: Readonly<RouterContextProvider>,
): Promise<Response> {
  const nonce = context.get(nonceContext);
  headers.set("Content-Type", "text/html; charset=utf-8");
  const html = scriptsLast(await renderPage(<ServerRouter context={entry} url={request.url} nonce={nonce} />, nonce));
  const live = context.get(liveContext);
  if (!live || !html.includes(live.marker)) return new Response(html, { status, headers });
  headers.set("X-Live", "1");
  // nginx would hold it back.
  headers.set("X-Accel-Buffering", "no");
  return new Response(pullStream(inPlace(html, live), live.leave), { status, headers });
}

/** The page up to the marker, then what stands in its place as it is written, then the rest; no script takes part (product.md §7). */
async function* inPlace(html: string, { marker, pieces }: LivePart): AsyncGenerator<string> {
  const at = html.indexOf(marker);
  yield html.slice(0, at);
  yield* pieces;
  yield html.slice(at + marker.length);
}

/** Loader and action errors that nobody expected; answers on purpose and closed connections are none. */
export function handleError(
  error: unknown,
  { request, context }: { request: Request; context: Readonly<RouterContextProvider> },
): void {
  if (!request.signal.aborted)
    context.get(logContext).error({ err: error, path: new URL(request.url).pathname }, "error en una página");
}

function renderPage(page: React.ReactNode, nonce: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { pipe } = renderToPipeableStream(page, {
      nonce,
      // React would hide completed boundaries behind a script once a page passes 12.8 kB (react#35460).
      progressiveChunkSize: Number.POSITIVE_INFINITY,
      onAllReady() {
        const chunks: Buffer[] = [];
        const body = new PassThrough();
        body.on("data", (chunk: Buffer) => chunks.push(chunk));
        body.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
        pipe(body);
      },
      onShellError: reject,
      onError: reject,
    });
  });
}

// React hoists them into the head, where they compete with the text on a slow line, even with scripting off.
const preload = /<link rel="modulepreload"[^>]*>/g;
const firstScript = /<script[^>]*>window\.__reactRouterContext/;

/** Moves the preloads down to the scripts; there React tolerates tags that it does not know. */
function scriptsLast(html: string): string {
  const preloads = html.match(preload)?.join("");
  return preloads ? html.replace(preload, "").replace(firstScript, (script) => preloads + script) : html;
}
