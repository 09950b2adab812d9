import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A step of an order: a call, or what the model says in the end. `{secreto}` stands for what it knows. */
export type Step = { tool: string; input: Record<string, unknown> } | { say: string };

/** By the word that gives them, as `ORDEN-7`: whoever writes it anywhere in a prompt is obeyed. */
export const orders = new Map<string, Step[]>();

type Message = { role: string; content?: unknown; tool_calls?: { id: string }[] };
type Asked = { messages: Message[]; tools?: { function: { name: string } }[] };

/** The order that a model reads in the pictures of a prompt: they are not read here. */
export const inPictures = { order: "" };

/**
 * A model server, of OpenAI's format, that obeys every order in its prompt, whoever has given it: in messages, results and
 * descriptions of tools, names of files, pictures. The newest first; each step once.
 */
export async function startObedientModel() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { messages, tools = [] } = JSON.parse(body) as Asked;
    const said = body.includes("image_url") ? `${body} ${inPictures.order}` : body;
    const given = [...new Set(said.match(/ORDEN-\d+/g) ?? [])].reverse();
    const secret = /la clave es (\w+)/.exec(body)?.[1] ?? "nada";
    const done = new Set(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
    const filled = (text: string) => text.replaceAll("{secreto}", secret);
    const words: string[] = [];
    for (const order of given) {
      for (const [n, step] of (orders.get(order) ?? []).entries()) {
        if ("say" in step) {
          words.push(filled(step.say));
          continue;
        }
        const id = `${order}-${n}`;
        const tool = tools.find(({ function: { name } }) => name === step.tool || name.endsWith(`_${step.tool}`));
        if (!tool || done.has(id)) continue;
        const call = { name: tool.function.name, arguments: filled(JSON.stringify(step.input)) };
        return answer(response, { tool_calls: [{ index: 0, id, type: "function", function: call }] }, "tool_calls");
      }
    }
    answer(response, { content: words.join("\n\n") || "De acuerdo." }, "stop");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, stop: () => server.close() };
}

function answer(response: import("node:http").ServerResponse, delta: object, finish_reason: string): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const choice of [{ delta }, { delta: {}, finish_reason }]) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}
