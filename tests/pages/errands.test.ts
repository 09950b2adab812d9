import { afterAll, beforeAll, expect, it } from "vitest";
import { numberTyped } from "../../app/process/text/number-typed.ts";
import { planAsText, planFromText } from "../../app/routes/conversation/errand/plan-text.ts";
import { Browser, readable } from "../support/browser.ts";
import { startErrandModel } from "../support/errand-model.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let models: Awaited<ReturnType<typeof startErrandModel>>;
let mails: MailServer;
let ana: Browser;
let address: string;
beforeAll(async () => {
  models = await startErrandModel();
  mails = await startMailServer();
  const port = await freePort();
  server = await startServer({
    ...{
      OPENAI_BASE_URL: models.url,
      SMTP_URL: mails.url,
      MAIL_TO: "casa@ejemplo.es",
      PORT: String(port),
      MAIL_FROM: "no-responder@ejemplo.es",
    },
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  });
  ana = new Browser(server.url);
  address = await ana.signUp("Ana");
});
afterAll(async () => {
  await server.stop();
  models.stop();
  await mails.stop();
});

const wish = { question: "¿Qué se sabe del puente?", looksIn: "documents", stepsAtMost: "1.000" };
let page: string;

it("is created in a form that keeps text when refused", async () => {
  const wrong = await ana.change("/conversation/encargo", wish);
  expect(wrong.status).toBe(422);
  const html = await wrong.text();
  expect(readable(html)).toContain("Los pasos son un número entre 1 y 300.");
  expect(html).toContain("¿Qué se sabe del puente?");
  const made = await ana.change("/conversation/encargo", { ...wish, stepsAtMost: "40", budget: "1,5", notifies: "si" });
  page = made.headers.get("Location") ?? "";
  expect(page).toMatch(/^\/conversation\/encargo\/[\w-]{36}$/);
});

it("has its lines and numbers read as they are written", () => {
  const plan = [
    { title: "**Negrita** y -5 °C en casa", searches: ["a b", "«c»"] },
    { title: "Otra", searches: [] },
  ];
  expect(planFromText(planAsText(plan).replaceAll("\n", "\r\n"))).toEqual(plan);
  const typed = ["1,5", "0,0015", "0.005", "1.000", "12.345,5", "", "abc", "1.5.2"];
  expect(typed.map(numberTyped)).toEqual([1.5, 0.0015, 0.005, 1000, 12345.5, null, -1, -1]);
});

it("waits until its plan, edited as text, is approved", async () => {
  expect(await mails.nextTo(address)).toContain("tiene un plan que espera tu visto bueno.");
  expect(readable(await ana.html(page))).toContain("El plan espera tu visto bueno");
  expect(readable(await ana.html(page))).toContain("Buscar « historia puente »");
  const form = await ana.html(`${page}/plan`);
  expect(form).toContain("Historia\n- historia puente\n\nCoste\n- coste puente");
  expect(form).toContain('value="1,5"');
  expect(form).toContain('name="modelId"');
  const empty = await ana.change(`${page}/plan`, { plan: " \n" });
  expect(readable(await empty.text())).toContain("El plan tiene que tener alguna parte.");
  const changed = await ana.change(`${page}/plan`, {
    plan: "1. Historia\n- historia puente\n\nObras\n* obras puente",
    does: "start",
  });
  expect(changed.headers.get("Location")).toBe(page);
});

it("shows its steps, and its report outlives its deletion", async () => {
  await expect.poll(async () => readable(await ana.html(page)), { timeout: 20_000 }).toContain("Abrir el informe");
  expect(await mails.nextTo(address)).toContain(`${server.url}${page}`);
  const html = await ana.html(page);
  expect(readable(html)).toContain("Buscado: « obras puente »");
  expect(readable(html)).toContain("No se ha encontrado nada sobre esto.");
  expect(html).not.toContain("http-equiv");
  const report = /\/conversation\/escrito\/[\w-]{36}/.exec(html)?.[0] ?? "";
  expect(readable(await ana.html(report))).toContain("Informe del puente");
  expect(readable(await ana.html("/conversation/encargo"))).toMatch(/Informe del puente\s+Hecho/);
  await ana.change(`${page}?eliminar=1`, { does: "delete" });
  expect((await ana.fetch(page)).status).toBe(404);
  expect((await ana.fetch(report)).status).toBe(200);
});
