import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { says, startWritingModel } from "../support/writing-model.ts";

let server: TestServer;
let models: Awaited<ReturnType<typeof startWritingModel>>;
let ana: Browser;
beforeAll(async () => {
  models = await startWritingModel();
  server = await startServer({ OPENAI_BASE_URL: models.url });
  ana = new Browser(server.url);
  await ana.signUp("Ana");
});
afterAll(async () => {
  await server.stop();
  models.stop();
});

const flow = "```mermaid\ngraph TD\nA[Solicitud] --> B[Alta]\n```\n";
const text = `Así es:\n\n${flow}\nY esto no se entiende:\n\n\`\`\`dot\ndigraph { a ->\n\`\`\`\n${"Sigue. ".repeat(60)}`;
let chat: string;

const whole = async () => {
  await expect.poll(async () => readable(await ana.html(chat))).toContain("Regenerar");
  return ana.html(chat);
};

it("is a picture while the reply still grows, without script", async () => {
  const letGo = models.hold();
  chat = await ana.say(says(text));
  const growing = await ana.beginningOf(chat, "<img");
  const address = /<img src="(\/conversation\/dibujo\/[^"]+)"/.exec(growing)?.[1] ?? "";
  const answer = await ana.fetch(address);
  letGo();
  expect(answer.headers.get("Content-Type")).toContain("image/svg+xml");
  expect(answer.headers.get("Content-Security-Policy")).toContain("sandbox");
  expect(await answer.text()).toContain("Solicitud");
});

it("is an image with alternative text, or an error message", async () => {
  const html = await whole();
  expect(html).toMatch(/<img src="[^"]+" alt="Dibujo: [^"]*Solicitud[^"]*" width="\d+" height="\d+"\/?>/);
  expect(html.match(/<figure class="drawing">/g)).toHaveLength(1);
  expect(readable(html)).toContain("No se entiende como DOT");
  const light = await (await ana.fetch(chat, { headers: { "Save-Data": "on" } })).text();
  expect(light).not.toContain("<img");
  expect(readable(light)).toMatch(/Ver el dibujo \(SVG, \d kB\)/);
});

it("is private, but included in shared links and printed pages", async () => {
  const address = /<img src="(\/conversation\/dibujo\/[^"]+)"/.exec(await whole())?.[1] ?? "";
  const luis = new Browser(server.url);
  await luis.signUp("Luis");
  expect((await luis.fetch(address)).status).toBe(404);
  expect((await ana.fetch(`${address}0`)).status).toBe(404);
  // A browser asks each time: what is taken away is not shown from its store.
  const { headers } = await ana.fetch(address);
  expect(headers.get("Cache-Control")).toBe("private, no-cache");
  const again = await ana.fetch(address, { headers: { "If-None-Match": headers.get("ETag") ?? "" } });
  expect(again.status).toBe(304);
  expect(await ana.html(`${chat}/imprimir`)).toContain(address);
  await ana.submit(`${chat}/compartir`, `${chat}/compartir`, {});
  const shared = /\/compartido\/[\w-]+/.exec(await ana.html(`${chat}/compartir`))?.[0] ?? "";
  const stranger = new Browser(server.url);
  const picture = /<img src="(\/compartido\/[^"]+\/dibujo\/[^"]+)"/.exec(await stranger.html(shared))?.[1] ?? "";
  expect(await (await stranger.fetch(picture)).text()).toContain("Solicitud");
});

it("is what an artifact of such a language shows", async () => {
  const fields = { title: "Circuito", kind: "code", language: "mermaid", text: "graph TD\nA[Solicitud] --> B[Alta]" };
  const page = (await ana.change("/conversation/escrito/crear", fields)).headers.get("Location") ?? "";
  const address = /<img src="([^"]+)"/.exec(await ana.html(page))?.[1] ?? "";
  expect(address).toContain(`${page}/dibujo/1/`);
  expect(await (await ana.fetch(address)).text()).toContain("Solicitud");
});
