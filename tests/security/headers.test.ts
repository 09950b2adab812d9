import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let ana: Browser;
let chat: string;
let file: string;
let everything: string;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  ana = new Browser(server.url);
  await ana.signUp("Ana");
  await vi.waitFor(async () => expect(await ana.html("/conversation/chat")).toContain("gpt-4o"), 10_000);
  chat = await ana.say("Lo que nadie más lee");
  await ana.html(chat);
  [file = ""] = await ana.upload([new File(["<script>alert(1)</script>"], "a.html")]);
  const prepared = await ana.follow(await ana.submit("/user/datos", "/user/datos", {}));
  everything = /"(\/user\/datos\/[\w-]{36})"/.exec(await prepared.text())?.[1] ?? "";
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

describe("every answer", () => {
  it.each<[what: string, path: () => string]>([
    ["a public page", () => "/"],
    ["a page of the account", () => "/user"],
    ["a conversation", () => chat],
    ["its data", () => `${chat}.data`],
    ["a printed one", () => `${chat}/imprimir`],
    ["an export", () => `${chat}/descargar`],
    ["everything of a person", () => everything],
    ["a file", () => `/user/file/${file}/contenido`],
    ["a table", () => "/admin/user/descargar"],
    ["what is not there", () => "/no/hay"],
    ["the API", () => "/v1/api/page"],
    ["its refusals", () => "/v1/api/chat"],
  ])("%s forbids what it does not need", async (_what, path) => {
    const { headers, status } = await ana.fetch(path());
    expect(status).toBeLessThan(500);
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Referrer-Policy")).toBe("same-origin");
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    expect(headers.get("Cache-Control")).toMatch(/no-store|private/);
    expect(headers.get("Content-Security-Policy")).toMatch(/default-src 'none'/);
    expect(headers.get("Content-Security-Policy")).not.toMatch(/unsafe|https?:|\*/);
  });

  it.each(["/", "/servicios", "/contacto"])(
    "%s, which needs no script, allows none (guard: contentPolicy)",
    async (path) => {
      expect((await ana.fetch(path)).headers.get("Content-Security-Policy")).toContain("script-src 'none'");
    },
  );

  it("a page gives scripts new nonces each time (guard: nonce)", async () => {
    const nonces = new Set<string>();
    for (let n = 0; n < 2; n++) {
      const answer = await ana.fetch(chat);
      const [, nonce = ""] =
        /script-src 'nonce-([^']+)'/.exec(answer.headers.get("Content-Security-Policy") ?? "") ?? [];
      const scripts = (await answer.text()).match(/<script[^>]*>/g) ?? [];
      expect(scripts.length).toBeGreaterThan(0);
      for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(2);
  });

  it("a streamed page has the policy and no inline styles", async () => {
    const slow = await ana.say("Una respuesta con formato");
    const answer = await ana.fetch(slow);
    expect(answer.headers.get("Content-Security-Policy")).toMatch(/script-src 'nonce-[^']+' 'strict-dynamic'/);
    const html = await answer.text();
    expect(html).toContain("<table");
    expect(html).not.toMatch(/<[^>]+ style=/);
  });

  it("a file is never opened as a page (guard: contentOf)", async () => {
    const { headers } = await ana.fetch(`/user/file/${file}/contenido`);
    expect(headers.get("Content-Type")).toBe("text/plain");
    expect(headers.get("Content-Disposition")).toMatch(/^attachment/);
    expect(headers.get("Content-Security-Policy")).toBe("default-src 'none'; sandbox");
  });

  it("no secret reaches a page, its data or the log", async () => {
    await ana.submit("/admin/model/crear", "/admin/model/crear", {
      name: "Con clave",
      provider: "openai",
      externalId: "x",
      apiKey: "sk-MUYSECRETA",
    });
    const cookie = [...ana.cookies].map(([, value]) => decodeURIComponent(value)).join("");
    const { access } = JSON.parse(Buffer.from(cookie.split(".")[0] ?? "", "base64").toString()) as { access: string };
    expect(access.length).toBeGreaterThan(20);
    expect(server.printed()).not.toContain("Lo que nadie más lee");
    const seen = [server.printed()];
    for (const path of ["/user", chat, "/admin/model", "/admin/user", "/admin/audit", "/admin/sistema"])
      seen.push(await ana.html(path), await ana.html(`${path}.data`));
    for (const text of seen) {
      expect(text).not.toContain(access);
      expect(text).not.toMatch(/MUYSECRETA|\$argon2/);
    }
  });
});
