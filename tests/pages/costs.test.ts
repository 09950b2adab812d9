import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startUpstream, streamed } from "../support/doors.ts";
import { startServer, type TestServer } from "../support/server.ts";

const usage = { prompt_tokens: 2_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 1_500 } };
const end = `data: ${JSON.stringify({ id: "1", choices: [], usage })}\n\ndata: [DONE]\n\n`;
let server: TestServer;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let admin: Browser;
let ana: Browser;
beforeAll(async () => {
  upstream = await startUpstream(() => ({ body: streamed("Sí.").replace("data: [DONE]\n\n", end) }));
  server = await startServer();
  admin = new Browser(server.url);
  await admin.signUp("Admin");
  ana = new Browser(server.url);
  await ana.signUp("Ana");
});
afterAll(async () => {
  await server.stop();
  upstream.stop();
});

it("shows the cost of each reply, month and conversation", async () => {
  expect(readable(await ana.html("/user"))).not.toContain("Coste");
  const model = { name: "Caro", provider: "openai-compatible", externalId: "caro", baseUrl: `${upstream.url}/v1` };
  const prices = { inputPrice: "10", cachedPrice: "1", outputPrice: "5" };
  await admin.change("/admin/model/crear", { ...model, ...prices, isDefault: "true" });
  const chat = await ana.say("¿Cuánto cuestas?");
  const [sent = ""] = /\/conversation\/chat\/[\w-]{36}\/enviado\/[\w-]{36}/.exec(await ana.html(chat)) ?? [];
  // 500 at 10, 1,500 at 1, 100 at 5, for a million.
  expect(readable(await ana.html(sent))).toContain(
    "2000 tokens de entrada (1500 los tenía ya guardados) y 100 de salida. Ha costado 0,007.",
  );
  const account = readable(await ana.html("/user"));
  expect(account).toMatch(/Coste [A-Z][a-záéíóú]+ de \d{4} 0,0\d+ \( ?[\d.]+ tokens ?\)/);
  expect(account).toMatch(/Las conversaciones que más han costado este mes .+ una respuesta 0,007/);
});
