import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const page = "/conversation/schedule/crear";
/** Sends the form as a browser without a script does: several days under one name. */
async function make(browser: Browser, days: number[], fields: Record<string, string>): Promise<Response> {
  const all = Object.entries({ ...hiddenFields(await browser.html(page), page), enabled: "1", ...fields });
  const body = new URLSearchParams([...all, ...days.map((day): [string, string] => ["days", String(day)])]);
  return browser.fetch(page, { method: "POST", body });
}
const marked = (html: string) =>
  [...html.matchAll(/<input[^>]*name="days"[^>]*value="(\d)"[^>]*>/g)]
    .filter(([tag]) => tag.includes("checked"))
    .map(([, day]) => Number(day));

it("creates a scheduled question and lists when it runs next", async () => {
  const browser = new Browser(server.url);
  await browser.signUp();
  browser.cookies.set("zona", "Europe%2FMadrid");
  expect(await browser.html(page)).toContain('value="Europe/Madrid"');
  const given = { content: "¿Qué siembro esta semana?", time: "08:00", zone: "Europe/Madrid" };
  const answer = await make(browser, [1, 4], given);
  expect([answer.status, answer.headers.get("Location")]).toEqual([303, "/conversation/schedule"]);
  const text = readable(await browser.html("/conversation/schedule"));
  expect(text).toContain("¿Qué siembro esta semana?");
  expect(text).toMatch(/Cada lunes y jueves a las 8:00 ?\. La próxima, .* a las 8:00/);
});

it("keeps the chosen days of a refused form, with reasons", async () => {
  const browser = new Browser(server.url);
  await browser.signUp();
  const wrong = await make(browser, [2, 6], { content: "Hola", time: "08:00", zone: "Europe/Nada" });
  const html = await wrong.text();
  expect(wrong.status).toBe(422);
  expect(readable(html)).toContain("Esa zona horaria no existe.");
  expect(marked(html)).toEqual([2, 6]);
  const none = await make(browser, [], { content: "Hola", time: "08:00", zone: "Europe/Madrid" });
  expect(readable(await none.text())).toContain("Elige algún día de la semana, o un día del mes.");
});

it("leaves the time zone empty when the browser sends none", async () => {
  const browser = new Browser(server.url);
  await browser.signUp();
  expect(await browser.html(page)).toMatch(/<input[^>]*name="zone"[^>]*value=""/);
});
