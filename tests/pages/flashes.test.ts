import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

it("shows a notice once, from its own cookie (guard: flashCookie)", async () => {
  const ana = new Browser(server.url);
  const email = await ana.signUp();
  const saved = await ana.submit("/user", "/user", { name: "Ana María", email });
  expect(saved.status).toBe(303);
  const set = saved.headers.getSetCookie();
  expect(set.map((cookie) => cookie.split("=")[0])).toEqual(["tertulia-aviso"]);
  for (const attribute of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(set[0]).toContain(attribute);
  expect(readable(await ana.html("/user"))).toContain("Perfil guardado.");
  const again = await ana.fetch("/user");
  expect(again.headers.getSetCookie()).toEqual([]);
});
