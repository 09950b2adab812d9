import { Writable } from "node:stream";
import { renderToPipeableStream } from "react-dom/server";
import { type EntryContext, isRouteErrorResponse, ServerRouter } from "react-router";
import { pullStream } from "./http/pull-stream.server.ts";
import { contentPolicy } from "./http/security-headers.server.ts";
import { isTextBrowser } from "./http/text-browsers.server.ts";
import { pathInLog } from "./process/log.server.ts";
import { RequestReference } from "./process/telemetry/request-reference.ts";
import { currentTrace } from "./process/telemetry/request-trace.server.ts";
import { Light } from "./ui/light/light.ts";
import { type Context, type LivePart, lightContext, liveContext, logContext, nonceContext } from "./web/context.ts";
import { zoneOfPerson } from "./web/house.server.ts";
import { growingReply } from "./web/light/growing.server.ts";
import { lightPage } from "./web/light/page.server.ts";

/** Renders the whole page before sending its first byte; a growing part is then inserted while it arrives. */
export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  entry: EntryContext,
  context: Context,
): Promise<Response> {
  const nonce = context.get(nonceContext);
  headers.set("Content-Type", "text/html; charset=utf-8");
  const page = await renderPage(
    <RequestReference value={currentTrace()?.requestId ?? ""}>
      <Light value={context.get(lightContext)}>
        <ServerRouter context={entry} url={request.url} nonce={nonce} />
      </Light>
    </RequestReference>,
    nonce,
  );
  const live = context.get(liveContext);
  const grows = live !== null && page.includes(live.marker);
  // A few pages are of no use without their script, also where the rest is light.
  const scripted = page.includes("<script");
  const light = context.get(lightContext) && !scripted;
  const html = light
    ? await lightPage(page, request, {
        nonce,
        growing: grows ? growingReply : undefined,
        timeZone: () => zoneOfPerson(context, request),
      })
    : scriptsLast(page, isTextBrowser(request));
  headers.set(
    "Content-Security-Policy",
    contentPolicy({
      scripts: scripted ? nonce : undefined,
      styles: light ? nonce : undefined,
      // A reply that grows, or a page to which a script navigates, may contain a frame.
      frames: grows || scripted || page.includes("<iframe"),
      framed: page.includes('<main class="artifact-sheet"'),
    }),
  );
  if (!grows) return new Response(html, { status, headers });
  headers.set("X-Live", "1");
  // Otherwise nginx would buffer it.
  headers.set("X-Accel-Buffering", "no");
  return new Response(pullStream(splice(html, live), live.leave), { status, headers });
}

/** The page up to the marker, then the pieces in its place, then the rest. No script is involved. */
async function* splice(html: string, { marker, pieces }: LivePart): AsyncGenerator<string> {
  const at = html.indexOf(marker);
  yield html.slice(0, at);
  yield* pieces;
  yield html.slice(at + marker.length);
}

/** Logs unexpected loader and action errors; thrown responses and closed connections are not logged. */
export function handleError(error: unknown, { request, context }: { request: Request; context: Context }): void {
  // The router refuses, for example, a method that a page does not support: a client error.
  const refused = isRouteErrorResponse(error) && error.status < 500;
  if (!request.signal.aborted && !refused)
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
        const body = new Writable({
          write(chunk: Buffer, _encoding, done) {
            chunks.push(chunk);
            done();
          },
          final(done) {
            resolve(Buffer.concat(chunks).toString("utf8"));
            done();
          },
        });
        pipe(body);
      },
      onShellError: reject,
      onError: reject,
    });
  });
}

// React hoists preloads into the head, where they compete with the text on slow lines, even without script.
const preload = /<link rel="modulepreload"[^>]*>/g;
const firstScript = /<script[^>]*>window\.__reactRouterContext/;

/**
 * Moves the preloads down to the scripts, where React tolerates unknown tags, or drops them for text browsers: ELinks shows
 * them as links.
 */
function scriptsLast(html: string, dropped: boolean): string {
  const end = html.indexOf("</head>");
  const head = html.slice(0, end);
  const preloads = head.match(preload)?.join("");
  if (!preloads) return html;
  return (
    head.replace(preload, "") + html.slice(end).replace(firstScript, (script) => (dropped ? script : preloads + script))
  );
}
