import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type FixtureOpts, LLMock } from "@copilotkit/aimock";

export const longReply = Array.from(
  { length: 40 },
  (_, line) => `Frase número ${line + 1} de la respuesta larga.`,
).join(" ");

export const longThought = Array.from({ length: 12 }, (_, step) => `Paso ${step + 1} de lo que pienso.`).join(" ");

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

/** A model server of OpenAI's and Anthropic's kind. The answer depends on a word in the message. */
export async function startModelServer(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, chunkSize: 8 });
  const title = /Pon título/;
  mock.on({ systemMessage: title }, { content: "Charla de prueba" });
  mock.on(
    { systemMessage: /Alguien busca en sus documentos/ },
    { content: "1. Fianza que entrega el arrendatario\n- «depósito en garantía»\nlease deposit\nuna más" },
  );
  // Calls a tool for two cities at once, then says what came of it.
  const asks = (city: string) => ({ name: "tiempo", arguments: JSON.stringify({ ciudad: city }) });
  mock.on({ userMessage: /qué tiempo/, hasToolResult: true }, { content: "En Vigo llueve." });
  mock.onMessage(/qué tiempo/, { toolCalls: [asks("Vigo"), asks("Almería 🌞")] }, { chunkSize: 4 });
  // Two seconds: what a page shows before its end can be seen on a busy machine, too.
  mock.onMessage(/con formato/, { content: formattedReply }, { ...slow, streamingProfile: { ttft: 20, tps: 12 } });
  // For browsers that are slow themselves.
  mock.onMessage(/pausada/, { content: longReply }, { ...slow, streamingProfile: { ttft: 20, tps: 12 } });
  const endless = `${longThought} `.repeat(30);
  mock.onMessage(
    /que pienses mucho/,
    {
      content: "Son muchas.",
      reasoning: `${endless}Y el último paso.`,
    },
    { chunkSize: 500 },
  );
  // Thinks for as long as it takes a busy machine to stop it.
  mock.onMessage(
    /que pienses despacio/,
    { content: "Son **cuarenta y dos**.", reasoning: longThought },
    { ...slow, streamingProfile: { ttft: 20, tps: 0.5 } },
  );
  // Thinks for some seconds, then writes.
  mock.onMessage(
    /que pienses/,
    { content: "Son **cuarenta y dos**. Lo he contado.", reasoning: longThought },
    { ...slow, streamingProfile: { ttft: 20, tps: 15 } },
  );
  mock.onMessage(/lenta/, { content: longReply }, slow);
  mock.onMessage(/rapidísima/, { content: longReply }, { chunkSize: 2, streamingProfile: { ttft: 20, tps: 250 } });
  mock.onMessage(/cortada/, { content: longReply }, { ...slow, truncateAfterChunks: 6 });
  mock.onMessage(/error 401/, { error: { message: "Incorrect API key" }, status: 401 });
  mock.onMessage(/error 429/, { error: { message: "Slow down" }, status: 429, retryAfter: 7 });
  mock.onMessage(/error 500/, { error: { message: "Internal" }, status: 500 });
  // Continuations start after a second: simultaneous requests find the reply still running, even on a busy machine.
  mock.onMessage(/se cortó/, { content: " Y aquí sigue." }, { streamingProfile: { ttft: 1000, tps: 40 } });
  mock.onMessage(/.*/, { content: "Una respuesta **breve**. Con dos frases." });
  await mock.start();
  return mock;
}

/** A proxy that keeps request bodies as they were sent; the mock converts those of all protocols to one format. */
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
  const attempts = new Map<string, number>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const [, kind = ""] = /hostil: (\w+)/.exec(body) ?? [];
    const attempt = (attempts.get(kind) ?? 0) + 1;
    attempts.set(kind, attempt);
    hostile[kind]?.(response, attempt, body);
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

const deltaOf = (delta: object) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "x", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const delta = (content: string) => deltaOf({ content });
const thought = (text: string) => deltaOf({ reasoning_content: text });

const ended = (reason: string, delta: object = {}) =>
  `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\ndata: [DONE]\n\n`;

function refuse(response: ServerResponse, status: number, error: object) {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify({ error }));
}

const hostile: Record<string, (response: ServerResponse, attempt: number, body: string) => void> = {
  // Other questions to it: a summary, a title.
  "": (response) => {
    begin(response).end(delta("Unas palabras.") + finish);
  },
  // llama.cpp's error for a window of 1,000 tokens. As in vLLM, `max_tokens` counts towards the window, too.
  larga: (response, _attempt, body) => {
    const { max_tokens: most } = JSON.parse(body) as { max_tokens: number };
    if (body.length < 6000 && most <= 500) begin(response).end(delta("Ahora cabe.") + finish);
    else
      refuse(response, 400, {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 5000,
        n_ctx: 1000,
      });
  },
  larguisima: (response) =>
    refuse(response, 400, {
      message: "This model's maximum context length is 10 tokens.",
      code: "context_length_exceeded",
    }),
  // Ollama's error for a model that knows no tools.
  sinherramientas: (response, _attempt, body) => {
    if (!body.includes('"tools":')) begin(response).end(delta("Sin herramientas.") + finish);
    else refuse(response, 400, { message: "registry.ollama.ai/library/gemma3:4b does not support tools" });
  },
  cargando: (response, attempt) => {
    if (attempt > 1) begin(response).end(delta("Ya está cargado.") + finish);
    else refuse(response, 503, { code: 503, message: "Loading model", type: "unavailable_error" });
  },
  comentarios: (response) => {
    begin(response);
    let sent = 0;
    // Longer than a model may be silent.
    const timer = setInterval(() => {
      if (++sent < 8) return response.write(": OPENROUTER PROCESSING\n\n");
      clearInterval(timer);
      return response.end(delta("Tras mucho pensar.") + finish);
    }, 400);
  },
  piensa: (response) => {
    const pieces = ["<th", "ink>Primero ", "pienso.</thi", "nk>", "\n\n", "Y luego ", "digo <think> tal cual."];
    begin(response).end(pieces.map(delta).join("") + finish);
  },
  desordenada: (response) => {
    begin(response).end(thought("Uno.") + delta("Dos. ") + thought("Tres.") + delta("Cuatro.") + finish);
  },
  openrouter: (response) => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 9,
      total_tokens: 14,
      completion_tokens_details: { reasoning_tokens: 6 },
    };
    const counted = `data: ${JSON.stringify({ id: "1", choices: [], usage })}\n\n`;
    const stop = finish.replace("data: [DONE]\n\n", "");
    begin(response).end(`${deltaOf({ reasoning: "Pienso." })}${delta("Digo.")}${stop}${counted}data: [DONE]\n\n`);
  },
  enorme: (response) => {
    begin(response);
    for (let n = 0; n < 12; n++) response.write(thought("pienso que ".repeat(10_000)));
    response.end(delta("Fin.") + finish);
  },
  partida: (response) => {
    begin(response).end(
      thought("\ud83d") + thought("\ude00") + delta("Ya \ud83d") + delta("\ude00. Y \udc00.") + finish,
    );
  },
  sinabrir: (response) => {
    const pieces = ["Pienso sin ", "abrir.\n</th", "ink>\n", "\nY ahora ", "digo."];
    begin(response).end(pieces.map(delta).join("") + finish);
  },
  muda: (response) => {
    begin(response).end(thought("Pienso y callo.") + finish);
  },
  agotada: (response) => {
    begin(response).end(delta("<think>Pienso y pienso") + ended("length"));
  },
  filtrada: (response) => {
    begin(response).end(ended("content_filter"));
  },
  herramienta: (response) => {
    const call = { index: 0, id: "c1", type: "function", function: { name: "buscar", arguments: "{}" } };
    begin(response).end(ended("tool_calls", { tool_calls: [call] }));
  },
  entera: (response) => {
    const message = { role: "assistant", content: "De una pieza." };
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    const whole = { id: "1", object: "chat.completion", created: 1, model: "x", usage };
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(JSON.stringify({ ...whole, choices: [{ index: 0, message, finish_reason: "stop" }] }));
  },
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
