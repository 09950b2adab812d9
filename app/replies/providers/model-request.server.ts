import { Agent as HttpAgent, request as http, type IncomingMessage } from "node:http";
import { globalAgent, Agent as HttpsAgent, request as https } from "node:https";
import { guarded } from "../../process/network/addresses.server.ts";

export type ModelRequest = { url: URL; method: string; headers: Headers; body: string; signal: AbortSignal };

/** Request that a provider's library gives to `fetch`. The bodies are JSON, as text. */
export function modelRequest(input: Parameters<typeof fetch>[0], init: RequestInit): ModelRequest {
  const { method = "GET", headers, body = "", signal } = init;
  const isOfLibrary = !(input instanceof Request) && typeof body === "string" && signal;
  if (!isOfLibrary) throw new TypeError("not a request of a library");
  return { url: new URL(input), method, headers: new Headers(headers), body, signal };
}

// In ms: how long a connection waits for the next message, unless the server says less. As in Node's own agents, the proxy is that of
// NODE_USE_ENV_PROXY, if it is set.
const kept = { keepAlive: true, timeout: 4_000, proxyEnv: globalAgent.options.proxyEnv };
const agents = { "http:": guarded(new HttpAgent(kept)), "https:": guarded(new HttpsAgent(kept)) };

// In ms: `fetch`, too, gives up a host that has not answered after this time.
const connectedWithin = 10_000;
// In ms. A kept connection that the server had already closed fails at once; if it fails later, the server may have read the request.
const goneWithin = 500;

/**
 * Sends a request and answers with the head of its response, the body still to be read. It uses Node's own HTTP, because each token that
 * is read through `fetch` costs several times as much. Fails as `fetch` does: with a TypeError and the true cause in it.
 */
export async function requestModel(request: ModelRequest): Promise<IncomingMessage> {
  try {
    // Each try uses the next kept connection, and the last try a new one.
    for (;;) {
      const answer = await send(request).catch((error) => {
        if (!(error instanceof ConnectionGone)) throw error;
      });
      if (answer) return answer;
    }
  } catch (cause) {
    request.signal.throwIfAborted();
    throw new TypeError("fetch failed", { cause });
  }
}

/** The server had closed a kept connection, so that it has not read the request. */
class ConnectionGone extends Error {}

function send({ url, method, headers, body, signal }: ModelRequest): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isSecure = url.protocol === "https:";
  const agent = agents[isSecure ? "https:" : "http:"];
  // A compressed stream would bring its words in blocks.
  const request = { method, agent, headers: { ...Object.fromEntries(headers), "accept-encoding": "identity" } };
  let answer: IncomingMessage | undefined;
  const asked = (isSecure ? https : http)(url, request, (response) => {
    answer = response;
    // The reader gets errors from the stream. Without this listener, an error while nobody reads would end the process.
    response.on("error", () => {});
    resolve(response);
  });
  // Node's own option `signal` ends the process if it aborts when all of the answer has come and is not read yet (24.21).
  const abort = () => (answer ?? asked).destroy(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const sentAt = performance.now();
  asked.on("error", (error: NodeJS.ErrnoException) => {
    const isGone = asked.reusedSocket && error.code === "ECONNRESET" && performance.now() - sentAt < goneWithin;
    reject(isGone ? new ConnectionGone() : error);
  });
  asked.on("close", () => {
    signal.removeEventListener("abort", abort);
    // After a response that does not answer such a request, like 101, Node emits only `close`.
    reject(new Error("closed without an answer"));
  });
  asked.on("socket", (socket) => {
    if (!socket.connecting) return;
    const late = Object.assign(new Error("connect timeout"), { code: "ETIMEDOUT" });
    const timer = setTimeout(() => asked.destroy(late), connectedWithin);
    socket.once("connect", () => clearTimeout(timer));
    asked.once("close", () => clearTimeout(timer));
  });
  asked.end(body);
  return promise;
}
