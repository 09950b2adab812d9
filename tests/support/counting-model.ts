import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How far the models of this server count. */
export const countsTo = 60;
/** A whole reply: no number is missing, none is there twice. */
export const counted = Array.from({ length: countsTo }, (_, n) => String(n + 1)).join(" ");

type Asked = { messages: { role: string; content: unknown }[] };

/**
 * A model server of OpenAI's kind that counts slowly. Asked to go on with a reply that was cut, it goes on with the next number, so
 * that a reply tells by itself whether anything of it was lost or said twice on its way through several processes.
 */
export async function startCountingModel(numberEvery: number): Promise<{ url: string; stop(): void }> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.method === "GET") return response.end(JSON.stringify({ data: [{ id: "cuenta", object: "model" }] }));
    const { messages } = JSON.parse(body) as Asked;
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    if (messages.some(({ content }) => /Pon título/.test(String(content)))) return void say(response, "Cuenta", "stop");
    const [before] = messages.at(-1)?.role === "user" ? messages.slice(-2, -1) : [];
    const written =
      before?.role === "assistant" && /se cortó/.test(text(messages.at(-1)?.content)) ? text(before.content) : "";
    count(response, written);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  function count(response: ServerResponse, written: string): void {
    const rest = counted.slice(written.length);
    // A text that was cut in the middle of a number goes on with its other half.
    const pieces: string[] = rest.match(/\s?\d+/g) ?? [];
    const timer = setInterval(() => {
      const piece = pieces.shift();
      if (piece !== undefined) return say(response, piece);
      clearInterval(timer);
      say(response, "", "stop");
    }, numberEvery);
    response.once("close", () => clearInterval(timer));
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const text = (content: unknown): string =>
  typeof content === "string" ? content : ((content as { text?: string }[])[0]?.text ?? "");

function say(response: ServerResponse, content: string, finish: "stop" | null = null): void {
  const choices = [{ index: 0, delta: { content }, finish_reason: finish }];
  response.write(
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "cuenta", choices })}\n\n`,
  );
  if (finish) response.end("data: [DONE]\n\n");
}
