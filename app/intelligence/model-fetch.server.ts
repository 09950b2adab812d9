import { limits } from "../limits.ts";
import { ReplyError } from "./errors.server.ts";

/** `fetch` for model servers: a redirect could lead the key to another one; an endless answer would fill the memory, thoughts and errors included. */
export const fetchModel: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "error" });
  return new Response(response.body && bounded(response.body), response);
};

// A TransformStream does the same at twice the cost, for each token of each reply.
function bounded(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
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
