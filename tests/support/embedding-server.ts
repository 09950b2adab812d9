import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type Behaviour = "answers" | "fails" | "has no model" | "hangs" | "drops one" | "html";
export type EmbeddingServer = Awaited<ReturnType<typeof startEmbeddingServer>>;

const length = 256;

/**
 * Stands in for a model that says what texts mean: it knows only the ideas that it is given, each a pattern of words, and is otherwise
 * as such servers are. Keeps the texts that it was asked for; tokens with commas.
 */
export async function startEmbeddingServer(ideas: RegExp[]) {
  const asked: string[] = [];
  let behaviour: Behaviour = "answers";
  let unanswered = 0;
  let failed = 0;
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as {
      input: (string | number[])[];
    };
    const given = body.input.map(String);
    if (request.url !== "/v1/embeddings") return response.writeHead(404).end("{}");
    if (behaviour === "hangs") return void unanswered++;
    if (behaviour === "fails") return response.writeHead(500).end('{"error":{"message":"out of memory"}}');
    if (behaviour === "html") return response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>It works!</h1>");
    if (behaviour === "has no model") return response.writeHead(400).end('{"error":"No models loaded"}');
    // As Ollama with bge-m3, always on the same texts.
    if (given.some((text) => text.includes("NaN"))) {
      failed++;
      return response.writeHead(500).end('{"error":"json: unsupported value: NaN"}');
    }
    if (given.some((text) => text.includes("LARGUÍSIMO"))) {
      return response.writeHead(400).end('{"error":{"message":"input is too large"}}');
    }
    asked.push(...given);
    const texts = behaviour === "drops one" ? given.slice(1) : given;
    const data = texts.map((text, index) => ({ object: "embedding", index, embedding: meaningOf(text, ideas) }));
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ object: "list", data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    /** How many requests were left without an answer. */
    get unanswered() {
      return unanswered;
    },
    /** How many requests have failed because of a text. */
    get failed() {
      return failed;
    },
    behave(how: Behaviour) {
      behaviour = how;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function meaningOf(text: string, ideas: RegExp[]): number[] {
  const sum = direction(text).map((one) => one * 0.3);
  for (const idea of ideas) {
    if (!idea.test(text)) continue;
    for (const [index, one] of direction(idea.source).entries()) sum[index] = (sum[index] ?? 0) + one;
  }
  return sum;
}

/** Numbers between -1 and 1 that depend on a text alone; those of two texts have next to nothing in common. */
function direction(text: string): number[] {
  const bytes = Array.from({ length: length / 32 }, (_, at) => createHash("sha256").update(`${at} ${text}`).digest());
  return [...Buffer.concat(bytes)].map((byte) => (byte - 127.5) / 127.5);
}
