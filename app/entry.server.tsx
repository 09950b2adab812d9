import { PassThrough } from "node:stream";
import { renderToPipeableStream } from "react-dom/server";
import { type EntryContext, type RouterContextProvider, ServerRouter } from "react-router";
import { type LivePart, liveContext, logContext, nonceContext } from "./context.ts";
import { contentPolicy } from "./headers.server.ts";
import { pathInLog } from "./log.server.ts";
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
  const page = await renderPage(<ServerRouter context={entry} url={request.url} nonce={nonce} />, nonce);
  const html = scriptsLast(page, textBrowser.test(request.headers.get("User-Agent") ?? ""));
  // A page that needs no script allows none.
  if (!html.includes("<script")) headers.set("Content-Security-Policy", contentPolicy(""));
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
    context
      .get(logContext)
      .error({ err: error, path: pathInLog(new URL(request.url).pathname) }, "error en una página");
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
// ELinks shows each of them as a link to follow.
const textBrowser = /^(e?links|w3m|lynx|dillo)\b/i;
const firstScript = /<script[^>]*>window\.__reactRouterContext/;

/** Moves the preloads down to the scripts; there React tolerates tags that it does not know. */
function scriptsLast(html: string, dropped: boolean): string {
  const preloads = html.match(preload)?.join("");
  if (!preloads) return html;
  return html.replace(preload, "").replace(firstScript, (script) => (dropped ? script : preloads + script));
}
