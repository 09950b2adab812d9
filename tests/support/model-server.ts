import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type FixtureOpts, LLMock } from "@copilotkit/aimock";

export const longReply = Array.from(
  { length: 40 },
  (_, line) => `Frase número ${line + 1} de la respuesta larga.`,
).join(" ");

const formattedReply = `## Un título

Una frase con **negrita**. Otra con \`código\` y [un enlace](https://ejemplo.es).

- uno
- dos
  - dentro

| Fruta | Kilos |
|---|--:|
| Pera | 3 |

\`\`\`python
print("hola")  # saluda
\`\`\`

La suma es $a^2 + b^2$.`;

const slow: FixtureOpts = { chunkSize: 12, streamingProfile: { ttft: 20, tps: 40 } };

/** A model server of OpenAI's and Anthropic's kind. What it answers depends on a word in the message. */
export async function startModelServer(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, chunkSize: 8 });
  const title = /Pon título/;
  mock.on({ systemMessage: title }, { content: "Charla de prueba" });
  // Two seconds: what a page shows before its end can be seen on a busy machine, too.
  mock.onMessage(/con formato/, { content: formattedReply }, { ...slow, streamingProfile: { ttft: 20, tps: 12 } });
  // For browsers that are slow themselves.
  mock.onMessage(/pausada/, { content: longReply }, { ...slow, streamingProfile: { ttft: 20, tps: 12 } });
  mock.onMessage(/lenta/, { content: longReply }, slow);
  mock.onMessage(/cortada/, { content: longReply }, { ...slow, truncateAfterChunks: 6 });
  mock.onMessage(/error 401/, { error: { message: "Incorrect API key" }, status: 401 });
  mock.onMessage(/error 429/, { error: { message: "Slow down" }, status: 429, retryAfter: 7 });
  mock.onMessage(/error 500/, { error: { message: "Internal" }, status: 500 });
  // Not over before those who ask at the same moment have been answered, on a busy machine either.
  mock.onMessage(/se cortó/, { content: " Y aquí sigue." }, { streamingProfile: { ttft: 1000, tps: 40 } });
  mock.onMessage(/.*/, { content: "Una respuesta **breve**. Con dos frases." });
  await mock.start();
  return mock;
}

/** Stands before a model server and keeps what was sent to it, as it was on the wire: the mock keeps it in one form for all. */
export async function startRecorder(target: string): Promise<{ url: string; bodies: string[]; stop(): void }> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    bodies.push(body);
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${target}${request.url}`, { method: "POST", headers, body });
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("Content-Type") ?? "" });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, bodies, stop: () => server.close() };
}

/** A server that speaks OpenAI's protocol badly, in the way that the message asks for. */
export async function startHostileServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const [, kind = ""] = /hostil: (\w+)/.exec(body) ?? [];
    hostile[kind]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const delta = (content: string) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "x", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

const hostile: Record<string, (response: ServerResponse) => void> = {
  nada: () => {},
  vacia: (response) => {
    begin(response).end(delta("") + finish);
  },
  media: (response) => {
    begin(response).write(`${delta("La mitad")}data: {"id":"1","choices":[{"ind`);
    response.socket?.end();
  },
  basura: (response) => {
    begin(response).end("<html><body>502 Bad Gateway</body></html>");
  },
  mezcla: (response) => {
    begin(response).end(`${delta("Algo de texto")}data: esto no es JSON\n\n${finish}`);
  },
  infinita: (response) => {
    begin(response);
    const more = () => {
      while (!response.destroyed && response.write(delta("palabra ".repeat(2000)))) {}
    };
    response.on("drain", more);
    more();
  },
  redirige: (response) => {
    response.writeHead(307, { Location: "http://127.0.0.1:9/" }).end();
  },
  rara: (response) => {
    const odd = { id: "1", choices: [{ index: 0, delta: { role: "assistant", content: null }, finish_reason: null }] };
    begin(response).end(
      `data: ${JSON.stringify(odd)}\n\n${delta("Texto con \uFFFD.")}${finish}data: {"id":"1","choices":[]}\n\ndata: [DONE]\n\n`,
    );
  },
};

const finish = `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`;

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "Content-Type": "text/event-stream" });
}
