import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { v7 as newId } from "uuid";

/**
 * Identity of one request in logs, in its error page and at the servers that it asks in turn. `traceId` and `flags` are those of
 * `traceparent` (W3C Trace Context, level 1); a request without one begins a trace.
 */
export type RequestTrace = {
  requestId: string;
  traceId: string;
  flags: string;
  /** The account that asks, once it is known. */
  personId?: string;
};

const traces = new AsyncLocalStorage<RequestTrace>();

/** Runs the handler of a request. All work that it starts, such as replies, belongs to the request's trace, also after the answer. */
export function inRequest<Result>(headers: Headers, work: (trace: RequestTrace) => Result): Result {
  const [, traceId, flags] =
    /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/.exec(headers.get("traceparent") ?? "") ?? [];
  const isKnown = traceId !== undefined && flags !== undefined && !/^0+$/.test(traceId);
  const own = isKnown ? { traceId, flags } : { traceId: randomBytes(16).toString("hex"), flags: "00" };
  const trace: RequestTrace = { requestId: newId(), ...own };
  return traces.run(trace, work, trace);
}

/** The trace that this code runs for; undefined outside of requests. */
export const currentTrace = (): RequestTrace | undefined => traces.getStore();

/** The header for a request that is made on behalf of the current one. */
export function traceHeaders(): { traceparent?: string } {
  const trace = currentTrace();
  return trace ? { traceparent: `00-${trace.traceId}-${randomBytes(8).toString("hex")}-${trace.flags}` } : {};
}
