import { type Logger, pino } from "pino";
import { currentTrace } from "./telemetry/request-trace.server.ts";

export type Log = Logger;

/** JSON lines on standard output, never with secrets or message text; with the request that they are about, if there is one. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    mixin() {
      const trace = currentTrace();
      return trace ? { requestId: trace.requestId, traceId: trace.traceId } : {};
    },
  });
}

/**
 * A path as it may be logged. Tokens of links let in whoever has them, so a long segment with digits or capitals that is no id (a UUID) is
 * masked, whichever route it belongs to.
 */
export const pathInLog = (path: string) =>
  path.replace(/\/(?![\da-f-]{36}(?:\.data)?(?:\/|$))(?=[^/]*[\dA-Z])[^/]{20,}/g, "/…");

// Provider errors carry the request, and with it keys and message text: only these three fields may be logged.
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  return { type: error.name, message: error.message, stack: error.stack };
}
