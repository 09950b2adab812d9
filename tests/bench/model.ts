import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// As fast as a model of today writes, and as long as a short answer.
const tokensPerSecond = 20;
export const tokens = 60;

/** A model that writes so many tokens, and says when it sent each token, and after how long the first. */
export async function startModel(length = tokens) {
  const http = createServer(async (asked, response) => {
    const arrived = performance.now();
    let body = "";
    for await (const part of asked) body += part;
    if (asked.url?.endsWith("/models")) return response.end(JSON.stringify({ data: [{ id: "banco" }] }));
    const send = (content: string, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`,
      );
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const isTitle = body.includes("Pon título");
    for (let n = 0; n < (isTitle ? 1 : length); n++) {
      const now = performance.now();
      send(isTitle ? "Un título" : `tk${performance.timeOrigin + now}+${n === 0 ? now - arrived : 0} `);
      await new Promise((resolve) => setTimeout(resolve, 1000 / tokensPerSecond));
    }
    send("", "stop");
    response.end("data: [DONE]\n\n");
  });
  // More at once than the operating system's queue would take by itself.
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", 4096, resolve));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`, stop: () => http.close() };
}
