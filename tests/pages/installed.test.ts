import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function somebody(name = "Ana"): Promise<Browser> {
  const browser = new Browser(server.url);
  await browser.signUp(name);
  return browser;
}
const composer = async (browser: Browser) =>
  /<textarea[^>]*name="content"[^>]*>([^<]*)</.exec(await browser.html("/conversation/chat"))?.[1]?.trim();

describe("on a home screen", () => {
  it("has a manifest whose icons have the declared sizes", async () => {
    const page = await new Browser(server.url).html("/");
    const path = /<link rel="manifest" href="([^"]+)"/.exec(page)?.[1] ?? "";
    const answer = await fetch(server.url + path);
    expect(answer.headers.get("Content-Type")).toContain("application/manifest+json");
    const { icons, start_url: start } = (await answer.json()) as {
      icons: { src: string; sizes: string }[];
      start_url: string;
    };
    for (const { src, sizes } of icons) {
      const bytes = Buffer.from(await (await fetch(server.url + src)).arrayBuffer());
      // The width and height of a PNG (IHDR).
      expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
    }
    expect((await (await somebody()).fetch(start)).status).toBe(200);
  });

  it("lets the worker be registered, by its policy", async () => {
    const answer = await (await somebody()).fetch("/conversation/chat");
    expect(answer.headers.get("Content-Security-Policy")).toContain("worker-src 'self'");
    expect(readFileSync(join(import.meta.dirname, "../../public/sw.js"), "utf8")).toContain("/sin-conexion");
    expect((await fetch(`${server.url}/sin-conexion`)).status).toBe(200);
  });
});

describe("what another program shares", () => {
  it("is added to the draft of a new conversation", async () => {
    const browser = await somebody();
    const page = await browser.html("/compartir?title=Una%20noticia&text=Lo%20dicen&url=https://ejemplo.es/n");
    expect(readable(page)).toContain("Una noticia\n\nLo dicen\n\nhttps://ejemplo.es/n".replaceAll("\n\n", " "));
    const first = await browser.submit("/compartir", "/compartir", { text: "Lo primero" });
    expect([first.status, first.headers.get("Location")]).toEqual([303, "/conversation/chat"]);
    await browser.submit("/compartir", "/compartir", { title: "Un título", text: "Lo segundo", url: "Un título" });
    expect(await composer(browser)).toBe("Lo primero\n\nUn título\n\nLo segundo");
  });

  it("may include files, and keeps text if one is refused", async () => {
    const browser = await somebody();
    const body = new FormData();
    const hidden = hiddenFields(await browser.html("/compartir"), "/compartir");
    for (const [name, value] of Object.entries({ ...hidden, text: "Mira" })) body.append(name, value);
    body.append("files", new File(["Hola"], "nota.txt"));
    body.append("files", new File([new Uint8Array([0x4d, 0x5a, 0x90, 0])], "virus.exe"));
    const answer = await browser.fetch("/compartir", { method: "POST", body });
    expect(answer.status).toBe(422);
    expect(readable(await answer.text())).toContain("«virus.exe»");
    expect(await composer(browser)).toBe("Mira");
    expect(await browser.html("/conversation/chat")).toContain("nota.txt");
  });

  it("is refused from another site and needs a sign-in", async () => {
    const browser = await somebody();
    const hidden = hiddenFields(await browser.html("/compartir"), "/compartir");
    const foreign = await browser.post("/compartir", { ...hidden, text: "x" }, { Origin: "https://otro.example" });
    expect(foreign.status).toBe(403);
    expect((await browser.post("/compartir", { text: "x" })).status).toBe(403);
    const visitor = await new Browser(server.url).fetch("/compartir?text=Hola");
    expect(visitor.headers.get("Location")).toBe("/auth/signin?volver=%2Fcompartir%3Ftext%3DHola");
  });
});

describe("what was written without a line", () => {
  const token = async (browser: Browser) =>
    (await (await browser.fetch("/conversation/ficha")).json()) as { formToken: string; personId: string };

  it("is taken once, however often it is sent", async () => {
    const browser = await somebody();
    const { formToken } = await token(browser);
    const form = { formToken, content: "Desde el metro", key: crypto.randomUUID(), sentTo: "/conversation/chat" };
    for (let n = 0; n < 2; n++) {
      const answer = await browser.post("/conversation/pendientes", form);
      expect([answer.status, await answer.json()]).toEqual([200, {}]);
    }
    const list = await browser.html("/conversation/chat");
    const chats = [...list.matchAll(/href="(\/conversation\/chat\/[\w-]{36})"/g)].map(([, path]) => path);
    expect(new Set(chats).size).toBe(1);
  });

  it("says why it is refused", async () => {
    const browser = await somebody();
    const { formToken } = await token(browser);
    const form = { formToken, content: "x".repeat(32_001), key: "1", sentTo: "/conversation/chat" };
    const answer = await browser.post("/conversation/pendientes", form);
    expect(answer.status).toBe(422);
    expect(((await answer.json()) as { message: string }).message).toContain("32.000");
  });

  it("is refused without a session or with another person's token", async () => {
    const browser = await somebody();
    const other = await somebody("Berta");
    expect((await new Browser(server.url).fetch("/conversation/ficha")).status).toBe(302);
    const form = { ...(await token(other)), content: "Hola", key: "2", sentTo: "/conversation/chat" };
    expect((await browser.post("/conversation/pendientes", form)).status).toBe(403);
  });
});

describe("what may be kept to be read later", () => {
  const kept = async (browser: Browser, path: string) => (await browser.fetch(path)).headers.has("Keep-Copy");

  it("is a conversation, copied as a page without external resources", async () => {
    const ana = await somebody();
    const chat = await ana.say("Hola");
    await expect.poll(() => kept(ana, chat)).toBe(true);
    const copy = await ana.fetch(chat, { headers: { "Make-Copy": "1" } });
    const html = await copy.text();
    expect(html).toContain("<style");
    expect(html).not.toMatch(/<script|rel="stylesheet"|<img/);
  });

  it("excludes temporary conversations, account pages and searches", async () => {
    const ana = await somebody("Carla");
    const answer = await ana.submit("/conversation/chat", "/conversation/chat", { content: "Hola", temporary: "1" });
    const temporary = answer.headers.get("Location") ?? "";
    await expect.poll(() => ana.html(temporary)).toContain('data-role="assistant" data-status="complete"');
    for (const path of [temporary, "/user", "/conversation/chat?q=hola"]) expect(await kept(ana, path)).toBe(false);
  });
});
