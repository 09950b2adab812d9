// Cost of tools: `npm run bench -- tools`. A call of a server beside the bare call, and a reply that offers a hundred tools beside one that
// offers none, and one of somebody with a hundred skills, in one run.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { startScriptedModel, steps } from "../support/tool-servers.ts";

// Few enough for the rate limit: each series is somebody else's.
const rounds = 20;
const tools = 100;
const skills = 100;

const model = await startScriptedModel();
const server = await startTools();
const api = await openApi(sqlite);
const person = await api.signUp("Admin");
const make = async (path: string, json: object) =>
  ((await api.call("POST", path, { token: person.token, json })).body as { id: string }).id;
const common = { provider: "openai-compatible", externalId: "x", baseUrl: `${model.url}/v1` };
const plain = await make("/api/model", { ...common, name: "sin" });
const using = await make("/api/model", { ...common, name: "con", usesTools: true });
const { items } = (await api.call("GET", "/api/tool", { token: person.token })).body as { items: { id: string }[] };
for (const { id } of items) await api.call("DELETE", `/api/tool/${id}`, { token: person.token });

const bare = await times(() => fetch(server.url, { method: "POST", body: call(1) }).then((answer) => answer.text()));
const say = async (content: string, modelId: string, { token } = { token: "" }) => {
  if (!token) ({ token } = await api.signUp());
  return () => api.converse(token, { content, modelId });
};
const without = await times(await say("Hola", plain));
const none = await times(await say("Hola", using));
const skilled = await api.signUp();
for (let n = 0; n < skills; n++) {
  const description = `Cómo se hace el trámite ${n}. Úsalo cuando pregunten por él, por sus plazos o por lo que hay que traer.`;
  const json = { name: `tramite-${n}`, description, content: "# Trámite\n\n1. Pedirlo.\n2. Traerlo.\n".repeat(100) };
  const { status, text } = await api.call("POST", "/api/skill", { token: skilled.token, json });
  if (status !== 201) throw new Error(text);
}
const withSkills = await times(await say("Hola", using, skilled));
await make("/api/tool", { name: "muchas", kind: "mcp", address: server.url });
const offered = await times(await say("Hola", using));
const called: number[] = [];
const content = steps([[{ name: "muchas_t0", input: {} }]], "Ya.");
const calls = await say(content, using);
await times(async () => {
  const chunks = await calls();
  const end = chunks.find((chunk) => chunk.type === "part-end");
  if (end?.type === "part-end" && end.ms !== null) called.push(end.ms);
});

// How long the thread is held while a server floods one call, beside a call that is answered.
const { token: flooded } = await api.signUp();
const heldBy = async (floods: boolean) => {
  server.flood(floods);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await api.converse(flooded, { content, modelId: using });
  delay.disable();
  return delay.max / 1e6;
};
const calm: number[] = [];
const storm: number[] = [];
for (let n = 0; n < 8; n++) {
  calm.push(await heldBy(false));
  storm.push(await heldBy(true));
}

const row = (name: string, values: number[]) =>
  console.log(
    `${name.padEnd(52)} ${median(values).toFixed(1).padStart(7)} ms  ${at(values, 0.95).toFixed(1).padStart(7)} ms`,
  );
console.log(`${"".padEnd(52)}     p50         p95`);
row("llamada directa a la herramienta (suelo)", bare);
row("la misma, desde una respuesta", called);
row("respuesta de un modelo que no usa herramientas", without);
row("de uno que las usa, sin ninguna", none);
row(`lo mismo, de quien tiene ${skills} oficios`, withSkills);
row(`de uno que las usa, con ${tools}`, offered);
row("lo que el hilo se retiene con una llamada", calm);
row("lo mismo, si su servidor manda mensajes sin parar", storm);

await api.close();
await model.stop();
server.stop();
process.exit(0);

async function times(work: () => Promise<unknown>): Promise<number[]> {
  for (let n = 0; n < 5; n++) await work();
  const taken: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const begun = performance.now();
    await work();
    taken.push(performance.now() - begun);
  }
  return taken;
}

function at(values: number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

function median(values: number[]): number {
  return at(values, 0.5);
}

function call(id: number): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "t0", arguments: {} } });
}

/** A server of a hundred tools that answers at once. */
async function startTools() {
  const list = Array.from({ length: tools }, (_, n) => ({
    name: `t${n}`,
    description: `Does the thing number ${n}, as its name says, with whatever it is given.`,
    inputSchema: {
      type: "object",
      properties: { what: { type: "string", description: "What to do it with" }, times: { type: "integer" } },
    },
    annotations: { readOnlyHint: true },
  }));
  let floods = false;
  const note =
    'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n';
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      },
      "tools/list": { tools: list },
      "tools/call": { content: [{ type: "text", text: "ok" }] },
    };
    if (id === undefined) return void response.writeHead(202).end();
    if (floods && method === "tools/call") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      const gone = once(response, "close");
      while (!response.destroyed)
        if (!response.write(note.repeat(100))) await Promise.race([once(response, "drain"), gone]);
      return;
    }
    const result = results[method];
    const said = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    flood(does: boolean) {
      floods = does;
    },
    stop: () => http.close(),
  };
}
