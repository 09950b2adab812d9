import { brotliCompressSync, constants } from "node:zlib";
import type { LLMock } from "@copilotkit/aimock";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let mock: LLMock;
let server: TestServer;
let browser: Browser;
let chat: string;
const saving = { headers: { "Save-Data": "on" } };

beforeAll(async () => {
  mock = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });
  browser = new Browser(server.url);
  await browser.signUp();
  chat = await browser.say("Respóndeme con formato");
  await browser.html(chat);
  for (let n = 1; n <= 7; n++) {
    await browser.say(`Pregunta ${n}`, chat);
    await browser.html(chat);
  }
});
afterAll(async () => {
  await server.stop();
  await mock.stop();
});

const light = async (path: string, someone = browser) => (await someone.fetch(path, saving)).text();
const styleOf = (html: string) => /<style[^>]*>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";

describe("a light page", () => {
  it("has inline styles, no script and nothing to load first", async () => {
    const answer = await browser.fetch(chat, saving);
    const html = await answer.text();
    expect(html).not.toMatch(/<script|rel="(stylesheet|modulepreload)"|<img/);
    const nonce = /<style nonce="([^"]+)"/.exec(html)?.[1] ?? "";
    expect(answer.headers.get("Content-Security-Policy")).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(answer.headers.get("Content-Security-Policy")).toContain("script-src 'none'");
  });

  it("of a conversation has ten messages, under 20 kB compressed", async () => {
    const html = await light(chat);
    expect(html.match(/data-role="/g)).toHaveLength(10);
    expect(readable(html)).toContain("Ver mensajes anteriores");
    expect(readable(html)).not.toContain("Respóndeme con formato");
    const earlier = /href="([^"]+antes=[^"]+)"/.exec(html)?.[1] ?? "";
    expect(readable(await light(earlier))).toContain("Respóndeme con formato");
    expect(compressed(html)).toBeLessThan(18_000);
    expect((await browser.html(chat)).match(/data-role="/g)).toHaveLength(16);
  });

  it("uses the styles for no script in every browser", async () => {
    const style = styleOf(await light(chat));
    expect(style).not.toContain("scripting");
    expect(style).not.toMatch(/\.unscripted\{[^}]*display:none/);
  });

  it("shows when it was saved for reading offline", async () => {
    const copy = await browser.fetch(chat, { headers: { "Make-Copy": "1" } });
    expect(readable(await copy.text())).toMatch(
      /Copia del \d+ de \w+ de \d{4},? .*\d+:\d\d, por si se lee sin conexión\./,
    );
  });

  it("says what it has weighed, as it was sent", async () => {
    const html = await (await browser.fetch(chat, { headers: { ...saving.headers, "Accept-Encoding": "br" } })).text();
    const said = /Esta página ha pesado ([\d,]+) kB/.exec(readable(html))?.[1]?.replace(",", ".") ?? "0";
    // The sentence itself weighs some bytes.
    expect(Math.abs(Number(said) * 1000 - compressed(html))).toBeLessThan(150);
  });

  it("has links with their size where there would be images", async () => {
    const png = await sharp({ create: { width: 60, height: 40, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const [id] = await browser.upload([new File([new Uint8Array(png)], "plano.png", { type: "image/png" })]);
    for (const page of ["/user/file", `/user/file/${id}`]) expect(await light(page), page).not.toContain("<img");
    const answer = await browser.submit("/conversation/chat", "/conversation/chat", {
      content: "Mira",
      fileIds: id ?? "",
    });
    const html = await light(answer.headers.get("Location") ?? "");
    expect(html).not.toContain("<img");
    expect(readable(html)).toMatch(/plano\.png\s+imagen PNG, \d+ B/);
    expect(html).toContain(`/user/file/${id}/contenido?variant=image`);
  });

  it("has all styles of its reply from the start", async () => {
    for (const question of ["Otra con formato", "Quiero que pienses"]) {
      const path = await browser.say(question);
      const growing = styleOf(await light(path));
      const ended = styleOf(await light(path));
      expect([...rulesOf(ended)].filter((rule) => !rulesOf(growing).has(rule))).toEqual([]);
    }
  });

  it("keeps its script when the page depends on it", async () => {
    expect(await light("/user/seguridad/llaves/crear")).toContain("<script");
  });
});

/** Each selector with what it declares, but for custom properties. */
const rulesOf = (css: string) =>
  new Set(
    [...css.matchAll(/([^{}]+)\{([^{}]*)\}/g)].flatMap(([, selectors = "", body = ""]) =>
      selectors.split(",").map((selector) => `${selector}{${body.replace(/(?<=^|;)--[^;]*;/g, "")}}`),
    ),
  );

const compressed = (html: string) =>
  brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }).length;

describe("pages are light", () => {
  it.each([
    [{ "Save-Data": "on" }],
    [{ ECT: "3g" }],
    [{ ECT: "slow-2g" }],
    [{ "Sec-CH-Prefers-Reduced-Data": "reduce" }],
    [{ "User-Agent": "w3m/0.5.3" }],
  ])("by the connection: %o", async (headers) => {
    expect(await (await browser.fetch("/", { headers: headers as Record<string, string> })).text()).toContain("<style");
  });

  it.each([[{}], [{ ECT: "4g" }], [{ "Save-Data": "off" }]])("not for %o", async (headers) => {
    const answer = await browser.fetch("/", { headers: headers as Record<string, string> });
    expect(await answer.text()).not.toContain("<style");
    expect(answer.headers.get("Accept-CH")).toContain("ECT");
  });

  it("as a visitor without account chooses, until the choice changes", async () => {
    const stranger = new Browser(server.url);
    const page = "/paginas-ligeras";
    const choose = async (choice: string) => {
      const answer = await stranger.submit(page, page, { choice });
      expect(answer.headers.get("Location")).toBe(page);
    };
    expect(await stranger.html("/")).toContain(`href="${page}"`);
    await choose("always");
    expect(await stranger.html("/auth/signin")).toContain("<style");
    const html = await stranger.html(page);
    expect(html).toMatch(/value="always" aria-pressed="true"/);
    await choose("never");
    expect(await light("/", stranger)).not.toContain("<style");
    await choose("auto");
    expect(await light("/", stranger)).toContain("<style");
    expect(await stranger.html("/")).not.toContain("<style");
  });

  it("but what a script asks for is no page", async () => {
    const answer = await browser.fetch(`${chat}.data`, saving);
    expect((await answer.text()).match(/Pregunta \d/g)?.length).toBeGreaterThanOrEqual(7);
  });
});
