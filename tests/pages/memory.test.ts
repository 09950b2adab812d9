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

it("is enabled, and its entries added, changed, downloaded and deleted", async () => {
  expect(await ana.html("/user")).toContain("/user/memoria");
  expect(readable(await ana.html("/user/memoria"))).toContain("Está apagada");
  const send = async (fields: Record<string, string>) => {
    const html = await ana.html("/user/memoria");
    const formToken = /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? "";
    return ana.post("/user/memoria", { formToken, ...fields });
  };
  expect((await send({ does: "on" })).status).toBe(303);
  expect(readable(await ana.html("/user/memoria"))).toContain("Está encendida.");
  const empty = await send({ does: "add", text: " " });
  expect(empty.status).toBe(422);
  expect((await send({ does: "add", text: "Trabaja en el <b>padrón</b>" })).status).toBe(303);
  const html = await ana.html("/user/memoria");
  expect(html).toContain("Trabaja en el &lt;b&gt;padrón&lt;/b&gt;");
  const one = /\/user\/memoria\/[\w-]{36}/.exec(html)?.[0] ?? "";
  await ana.change(one, { does: "save", text: "Trabaja en el archivo" });
  expect(await (await ana.fetch("/user/memoria/descargar")).text()).toBe("Trabaja en el archivo\n");
  await ana.change(one, { does: "delete" });
  expect(readable(await ana.html("/user/memoria"))).toContain("Aún no hay ninguna.");
  expect((await ana.fetch(one)).status).toBe(404);
});
