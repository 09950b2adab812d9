import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let models: LLMock;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1` });
});
afterAll(async () => {
  await Promise.all([server.stop(), models.stop()]);
});

it("runs a template over a table and downloads the answers", async () => {
  const ana = new Browser(server.url);
  await ana.signUp("Ana");
  expect(readable(await ana.html("/conversation/serie"))).toContain("Hace falta una plantilla con huecos");
  await ana.change("/conversation/template/crear", { title: "Carta", content: "Escribe una carta a {{nombre}}" });
  const html = await ana.html("/conversation/serie");
  const firstOf = (name: string) =>
    new RegExp(`name="${name}"[\\s\\S]*?<option value="([\\w-]{36})"`).exec(html)?.[1] ?? "";
  const send = async (csv: string) => {
    const body = new FormData();
    const fields = { templateId: firstOf("templateId"), modelId: firstOf("modelId"), budget: "" };
    for (const [name, value] of Object.entries({ ...hiddenFields(html, "/conversation/serie"), ...fields }))
      body.append(name, value);
    body.append("files", new File([csv], "datos.csv"));
    return ana.follow(await ana.fetch("/conversation/serie", { method: "POST", body }));
  };
  expect(readable(await (await send("otra\nAna\n")).text())).toContain("falta la columna «nombre». Tiene «otra».");
  const page = (await send("nombre;calle\nAna;Mayor\nLuis;Menor\n")).url.replace(server.url, "");
  expect(page).toMatch(/^\/conversation\/serie\/[\w-]{36}$/);
  await expect
    .poll(async () => readable(await ana.html(page)), { timeout: 60_000 })
    .toContain("Está terminada, 2 de 2");
  expect(await ana.html(page)).not.toContain('http-equiv="refresh"');
  const file = await ana.fetch(`${page}/descargar`);
  expect(file.headers.get("Content-Disposition")).toContain("Carta.csv");
  expect((await file.text()).split("\r\n")[2]).toMatch(/^"Luis";"Menor";".+";""$/);
  expect(readable(await ana.html(`${page}?eliminar=1`))).toContain("Eliminar la tabla y sus respuestas");
  await ana.submit(`${page}?eliminar=1`, page, { does: "delete" });
  expect(readable(await ana.html("/conversation/serie"))).not.toContain("terminada");
});
