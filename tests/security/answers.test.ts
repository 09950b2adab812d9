import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let admin: Browser;
beforeAll(async () => {
  server = await startServer({ TRUST_PROXY: "1" });
  admin = new Browser(server.url);
  await admin.signUp("Admin");
});
afterAll(() => server.stop());

it("a session cookie is HttpOnly, SameSite=Strict and lasts a month", async () => {
  const cookieOver = async (protocol: string) => {
    const headers = { "X-Forwarded-Proto": protocol };
    const page = await fetch(`${server.url}/auth/signin`, { headers });
    return page.headers.getSetCookie().find((cookie) => cookie.includes("tertulia=")) ?? "";
  };
  const attributes = (cookie: string) => cookie.split("; ").slice(1).sort();
  expect(attributes(await cookieOver("http"))).toEqual(["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Strict"]);
  const secure = await cookieOver("https");
  expect(secure).toMatch(/^__Host-tertulia=/);
  expect(attributes(secure)).toEqual(["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Strict", "Secure"]);
});

it("a request with two Host headers is refused", async () => {
  const { hostname, port } = new URL(server.url);
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write("GET /health HTTP/1.1\r\nHost: una.example\r\nHost: otra.example\r\nConnection: close\r\n\r\n");
    });
    let said = "";
    socket.on("data", (data) => {
      said += String(data);
    });
    socket.on("close", () => resolve(said));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

it("a refused form returns without the typed key or password", async () => {
  const page = "/admin/model/crear";
  const key = "clave-que-nadie-repite";
  const model = { name: "Con clave", provider: "openai-compatible", externalId: "m", baseUrl: "nada", apiKey: key };
  const refused = await admin.change(page, model);
  const html = await refused.text();
  expect([refused.status, html.includes("La dirección tiene que empezar por http")]).toEqual([422, true]);
  expect(html).toContain('value="Con clave"');
  expect(html).not.toContain(key);
  const password = "contraseña-que-nadie-repite";
  const account = await admin.change("/admin/user/crear", { name: "Eva", email: "malo", password });
  expect(account.status).toBe(422);
  expect(await account.text()).not.toContain(password);
});

it("never sends a form held during sign-in to another site", async () => {
  for (const action of [
    "https://otro.ejemplo.es/",
    "//otro.ejemplo.es/",
    "/\\otro.ejemplo.es/",
    "/%2f/otro",
    "javascript:0",
  ]) {
    const visitor = new Browser(server.url);
    const email = await visitor.signUp("Eva");
    const stranger = new Browser(server.url);
    const fields = hiddenFields(await stranger.html("/auth/signin"), "/auth/signin");
    const held = { "held.action": action, "held.content": "Hola" };
    const answer = await stranger.post("/auth/signin", {
      ...fields,
      ...held,
      email,
      password: "una frase larga y rara",
    });
    const html = await answer.text();
    expect([action, answer.headers.get("Location") ?? ""]).toEqual([action, expect.not.stringContaining("otro")]);
    expect([action, html.includes(`action="${action}`)]).toEqual([action, false]);
  }
});
