import { limits } from "../../process/limits.ts";
import { ReplyError } from "../errors.server.ts";

// Keyed by the request's AbortSignal, the only thing that provider libraries pass through to fetch.
const listeners = new WeakMap<AbortSignal, () => void>();

/** Calls `heard` whenever any bytes arrive for a request with this signal, even if they are only a comment. */
export function hearLife(signal: AbortSignal, heard: () => void): void {
  listeners.set(signal, heard);
}

/**
 * `fetch` for model servers: refuses redirects, which could send the key elsewhere, and bounds the response, so that an endless
 * one does not fill the memory.
 */
export const fetchModel: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "error" });
  const heard = init?.signal && listeners.get(init.signal);
  heard?.();
  const answer = new Response(response.body && bounded(response.body, heard ?? (() => {})), response);
  return isJson(response) ? streamed(answer) : answer;
};

// A TransformStream does the same at twice the cost, for each token of each reply.
function bounded(body: ReadableStream<Uint8Array>, heard: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
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

const isJson = (response: Response) =>
  response.ok && /^application\/json\b/i.test(response.headers.get("Content-Type") ?? "");

type Whole = { object?: string; choices?: { message?: object; finish_reason?: string | null }[]; usage?: object };

/**
 * Converts a complete JSON response, which some proxies send although a stream was requested, into the stream it should
 * have been.
 */
async function streamed(answer: Response): Promise<Response> {
  const text = await answer.text();
  const headers = { "Content-Type": "text/event-stream" };
  const whole = parsed(text);
  const [choice] = whole?.choices ?? [];
  if (!whole || !choice?.message) return new Response(text, { headers: answer.headers });
  const chunk = (more: object) => `data: ${JSON.stringify({ ...whole, object: "chat.completion.chunk", ...more })}\n\n`;
  const said = chunk({ choices: [{ index: 0, delta: choice.message, finish_reason: null }], usage: null });
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: choice.finish_reason ?? "stop" }] });
  return new Response(`${said}${end}data: [DONE]\n\n`, { headers });
}

function parsed(text: string): Whole | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}
