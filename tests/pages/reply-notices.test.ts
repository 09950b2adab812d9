import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, readable, unescapeHtml } from "../support/browser.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
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

/** Presses «Avísame» as often as told, all on the page as it was before. */
async function ask(browser: Browser, path: string, times = 1): Promise<Response | undefined> {
  const html = await browser.beginningOf(path, "Frase");
  const action = /<form class="notify"[^>]* action="([^"]+)"/.exec(html)?.[1] ?? "";
  const formToken = /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? "";
  let answer: Response | undefined;
  for (let n = 0; n < times; n++) answer = await browser.post(action, { formToken, intent: "notify" });
  return answer;
}

it("sends one e-mail about a finished reply despite repeated requests", async () => {
  const browser = new Browser(server.url);
  const email = await browser.signUp();
  const chat = await browser.say("Una respuesta lenta");
  const answer = await ask(browser, chat, 2);
  expect(answer?.headers.get("Location")).toBe(chat);
  const growing = await browser.beginningOf(chat, "Frase");
  expect(growing).toContain("Te llegará un correo cuando la respuesta esté.");
  // It stays said, in the place of the button.
  expect(growing).toContain("Te llegará un correo cuando esté.");
  expect(growing).not.toContain('value="notify"');
  const received = await mail.nextTo(email);
  expect(received).toContain(server.url + chat);
  expect(received).toContain("ya est=C3=A1");
  expect(received).toContain("inteligencia artificial");
  const page = await browser.html(chat);
  expect(page).toContain('data-role="assistant" data-status="complete"');
  expect(readable(page)).not.toContain("Avísame");
  expect(mail.received).toEqual([]);
});

it("an e-mail about a stopped reply says it is incomplete", async () => {
  const browser = new Browser(server.url);
  const email = await browser.signUp();
  const chat = await browser.say("Una respuesta lenta");
  await ask(browser, chat);
  const html = await browser.beginningOf(chat, "Frase");
  const stop = /<form id="detener"[^>]* action="([^"]+)"/.exec(html)?.[1] ?? "";
  const formToken = /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? "";
  await browser.post(stop, { formToken, intent: "stop" });
  expect(await mail.nextTo(email)).toContain("se ha quedado a medias");
});

it("nobody asks about somebody else's reply", async () => {
  const [ana, berta] = [new Browser(server.url), new Browser(server.url)];
  await ana.signUp();
  const email = await berta.signUp("Berta");
  const html = await ana.beginningOf(await ana.say("Una respuesta lenta"), "Frase");
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
  expect(await browser.beginningOf(await browser.say("Una respuesta lenta"), "Frase")).not.toContain('class="notify"');
  await silent.stop();
});

describe("the feed of somebody's replies", () => {
  /** Makes the address on the page of the account, as often as asked, and answers it. */
  const address = async (browser: Browser): Promise<string> => {
    const answer = await browser.submit("/user/avisos", "/user/canal", { intent: "renew" });
    const page = await (await browser.follow(answer)).text();
    return /<code[^>]*>[^<]*(\/canal\/[\w-]+)<\/code>/.exec(page)?.[1] ?? "";
  };
  const entriesOf = (xml: string) => [...xml.matchAll(/<entry>.*?<\/entry>/gs)].map(([entry]) => entry);

  it("shows the last reply of each conversation without a session", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const path = await address(browser);
    const chat = await browser.say("Di algo de <b>R&D</b>");
    await expect.poll(() => browser.html(chat)).toContain('data-role="assistant" data-status="complete"');
    const stranger = new Browser(server.url);
    const answer = await stranger.fetch(path);
    expect(answer.headers.get("Content-Type")).toBe("application/atom+xml; charset=utf-8");
    const xml = await answer.text();
    const [entry = "", ...more] = entriesOf(xml);
    expect(more).toEqual([]);
    expect(entry).toContain(`<link href="${server.url}${chat}"/>`);
    const content = unescapeHtml(/<content type="html">(.*)<\/content>/s.exec(entry)?.[1] ?? "");
    expect(content).toContain("<p>Una respuesta <strong>breve</strong>. Con dos frases.</p>");
    const again = await stranger.fetch(path, { headers: { "If-None-Match": answer.headers.get("ETag") ?? "" } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it("omits temporary conversations and replies still being written", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const path = await address(browser);
    await browser.submit("/conversation/chat", "/conversation/chat", { content: "Hola", temporary: "1" });
    await browser.say("Una respuesta lenta");
    expect(entriesOf(await browser.html(path))).toEqual([]);
  });

  it("loses its address when renewed, deleted, or the password changes", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const first = await address(browser);
    const second = await address(browser);
    expect(second).not.toBe(first);
    expect((await browser.fetch(first)).status).toBe(404);
    expect((await browser.fetch(second)).status).toBe(200);
    await browser.submit("/user/avisos", "/user/canal", { intent: "end" });
    expect((await browser.fetch(second)).status).toBe(404);
    const third = await address(browser);
    const changed = { currentPassword: password, password: "otra frase larga y rara" };
    expect((await browser.change("/user/seguridad/contrasena", changed)).status).toBe(303);
    expect((await browser.fetch(third)).status).toBe(404);
  });

  it("limits how often a reader may fetch the feed", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const path = await address(browser);
    const answers = await Promise.all(Array.from({ length: 61 }, () => browser.fetch(path)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    expect(Number(refused[0]?.headers.get("Retry-After"))).toBeGreaterThan(0);
  });
});
