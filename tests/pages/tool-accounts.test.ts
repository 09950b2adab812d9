import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable, unescapeHtml } from "../support/browser.ts";
import { signInThere, startOauthToolServer } from "../support/oauth-tool-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let there: Awaited<ReturnType<typeof startOauthToolServer>>;
let admin: Browser;
let ana: Browser;
beforeAll(async () => {
  [server, there] = await Promise.all([startServer(), startOauthToolServer()]);
  admin = new Browser(server.url);
  await admin.signUp("Admin");
  ana = new Browser(server.url);
  await ana.signUp("Ana");
});
afterAll(async () => {
  await Promise.all([server.stop(), there.stop()]);
});

it("connects an account at a tool server and disconnects it", async () => {
  expect(readable(await ana.html("/user/seguridad"))).not.toContain("Cuentas conectadas");
  const form = "/admin/tool/crear";
  await admin.change(form, { name: "Disco", kind: "mcp", address: there.url, personal: "true" });

  const before = await ana.html("/user/seguridad");
  expect(readable(before)).toContain("Disco Sin conectar");
  const [page = ""] = /\/user\/cuentas\/[\w-]{36}/.exec(before) ?? [];
  const asked = await ana.html(page);
  expect(readable(asked)).toContain("en las de nadie más");
  const onTheWay = await (await ana.post(page, hiddenFields(asked, page))).text();
  const [, leadsTo = ""] = /http-equiv="refresh" content="0;url=([^"]*)"/i.exec(onTheWay) ?? [];
  expect(onTheWay).toContain(`href="${leadsTo}"`);

  const back = await signInThere(unescapeHtml(leadsTo), server.url);
  expect(back.pathname).toBe(`${page}/vuelta`);
  const after = await (await ana.follow(await ana.fetch(back.pathname + back.search))).text();
  expect(readable(after)).toContain("Tu cuenta de «Disco» está conectada.");
  expect(readable(after)).toContain("Disco Conectada ahora");

  const remove = page.replace("/user/", "/user/seguridad/").concat("/eliminar");
  const removed = await (await ana.follow(await ana.submit(remove, remove, {}))).text();
  expect(readable(removed)).toContain("La cuenta está desconectada.");
  expect(readable(removed)).toContain("Disco Sin conectar");
});

it("a chat names tools that still need a connected account", async () => {
  const chat = await ana.say("Hola");
  expect(readable(await ana.html(`${chat}/herramientas`))).toContain("Falta conectar tu cuenta.");
  const [tool = ""] = /\/admin\/tool\/[\w-]{36}/.exec(await admin.html("/admin/tool?q=Disco")) ?? [];
  expect(await admin.html(tool)).toContain(tool.replace("/admin/tool", "/user/cuentas"));
});

it("pages of an unknown server are not found", async () => {
  const none = `/user/cuentas/${crypto.randomUUID()}`;
  expect((await ana.fetch(none)).status).toBe(404);
  const answer = await ana.fetch(`${none}/vuelta?code=a&state=b`, { headers: { Accept: "text/html" } });
  expect(answer.status).toBe(404);
  expect(readable(await answer.text())).toContain("No existe o no puedes verlo.");
});
