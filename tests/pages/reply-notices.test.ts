import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let mail: MailServer;
let server: TestServer;
beforeAll(async () => {
  [models, mail] = await Promise.all([startModelServer(), startMailServer()]);
  const env = { OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave", MAIL_TO: "casa@ejemplo.es" };
  const PORT = String(await freePort());
  server = await startServer({ ...env, PORT, SMTP_URL: mail.url, PUBLIC_URL: `http://127.0.0.1:${PORT}` });
});
afterAll(async () => {
  await server.stop();
  await Promise.all([models.stop(), mail.stop()]);
});

/** The page of a reply that is being written, as far as it has come: nobody waits for its end. */
async function begun(browser: Browser, path: string): Promise<string> {
  const page = await browser.fetch(path);
  const reader = page.body?.pipeThrough(new TextDecoderStream()).getReader();
  let html = "";
  while (!html.includes("Frase")) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`the page has ended: ${html}`);
    html += value;
  }
  await reader?.cancel();
  return html;
}

const ask = async (browser: Browser, path: string) => {
  const html = await begun(browser, path);
  const action = /<form class="notify"[^>]* action="([^"]+)"/.exec(html)?.[1] ?? "";
  const formToken = /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? "";
  return browser.post(action, { formToken, intent: "notify" });
};

it("who asks and leaves gets one e-mail once the reply is there, however often they asked", async () => {
  const browser = new Browser(server.url);
  const email = await browser.signUp();
  const chat = await browser.say("Una respuesta lenta");
  const answer = await ask(browser, chat);
  expect(answer.headers.get("Location")).toBe(chat);
  await ask(browser, chat);
  expect(await begun(browser, chat)).toContain("Te llegará un correo cuando la respuesta esté.");
  const received = await mail.nextTo(email);
  expect(received).toContain(server.url + chat);
  expect(received).toContain("ya est=C3=A1");
  const page = await browser.html(chat);
  expect(page).toContain('data-role="assistant" data-status="complete"');
  expect(readable(page)).not.toContain("Avísame");
  expect(mail.received).toEqual([]);
});

it("who stops the reply is told that it is half done", async () => {
  const browser = new Browser(server.url);
  const email = await browser.signUp();
  const chat = await browser.say("Una respuesta lenta");
  await ask(browser, chat);
  const html = await begun(browser, chat);
  const stop = /<form id="detener"[^>]* action="([^"]+)"/.exec(html)?.[1] ?? "";
  const formToken = /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? "";
  await browser.post(stop, { formToken, intent: "stop" });
  expect(await mail.nextTo(email)).toContain("se ha quedado a medias");
});

it("nobody asks about somebody else's reply", async () => {
  const [ana, berta] = [new Browser(server.url), new Browser(server.url)];
  await ana.signUp();
  const email = await berta.signUp("Berta");
  const html = await begun(ana, await ana.say("Una respuesta lenta"));
  const action = /<form class="notify"[^>]* action="([^"]+)"/.exec(html)?.[1] ?? "";
  const answer = await berta.submit("/conversation/chat", "/conversation/chat", { content: "Hola" });
  const own = await berta.html(answer.headers.get("Location") ?? "");
  const formToken = /name="formToken" value="([^"]+)"/.exec(own)?.[1] ?? "";
  expect((await berta.post(action, { formToken, intent: "notify" })).status).toBe(404);
  expect(mail.received.filter((message) => message.includes(email))).toEqual([]);
});

it("where no e-mail is sent, none is offered", async () => {
  const silent = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  const browser = new Browser(silent.url);
  await browser.signUp();
  expect(await begun(browser, await browser.say("Una respuesta lenta"))).not.toContain('class="notify"');
  await silent.stop();
});
