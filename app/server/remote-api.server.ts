import { setTimeout as wait } from "node:timers/promises";
import { type Log, pathInLog } from "../process/log.server.ts";
import { traceHeaders } from "../process/telemetry/request-trace.server.ts";

/** `zone`: the visitor's time zone, where that is known. `ofMcp`: the visitor is a program that calls /mcp. */
export type Visitor = { ip: string; userAgent: string; signal: AbortSignal; zone: string | undefined; ofMcp?: boolean };

// Delays before each retry, in ms.
const retryDelays = [1000, 2000, 4000];
const transientStatuses = new Set([502, 503, 504]);

/**
 * Calls an API on another machine. Reads are retried after a network error until the visitor's request ends; writes are never retried. If
 * no answer comes, the result is a 503, like any other response of the API.
 */
export function remoteApi(base: string, log: Log) {
  return async (call: Request, visitor: Visitor): Promise<Response> => {
    const { pathname, search } = new URL(call.url);
    const headers = new Headers(call.headers);
    headers.set("User-Agent", visitor.userAgent);
    headers.set("X-Forwarded-For", visitor.ip);
    if (visitor.zone) headers.set("Time-Zone", visitor.zone);
    for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
    const signal = AbortSignal.any([visitor.signal, call.signal]);
    const send = () =>
      fetch(base + pathname + search, {
        method: call.method,
        headers,
        signal,
        redirect: "error",
        // Bodies are streamed through.
        ...(call.body && { body: call.body, duplex: "half" }),
      } as RequestInit);
    for (const pause of call.method === "GET" ? [...retryDelays, undefined] : [undefined]) {
      const answer = await send().catch((error: Error) => error);
      if (answer instanceof Response && (pause === undefined || !transientStatuses.has(answer.status))) return answer;
      signal.throwIfAborted();
      if (pause === undefined) log.error({ err: answer, path: pathInLog(pathname) }, "la API no contesta");
      else {
        if (answer instanceof Response) await answer.body?.cancel();
        await wait(pause, undefined, { signal });
      }
    }
    return unreachable();
  };
}

function unreachable(): Response {
  const body = {
    type: "about:blank",
    title: "No disponible",
    status: 503,
    detail: "El servidor no contesta ahora mismo. Vuelve a intentarlo dentro de un momento.",
    requestId: "",
  };
  const headers = { "Content-Type": "application/problem+json", "Retry-After": "5" };
  return new Response(JSON.stringify(body), { status: 503, headers });
}
