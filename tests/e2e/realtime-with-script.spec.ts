import type { Browser as Chromium, Page, Route } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { expect, expectGrowing, lastReply, say, test } from "./fixtures.ts";

const aside = (page: Page) => page.getByRole("navigation", { name: "Conversaciones" });

/** A device of its own: another session of the same person, connected. */
async function open(chromium: Chromium, { url }: Pick<TestServer, "url">, email: string, path: string): Promise<Page> {
  const signedIn = new Browser(url);
  await signedIn.signIn(email);
  const context = await chromium.newContext({ baseURL: url });
  await context.addCookies([...signedIn.cookies].map(([name, value]) => ({ name, value, url })));
  const page = await context.newPage();
  // socket.io's own «connected», after which a lost connection is one that there was.
  const predicate = ({ payload }: { payload: string | Buffer }) => String(payload).startsWith("40");
  const connected = page
    .waitForEvent("websocket")
    .then((socket) => socket.waitForEvent("framereceived", { predicate }));
  await page.goto(path);
  await connected;
  return page;
}

test.describe("what changes elsewhere", () => {
  test("shows on a person's other devices, including running replies", async ({ page, browser, server, person }) => {
    const here = await open(browser, server, person.email, "/conversation/chat");
    await page.goto("/conversation/chat");
    await say(page, "Una respuesta lenta");
    await page.waitForURL(/\/conversation\/chat\/[\w-]{36}/);
    await expect(aside(here).getByRole("link", { name: "Una respuesta lenta" })).toBeVisible();
    await aside(here).getByRole("link", { name: "Una respuesta lenta" }).click();
    await expectGrowing(here);
    await expect(aside(here).getByRole("link", { name: "Charla de prueba" })).toBeVisible();
    await expect(lastReply(here).getByRole("button", { name: "Regenerar" })).toBeVisible();

    // With no reply running: a message that is sent in `page`, and its reply, appear in `here` without a reload.
    await say(page, "Otra respuesta lenta");
    await expect(here.getByText("Otra respuesta lenta")).toBeVisible();
    await expectGrowing(here);
    await page.goto(`${page.url().split("?")[0]}/editar`);
    await page.getByRole("dialog").getByLabel("Título").fill("Con otro nombre");
    await page.getByRole("dialog").getByRole("button", { name: "Guardar" }).click();
    await expect(aside(here).getByRole("link", { name: "Con otro nombre" })).toBeVisible();
    await here.context().close();
  });

  test("waits while something is being written, and then comes", async ({ page, browser, server, person }) => {
    const here = await open(browser, server, person.email, "/conversation/chat");
    const field = here.getByLabel("Mensaje", { exact: true });
    await field.fill("A medio escribir");
    const asked: string[] = [];
    here.on("request", (request) => request.url().includes(".data") && asked.push(request.url()));
    await page.goto("/conversation/project/crear");
    await page.getByRole("dialog").getByLabel("Nombre").fill("Tesis");
    await page.getByRole("dialog").getByRole("button", { name: "Guardar" }).click();
    await expect(aside(page).getByRole("link", { name: "Tesis" })).toBeVisible();
    await expect(field).toHaveValue("A medio escribir");
    expect(asked).toEqual([]);
    await field.fill("");
    await expect(aside(here).getByRole("link", { name: "Tesis" })).toBeVisible();
    await here.context().close();
  });

  test("ends with the session, at once", async ({ page, browser, server, person }) => {
    const here = await open(browser, server, person.email, "/conversation/chat");
    const writing = await open(browser, server, person.email, "/conversation/chat");
    await writing.getByLabel("Mensaje", { exact: true }).fill("A medio escribir");
    await page.goto("/user/seguridad");
    await page.getByRole("button", { name: "Cerrar las demás" }).click();
    await here.waitForURL("**/auth/signin**");
    await expect(here.getByText("Session expirada, por favor inicia sesión nuevamente.")).toBeVisible();
    // Earlier pages are not for somebody who goes back without the server.
    await here.context().setOffline(true);
    await here.goBack({ waitUntil: "commit" });
    await expect(here.getByText("No se ha podido conectar con el servidor")).toBeVisible();
    await expect(aside(here)).toHaveCount(0);
    // With unsent text the page stays, and asks to sign in when it is sent.
    await expect(writing.getByLabel("Mensaje", { exact: true })).toHaveValue("A medio escribir");
    await writing.getByRole("button", { name: "Enviar" }).click();
    await expect(writing.getByRole("dialog").getByLabel("Contraseña")).toBeVisible();
    await here.context().close();
    await writing.context().close();
  });
});

for (const [fault, answer] of [
  ["nobody answers", (route: Route) => route.abort()],
  ["a proxy says that nobody does", (route: Route) => route.fulfill({ status: 502, body: "<h1>Bad Gateway</h1>" })],
] as const) {
  test(`keeps readable content and explains failed navigation where ${fault}`, async ({ browser, server, person }) => {
    const elsewhere = new Browser(server.url);
    await elsewhere.signIn(person.email);
    const chat = await elsewhere.say("Esto se puede leer");
    const page = await open(browser, server, person.email, chat);
    await page.route("**/*.data*", answer);
    const asked = page.waitForRequest("**/*.data*");
    await elsewhere.say("Escrito en otro sitio");
    const request = await asked;
    await request.response().catch(() => null);
    await aside(page).getByRole("link", { name: "Proyectos" }).click();
    await expect(page.getByText("No se ha podido conectar con el servidor")).toBeVisible();
    await page.goBack();
    await expect(page.getByText("Esto se puede leer").first()).toBeVisible();
    await page.unroute("**/*.data*");
    const last = await elsewhere.say("Y otra cosa");
    await expect(aside(page).locator(`a[href="${last}"]`)).toBeVisible();
    await page.context().close();
  });
}

test("reports a lost connection once and catches up after reconnecting", async ({ browser }) => {
  const first = await startServer();
  const person = new Browser(first.url);
  const email = await person.signUp("Ana");
  await person.say("Hola");
  const page = await open(browser, first, email, "/conversation/chat");
  await page.evaluate(() => {
    document.body.dataset.before = "";
  });
  await first.end("SIGKILL");
  await expect(page.getByText("Conexión perdida con el servidor")).toHaveCount(1);
  await expect(page.getByText("Error de conexión con el servidor")).toHaveCount(1);
  // Its page can't be fetched now, and nor can the code of it.
  await aside(page).getByRole("link", { name: "Proyectos" }).hover();
  const again = await startServer({ PORT: new URL(first.url).port, DATA_DIR: first.dataDir });
  await expect(page.getByRole("link", { name: "Hola" }).first()).toBeVisible();
  const other = new Browser(again.url);
  await other.signIn(email);
  await other.say("Escrito mientras tanto");
  await expect(page.getByRole("link", { name: "Escrito mientras tanto" }).first()).toBeVisible({ timeout: 60_000 });
  await expect(page.locator("body[data-before]")).toBeAttached();
  await page.context().close();
  await again.stop();
});
