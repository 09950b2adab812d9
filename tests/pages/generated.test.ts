import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../app/process/config.server.ts";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

const notice = "Habla con una máquina & compruebe lo que dice.";
const generated = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";

let server: TestServer;
let browser: Browser;
let chat: string;
beforeAll(async () => {
  server = await startServer({ AI_NOTICE: notice });
  browser = new Browser(server.url);
  await browser.signUp();
  chat = await browser.say("Un saludo");
});
afterAll(() => server.stop());

/** Roles of the messages on a page that are marked as made by a model. */
const marked = (html: string) =>
  [...html.matchAll(/<article[^>]*data-digital-source-type="([^"]*)"[^>]*>/g)].map(([, source]) => source);

it("a chat page shows the configured notice about AI answers", async () => {
  expect(readable(await browser.html("/conversation/chat"))).toContain(notice);
  const page = await browser.html(chat);
  expect(readable(page)).toContain(notice);
  expect(marked(page)).toEqual([generated]);
});

it("what is printed and exported says so", async () => {
  const printed = await browser.html(`${chat}/imprimir`);
  expect(readable(printed)).toContain(notice);
  expect(marked(printed)).toEqual([generated]);
  const markdown = await browser.html(`${chat}/descargar`);
  expect(markdown).toMatch(
    /^---\ntitle: "[^\n]*"\ndigitalSourceType: http:\/\/cv\.iptc\.org\/newscodes\/digitalsourcetype\/compositeWithTrainedAlgorithmicMedia\n---\n\n# /,
  );
  expect(markdown).toContain(`*${notice}*`);
  const json = JSON.parse(await browser.html(`${chat}/descargar?formato=json`)) as {
    aiNotice: string;
    messages: { role: string; digitalSourceType?: string }[];
  };
  expect(json.aiNotice).toBe(notice);
  expect(json.messages.map(({ digitalSourceType }) => digitalSourceType)).toEqual([undefined, generated]);
});

it("answers that are compared say so", async () => {
  const [, question = ""] = /\/conversation\/reply\/([\w-]{36})/.exec(await browser.html(chat)) ?? [];
  const compared = await browser.html(`${chat}/comparar/${question}`);
  expect(readable(compared)).toContain(notice);
  expect(marked(compared)).toEqual([generated]);
});

it("marks a shared conversation as AI-generated for people and programs", async () => {
  const title = "</script><script>alert(1)</script>";
  await browser.submit(`${chat}/editar`, `${chat}/editar`, { title });
  await browser.submit(`${chat}/compartir`, `${chat}/compartir`, {});
  const path = /\/compartido\/[\w-]+/.exec(await browser.html(`${chat}/compartir`))?.[0] ?? "";
  const page = await new Browser(server.url).html(path);
  expect(readable(page)).toContain(notice);
  expect(marked(page)).toEqual([generated]);
  const [, data = ""] = /<script type="application\/ld\+json"[^>]*>(.*?)<\/script>/s.exec(page) ?? [];
  expect(JSON.parse(data)).toMatchObject({
    "@context": "https://schema.org",
    name: title,
    digitalSourceType: "https://schema.org/CompositeWithTrainedAlgorithmicMediaDigitalSource",
  });
});

it("the feed of replies says it of each", async () => {
  await browser.submit("/user/avisos", "/user/canal", { intent: "renew" });
  const [path = ""] = /\/canal\/[\w-]+/.exec(await browser.html("/user/avisos")) ?? [];
  const feed = await browser.html(path);
  expect(feed).toContain(`<category term="${generated}"/>`);
  expect(feed).toContain("Habla con una máquina &amp;amp; compruebe lo que dice.");
});

it("the words may be changed, not left out", () => {
  expect(readConfig({ DATA_DIR: server.dataDir }).aiNotice).toMatch(/inteligencia artificial/);
  expect(() => readConfig({ DATA_DIR: server.dataDir, AI_NOTICE: "  " })).toThrow(/AI_NOTICE tiene que decir algo/);
});
