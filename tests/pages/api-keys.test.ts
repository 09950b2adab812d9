import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let ana: Browser;
beforeAll(async () => {
  server = await startServer();
  ana = new Browser(server.url);
  await ana.signUp("Ana");
});
afterAll(() => server.stop());

const page = "/user/seguridad/claves/crear";
const list = (token: string) => fetch(`${server.url}/v1/api/chat`, { headers: { Authorization: `Bearer ${token}` } });

it("creates an API key, shows it once and deletes it", async () => {
  const made = await ana.submit(page, page, { name: "Mi programa", writes: "1" });
  const html = await made.text();
  const token = /ter_[\w-]{43}/.exec(html)?.[0] ?? "";
  expect(readable(html)).toContain("no se vuelve a mostrar");
  expect((await list(token)).status).toBe(200);
  const account = await ana.html("/user/seguridad");
  expect(account).not.toContain(token);
  expect(readable(account)).toContain("Mi programa");
  expect(readable(account)).toContain("lee y escribe");
  const [remove = ""] = /\/user\/seguridad\/claves\/[\w-]{36}\/eliminar/.exec(account) ?? [];
  expect((await ana.submit(remove, remove, {})).status).toBe(303);
  expect((await list(token)).status).toBe(401);
  expect((await ana.fetch(remove)).status).toBe(404);
});

it("refuses a form without a name, keeping the chosen permission", async () => {
  const html = await (await ana.submit(page, page, { name: "" })).text();
  expect(readable(html)).toContain("Falta el nombre.");
  expect(html).not.toMatch(/name="writes"[^>]*checked/);
});
