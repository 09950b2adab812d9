import { traceHeaders } from "../../process/telemetry/request-trace.server.ts";
import { ToolRefused } from "../tool.server.ts";

// Bytes of one answer, a stream of events included: images in it are in base64.
const most = 8 * 1024 * 1024;

/** `fetch` whose answers end with an error beyond 8 MB, so that no server of tools fills the memory. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
  const answer = await fetch(input, { ...init, headers });
  if (!answer.body) return answer;
  const reader = answer.body.getReader();
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.length;
        if (bytes <= most) return controller.enqueue(value);
        controller.error(new ToolRefused("La herramienta ha contestado con más de 8 MB."));
        await reader.cancel();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body.pipeThrough(withTexts()), answer);
};

/** Passes JSON on line by line, with long numbers as texts. */
function withTexts(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let held = "";
  return new TransformStream({
    transform(bytes, controller) {
      const piece = decoder.decode(bytes, { stream: true });
      const end = piece.lastIndexOf("\n") + 1;
      if (end > 0) controller.enqueue(encoder.encode(longNumbersAsTexts(held + piece.slice(0, end))));
      held = end > 0 ? piece.slice(end) : held + piece;
    },
    flush(controller) {
      const rest = held + decoder.decode();
      if (rest) controller.enqueue(encoder.encode(longNumbersAsTexts(rest)));
    },
  });
}

/**
 * JSON whose numbers of more than 15 digits, such as ids, are texts: the client's library would read others than the server has sent.
 */
const longNumbersAsTexts = (json: string): string =>
  !/[:[,]\s*-?\d[\d.]{15}/.test(json)
    ? json
    : // A string without an end matches up to the end of the JSON: looking for another beginning in it would take quadratic time.
      json.replace(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?/g, (found) =>
        found.startsWith('"') ? found : `"${found}"`,
      );
