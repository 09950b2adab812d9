import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { Browser } from "../support/browser.ts";
import { sharedEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

const token = "dieciseis-letras-y-mas";
let mock: LLMock;
beforeAll(async () => {
  mock = await startModelServer();
});
afterAll(() => mock.stop());

const read = async ({ url }: TestServer, given = token) =>
  fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${given}` } });
const model = () => ({ OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });

it("serves metrics by route and model only with the token", async () => {
  const server = await startServer({ ...model(), METRICS_TOKEN: token });
  onTestFinished(() => server.stop());
  const browser = new Browser(server.url);
  await browser.signUp();
  const chat = await browser.say("Una pregunta");
  await browser.html(chat);
  expect((await read(server, "otra cosa cualquiera")).status).toBe(401);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  const answer = await read(server);
  expect(answer.headers.get("Content-Type")).toContain("text/plain; version=0.0.4");
  const text = await answer.text();
  expect(text).toMatch(
    /tertulia_request_seconds_count\{method="GET",route="\/conversation\/chat\/:id",status="200"\} \d/,
  );
  expect(text).toMatch(/tertulia_replies_total\{model="[^"]+",status="complete"\} 1/);
  expect(text).toMatch(/tertulia_reply_first_token_seconds_count\{model="[^"]+"\} 1/);
  expect(text).toMatch(/tertulia_tokens_total\{model="[^"]+",kind="output"\} [1-9]/);
  expect(text).toContain("tertulia_replies_running 0");
  expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds \d/);
  expect(text).not.toContain(chat.split("/").at(-1));
  // The API as programs call it, too.
  await fetch(`${server.url}/v1/api/chat/${crypto.randomUUID()}`);
  expect(await (await read(server)).text()).toContain('route="/v1/api/chat/:id",status="401"');
});

it("without a token there is nothing to read", async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  expect((await read(server)).status).toBe(404);
});

it("passes the trace id to the model and the log", async () => {
  const seen: (string | undefined)[] = [];
  const provider = createServer((request, response) => {
    seen.push(request.headers.traceparent as string | undefined);
    response.writeHead(500).end();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void provider.close());
  await once(provider, "listening");
  const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const server = await startServer({ OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: "clave" });
  onTestFinished(() => server.stop());
  const email = "ana@ejemplo.es";
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ name: "Ana", email, password: "una frase larga y rara" });
  const session = await (await fetch(`${server.url}/v1/auth/signup`, { method: "POST", headers, body })).text();
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const signed = { ...headers, Authorization: `Bearer ${session}` };
  const created = await fetch(`${server.url}/v1/api/model`, {
    method: "POST",
    headers: signed,
    body: JSON.stringify({
      name: "m",
      provider: "openai-compatible",
      externalId: "m",
      baseUrl: `${address}/v1`,
      isDefault: true,
    }),
  });
  expect(created.status).toBe(201);
  seen.length = 0;
  const answer = await fetch(`${server.url}/v1/api/intelligence/conversation`, {
    method: "POST",
    headers: { ...signed, traceparent: `00-${trace}-b7ad6b7169203331-01` },
    body: JSON.stringify({ content: "Hola" }),
  });
  await answer.text();
  expect(seen.at(-1)).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  expect(seen.at(-1)).not.toContain("b7ad6b7169203331");
  const id = answer.headers.get("X-Request-Id") ?? "";
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  await vi.waitFor(() =>
    expect(server.printed()).toMatch(new RegExp(`"requestId":"${id}","traceId":"${trace}".*respuesta fallida`)),
  );
});

const shared = await sharedEngines();

it.each(shared)("sums metrics of all processes, whichever is asked, on $name", async (engine) => {
  const database = await engine.open();
  const server = await startServer({ ...model(), METRICS_TOKEN: token, PROCESSES: "2", DATABASE_URL: database.url });
  onTestFinished(async () => {
    await server.stop();
    await database.drop();
  });
  const asked = 40;
  for (let n = 0; n < asked; n++) await (await fetch(`${server.url}/v1/auth/options`)).text();
  const count = async () => {
    const text = await (await read(server)).text();
    return Number(
      /tertulia_request_seconds_count\{method="GET",route="\/v1\/auth\/options",status="200"\} (\d+)/.exec(text)?.[1],
    );
  };
  for (let n = 0; n < 4; n++) expect(await count()).toBe(asked);
  expect(await (await read(server)).text()).toMatch(/tertulia_pool_connections [1-9]/);
});
