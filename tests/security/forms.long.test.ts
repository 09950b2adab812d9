import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Browser, hiddenFields } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await new Browser(server.url).signUp("Admin");
});
afterAll(() => server.stop());

type Send = (browser: Browser, token: string | undefined, headers: Record<string, string>) => Promise<Response>;
const fields = (token: string | undefined, more: Record<string, string> = {}) => ({
  ...(token !== undefined && { formToken: token }),
  ...more,
});
const multipart = (token: string | undefined) => {
  const body = new FormData();
  if (token !== undefined) body.append("formToken", token);
  body.append("files", new File(["Hola"], "hola.txt"));
  return body;
};
const targets: Record<string, Send> = {
  "a page": (browser, token, headers) =>
    browser.post("/conversation/project/crear", fields(token, { name: "Tesis" }), headers),
  "a .data request": (browser, token, headers) =>
    browser.post("/conversation/project/crear.data", fields(token, { name: "Tesis" }), headers),
  "a resource route": (browser, token, headers) =>
    browser.post("/conversation/draft", fields(token, { content: "Hola" }), headers),
  "an upload": (browser, token, headers) =>
    browser.fetch("/user/file", { method: "POST", body: multipart(token), headers }),
  "the sign-out": (browser, token, headers) => browser.post("/auth/signout", fields(token), headers),
};

describe.each(Object.entries(targets))("a form to %s", (_name, send) => {
  async function begin() {
    const browser = new Browser(server.url);
    await browser.signUp();
    return { browser, token: hiddenFields(await browser.html("/user"), "/auth/signout").formToken };
  }
  const left = async (browser: Browser) => {
    const projects = await browser.html("/conversation/project");
    const files = await browser.html("/user/file");
    return [projects.includes("Tesis"), files.includes("hola.txt"), (await browser.fetch("/user")).status];
  };

  it.each([
    ["of another site", { Origin: "https://otro.ejemplo" }],
    ["of no site", { Origin: "null" }],
    ["of another port", { Origin: "http://127.0.0.1:1" }],
    ["of a site that a forged header names", { Origin: "https://otro.ejemplo", "X-Forwarded-Host": "otro.ejemplo" }],
  ])("%s is refused and changes nothing (guard: isForeignForm)", async (_origin, headers) => {
    const { browser, token } = await begin();
    expect((await send(browser, token, headers as Record<string, string>)).status).toBe(403);
    expect(await left(browser)).toEqual([false, false, 200]);
  });

  it.each([
    ["no token", undefined],
    ["another's token", "x".repeat(24)],
  ])("with %s is refused and does nothing (guard: the token in readForm)", async (_what, token) => {
    const { browser } = await begin();
    const origins: Record<string, string>[] = [{}, { Origin: server.url }];
    for (const headers of origins) {
      expect((await send(browser, token, headers)).status).toBe(403);
    }
    expect(await left(browser)).toEqual([false, false, 200]);
  });

  it("with the token is accepted with or without an Origin", async () => {
    const origins: Record<string, string>[] = [{}, { Origin: server.url }];
    for (const headers of origins) {
      const { browser, token } = await begin();
      expect((await send(browser, token, headers)).status).toBeLessThan(400);
    }
  });
});

describe("what a proxy would say", () => {
  const addresses = async (browser: Browser) => {
    const token = await (
      await fetch(`${browser.base}/v1/auth/signin`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...forged },
        body: JSON.stringify({ email: await browser.signUp(), password }),
      })
    ).text();
    const answer = await fetch(`${browser.base}/v1/auth/sessions`, { headers: { Authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { items: { ip: string }[] }).items.map(({ ip }) => ip);
  };
  const forged = {
    Forwarded: "for=10.9.8.7;proto=https;host=otro.ejemplo",
    "X-Forwarded-For": "10.9.8.6, 203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "otro.ejemplo",
  };

  it("is not believed unless TRUST_PROXY says so", async () => {
    const browser = new Browser(server.url);
    expect(await addresses(browser)).toEqual(["127.0.0.1", "127.0.0.1"]);
    const answer = await browser.fetch("/", { headers: forged });
    expect(answer.headers.get("Strict-Transport-Security")).toBe(null);
    expect(await answer.text()).not.toContain("otro.ejemplo");
  });

  it("is believed only from the nearest proxy (guard: trustNearest)", async () => {
    const behind = await startServer({ TRUST_PROXY: "1" });
    onTestFinished(() => behind.stop());
    expect((await addresses(new Browser(behind.url))).sort()).toEqual(["127.0.0.1", "203.0.113.9"]);
  });
});
