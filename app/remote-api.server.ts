import { setTimeout as wait } from "node:timers/promises";
import { type Log, pathInLog } from "./log.server.ts";

export type Visitor = { ip: string; userAgent: string; signal: AbortSignal };

// The seed's retries (§4), in ms: 1 s, doubling.
const again = [1000, 2000, 4000];
const passing = new Set([502, 503, 504]);

/**
 * Calls an API on another machine. Reads are tried again where the way there failed, and end with the visitor's request;
 * writes never are. Where nothing answers, that is a 503 like any other answer of the API (product.md §6).
 */
export function remoteApi(base: string, log: Log) {
  return async (call: Request, visitor: Visitor): Promise<Response> => {
    const { pathname, search } = new URL(call.url);
    const headers = new Headers(call.headers);
    headers.set("User-Agent", visitor.userAgent);
    headers.set("X-Forwarded-For", visitor.ip);
    const signal = AbortSignal.any([visitor.signal, call.signal]);
    const send = () =>
      fetch(base + pathname + search, {
        method: call.method,
        headers,
        signal,
        redirect: "error",
        // Files go through as they are read.
        ...(call.body && { body: call.body, duplex: "half" }),
      } as RequestInit);
    for (const pause of call.method === "GET" ? [...again, undefined] : [undefined]) {
      const answer = await send().catch((error: Error) => error);
      if (answer instanceof Response && (pause === undefined || !passing.has(answer.status))) return answer;
      signal.throwIfAborted();
      if (pause === undefined) log.error({ err: answer as Error, path: pathInLog(pathname) }, "la API no contesta");
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
