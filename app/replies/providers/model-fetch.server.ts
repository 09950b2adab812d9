import type { IncomingMessage } from "node:http";
import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { limits } from "../../process/limits.ts";
import { traceHeaders } from "../../process/telemetry/request-trace.server.ts";
import { changedLines } from "../../process/text/changed-lines.server.ts";
import { jsonIn, recordOf, wellFormedJson } from "../../process/text/json.ts";
import { ReplyError, statusIn } from "../errors.server.ts";
import { type ModelRequest, modelRequest, requestModel } from "./model-request.server.ts";
import { eventsOf } from "./reading/whole-answers.server.ts";

/** Listener for the bytes of a model's answer. */
type Listener = {
  /** Called whenever any bytes arrive, even if they are only a comment. */
  heard(): void;
  /** Takes the body of an event stream in place of the library that has sent the request, and bounds its size itself. */
  takeStream?: ((body: Readable) => void) | undefined;
  /** Changes a line of an event stream that the library reads. */
  changeLine?: ((line: string) => string) | undefined;
  /** Changes the body of the request, which is JSON. */
  rewrite?: (body: string) => string;
};

// Keyed by the request's AbortSignal, the only thing that provider libraries pass through to fetch.
const listeners = new WeakMap<AbortSignal, Listener>();

/** Listens to the answer of a request with this signal. */
export function listen(signal: AbortSignal, listener: Listener): void {
  listeners.set(signal, listener);
}

/**
 * `fetch` for model servers: refuses redirects, which could send the key elsewhere, and bounds the response, so that an endless
 * one does not fill the memory.
 */
export const fetchModel: typeof fetch = async (input, given) => {
  const listener = given?.signal && listeners.get(given.signal);
  const init = given && { ...given, headers: { ...Object.fromEntries(new Headers(given.headers)), ...traceHeaders() } };
  if (init && listener?.rewrite && typeof init.body === "string") init.body = listener.rewrite(init.body);
  if (init && typeof init.body === "string") init.body = wellFormedJson(init.body);
  const response =
    init && listener?.takeStream
      ? await answerOf(modelRequest(input, init), listener.takeStream)
      : await fetch(input, { ...init, redirect: "error" });
  listener?.heard();
  const isStream = isOfType(response.headers.get("Content-Type"), "text/event-stream");
  const body = response.body && bounded(response.body, () => listener?.heard(), isStream ? lastBlankLine : undefined);
  const answer = new Response(
    body && listener?.changeLine ? body.pipeThrough(changedLines(listener.changeLine)) : body,
    response,
  );
  if (!response.ok || !isOfType(response.headers.get("Content-Type"), "application/json")) return answer;
  const text = await answer.text();
  const events = eventsOf(text);
  if (!events) return tellingOf(text, answer.headers);
  const headers = { "Content-Type": "text/event-stream" };
  if (!listener?.takeStream) return new Response(events, { headers });
  listener.takeStream(Readable.from([Buffer.from(events)]));
  return new Response(new ReadableStream(), { headers });
};

/** A JSON answer that is no reply of a model. An error sent with a 200 gets an error status, so that it is read as an error. */
function tellingOf(text: string, headers: Headers): Response {
  const said = recordOf(jsonIn(text));
  // MiniMax's answers all have `base_resp`; its code is 0 where there is no error.
  const code = recordOf(said?.base_resp)?.status_code ?? 0;
  const isError =
    code !== 0 || said?.error || said?.object === "error" || (said?.detail && Object.keys(said).length === 1);
  return isError ? new Response(text, { status: statusIn(text) ?? 500, headers }) : new Response(text, { headers });
}

/** The response to a request. If it is an event stream, its body goes to `takeStream`, and the library has none to read. */
async function answerOf(request: ModelRequest, takeStream: (body: Readable) => void): Promise<Response> {
  const answer = await requestModel(request);
  const { statusCode: status = 0, headers } = answer;
  if (redirects.has(status)) throw new TypeError("fetch failed", { cause: new Error("unexpected redirect") });
  const head = {
    status,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
  };
  const body = unpacked(answer);
  // Some servers and proxies send a stream under another type, or under none; a page of HTML or JSON is something else.
  const type = headers["content-type"];
  if (status === 200 && !isOfType(type, "application/json") && !isOfType(type, "text/html")) {
    takeStream(body);
    return new Response(new ReadableStream(), { ...head, headers: { "Content-Type": "text/event-stream" } });
  }
  // These statuses have no body by definition; a Response with a body can't be made for them.
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : (Readable.toWeb(body) as ReadableStream<Uint8Array>), head);
}

// The redirect statuses of `fetch`.
const redirects = new Set([301, 302, 303, 307, 308]);

const unpackers = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/** The decompressed body: some servers compress although the request asks them not to. */
function unpacked(answer: IncomingMessage): Readable {
  const unpack = unpackers.get(answer.headers["content-encoding"]?.trim().toLowerCase() ?? "");
  // The reader of the stream gets the error.
  return unpack ? pipeline(answer, unpack(), () => {}) : answer;
}

const isOfType = (given: string | null | undefined, type: string) =>
  given?.split(";", 1)[0]?.trim().toLowerCase() === type;

// Some servers close the connection right behind the last event, which the libraries then don't read.
const lastBlankLine = Buffer.from("\n\n");

// A TransformStream does the same at twice the cost, for each token of each reply.
function bounded(body: ReadableStream<Uint8Array>, heard: () => void, end?: Uint8Array): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          if (end) controller.enqueue(end);
          return controller.close();
        }
        heard();
        bytes += value.length;
        if (bytes <= limits.modelAnswer) return controller.enqueue(value);
        controller.error(ReplyError.endless());
        await reader.cancel();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
