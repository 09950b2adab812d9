import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { LLMock } from "@copilotkit/aimock";
import { type BrowserContext, test as base, expect, type Page } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";
import { withoutRealtime } from "./fixtures.ts";

type Line = { server(): TestServer; cut(): Promise<void>; mend(): Promise<void> };

/** A server whose line can be cut: it is killed, and started again where it was. */
const test = base.extend<{ line: Line }>({
  serviceWorkers: "allow",
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
  line: async ({}, use) => {
    const models: LLMock = await startModelServer();
    const PORT = String(await freePort());
    const env = { PORT, OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" };
    let server = await startServer(env);
    await use({
      server: () => server,
      cut: async () => {
        await server.end("SIGKILL");
      },
      mend: async () => {
        server = await startServer({ ...env, DATA_DIR: server.dataDir });
      },
    });
    await server.stop();
    await models.stop();
  },
});

/** Signs somebody up, in a browser whose service worker looks after its pages from here on. */
async function arrive(context: BrowserContext, page: Page, { url }: TestServer): Promise<Browser> {
  const browser = new Browser(url);
  await browser.signUp();
  await context.addCookies([...browser.cookies].map(([name, value]) => ({ name, value, url })));
  await page.goto(`${url}/user`);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  return browser;
}

/** Sends a message from the page and waits until its reply has ended and a copy of the conversation is kept. */
async function chat(page: Page, text: string): Promise<string> {
  await page.getByLabel("Mensaje", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.locator('[data-role="assistant"][data-status="complete"]').last()).toBeVisible();
  const path = new URL(page.url()).pathname;
  await expect
    .poll(() =>
      page.evaluate(async (wanted) => {
        const kept = await caches.open("copies");
        return (await (await kept.match(wanted))?.text())?.includes('data-status="complete"') ?? false;
      }, path),
    )
    .toBe(true);
  return path;
}

/** Opens a page and waits for socket.io's own «connected»: then a lost connection is one that there was. */
async function connected(page: Page, url: string): Promise<void> {
  const predicate = ({ payload }: { payload: string | Buffer }) => String(payload).startsWith("40");
  const opened = page.waitForEvent("websocket").then((socket) => socket.waitForEvent("framereceived", { predicate }));
  await page.goto(url);
  await opened;
}

const messages = async (browser: Browser, path: string) =>
  [...(await browser.html(path)).matchAll(/data-role="user"/g)].length;

test("reads chats offline and sends new messages after reconnecting", async ({ page, context, line }) => {
  const browser = await arrive(context, page, line.server());
  await page.goto(`${line.server().url}/conversation/chat`);
  const path = await chat(page, "Háblame de las habas");
  await line.cut();

  await page.goto(line.server().url + path);
  // The copy may be of before the title was there: its title is then these words, too.
  await expect(page.locator(".said", { hasText: "Háblame de las habas" })).toBeVisible();
  await expect(page.getByText("Con dos frases.")).toBeVisible();
  // A page that nobody has read.
  await page.goto(`${line.server().url}/conversation/assistant`);
  await expect(page.getByRole("heading", { name: "Sin conexión" })).toBeVisible();
  await page.getByRole("link", { name: /Charla de prueba|Háblame/ }).click();

  await page.getByLabel("Mensaje", { exact: true }).fill("¿Y los guisantes?");
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.getByRole("heading", { name: "Pendiente de enviar" })).toBeVisible();
  await expect(page.getByText("¿Y los guisantes?")).toBeVisible();

  await line.mend();
  // It asks by itself, sends what waits, and goes back to the conversation.
  await expect(page).toHaveURL(line.server().url + path);
  await expect(page.locator(".said", { hasText: "¿Y los guisantes?" })).toHaveCount(1);
  expect(await messages(browser, path)).toBe(2);
});

test("navigation and messages wait during a restart, then continue", async ({ page, context, line }) => {
  const browser = await arrive(context, page, line.server());
  await connected(page, `${line.server().url}/conversation/chat`);
  const path = await chat(page, "Hola");
  const message = page.getByLabel("Mensaje", { exact: true });
  const lost = page.getByText("Conexión perdida con el servidor");
  await line.cut();
  await expect(lost).toBeVisible();
  await message.fill("Lo que escribo mientras");
  await page.getByRole("link", { name: "Proyectos" }).click();
  await expect(page.getByText("El servidor no contesta. Sigues aquí; se abre en cuanto vuelva.")).toBeVisible();
  await expect(message).toHaveValue("Lo que escribo mientras");
  await line.mend();
  await expect(page).toHaveURL(/\/conversation\/project$/);

  await connected(page, line.server().url + path);
  await line.cut();
  await expect(lost).toBeVisible();
  await message.fill("Enviado en medio");
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.getByText("Lo que has escrito se enviará en cuanto vuelva.")).toBeVisible();
  await line.mend();
  await expect(page.locator('[data-role="assistant"][data-status="complete"]')).toHaveCount(2);
  await expect(page.locator(".said", { hasText: "Enviado en medio" })).toHaveCount(1);
  await expect(page).toHaveURL(line.server().url + path);
  expect(await messages(browser, path)).toBe(2);
});

test("saves an unsaved draft after reconnecting, unless already sent", async ({ page, context, line }) => {
  const browser = await arrive(context, page, line.server());
  await connected(page, `${line.server().url}/conversation/chat`);
  const path = await chat(page, "Hola");
  const message = page.getByLabel("Mensaje", { exact: true });
  const failed = () => page.waitForEvent("requestfailed", (request) => request.url().endsWith("/conversation/draft"));
  await line.cut();
  const lost = failed();
  await message.fill("Dos párrafos que llevan una tarde");
  await lost;
  await page.getByRole("link", { name: "Proyectos" }).click();
  await line.mend();
  await expect(page).toHaveURL(/\/conversation\/project$/);
  await expect.poll(() => browser.html(path)).toContain("Dos párrafos que llevan una tarde</textarea>");

  await connected(page, line.server().url + path);
  await line.cut();
  const again = failed();
  await message.fill("Esto se envía");
  await again;
  await page.getByRole("button", { name: "Enviar" }).click();
  await line.mend();
  await expect(page.locator('[data-role="assistant"][data-status="complete"]')).toHaveCount(2);
  // Longer than the next try would have taken.
  const next = page.waitForResponse((response) => response.url().endsWith("/conversation/draft"));
  await message.fill("Lo siguiente");
  await next;
  await expect.poll(() => browser.html(path)).toContain("Lo siguiente</textarea>");
  expect(await messages(browser, path)).toBe(2);
});

test("sends messages of two closed tabs once after reconnecting", async ({ page, context, line }) => {
  const browser = await arrive(context, page, line.server());
  await page.goto(`${line.server().url}/conversation/chat`);
  const path = await chat(page, "Hola");
  const second = await context.newPage();
  await second.goto(line.server().url + path);
  await second.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await line.cut();
  for (const [tab, text] of [
    [page, "Del primer tubo"],
    [second, "Del segundo"],
  ] as const) {
    await tab.getByLabel("Mensaje", { exact: true }).fill(text);
    await tab.getByRole("button", { name: "Enviar" }).click();
    await expect(tab.getByRole("heading", { name: "Pendiente de enviar" })).toBeVisible();
    await expect(tab.getByText(text)).toBeVisible();
    await tab.close();
  }
  await line.mend();
  const later = await context.newPage();
  await later.goto(`${line.server().url}/conversation/chat`);
  await expect.poll(() => messages(browser, path)).toBe(3);
  await later.goto(`${line.server().url}/sin-conexion`);
  await expect(later.getByText("No hay nada pendiente.")).toBeVisible();
  expect(await messages(browser, path)).toBe(3);
});

test("deletes offline copies at sign-out, sends nothing for others", async ({ page, context, line }) => {
  const { url } = line.server();
  await arrive(context, page, line.server());
  await page.goto(`${url}/conversation/chat`);
  const path = await chat(page, "Un secreto");
  await line.cut();
  await page.goto(url + path);
  await page.getByLabel("Mensaje", { exact: true }).fill("Para luego");
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.getByText("Para luego")).toBeVisible();
  await context.clearCookies();
  await line.mend();
  // Somebody else comes in on this browser.
  await page.goto(url + path);
  await expect(page).toHaveURL(/\/auth\/signin/);
  await expect.poll(() => page.evaluate(() => caches.has("copies"))).toBe(false);
  const other = new Browser(url);
  await other.signUp("Berta");
  await context.addCookies([...other.cookies].map(([name, value]) => ({ name, value, url })));
  await page.goto(`${url}/sin-conexion`);
  await page.getByRole("button", { name: "Enviar ahora" }).click();
  await expect(page.getByText("Lo escribió otra persona en este navegador")).toBeVisible();
  await expect(page.getByText("Para luego")).toBeHidden();
  page.on("dialog", (dialog) => dialog.accept());
  await page.getByRole("button", { name: "Descartar" }).click();
  await expect(page.getByText("No hay nada pendiente.")).toBeVisible();
});

test("a temporary conversation is not kept", async ({ page, context, line }) => {
  await arrive(context, page, line.server());
  await page.goto(`${line.server().url}/conversation/chat`);
  await page.getByLabel(/^Temporal/).check();
  await page.getByLabel("Mensaje", { exact: true }).fill("De paso");
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.locator('[data-status="complete"][data-role="assistant"]')).toBeVisible();
  const path = new URL(page.url()).pathname;
  await page.reload();
  // The copy that is kept after it shows that copies are made here.
  await page.goto(`${line.server().url}/conversation/chat`);
  await chat(page, "Para quedarse");
  expect(await page.evaluate(async (one) => (await caches.match(one)) === undefined, path)).toBe(true);
});

const pending = (page: Page) =>
  page.evaluate(async () => ((await (await fetch("/sin-conexion/pendientes")).json()) as unknown[]).length);

test("sends the same words written twice offline as two messages", async ({ page, context, line }) => {
  const browser = await arrive(context, page, line.server());
  await page.goto(`${line.server().url}/conversation/chat`);
  const path = await chat(page, "Hola");
  await line.cut();
  for (let n = 0; n < 2; n++) {
    await page.goto(line.server().url + path);
    await page.getByLabel("Mensaje", { exact: true }).fill("Sí");
    await page.getByRole("button", { name: "Enviar" }).click();
    await expect(page.getByRole("heading", { name: "Pendiente de enviar" })).toBeVisible();
  }
  await line.mend();
  // The second waits until the reply to the first has ended.
  await expect(async () => {
    await page.goto(`${line.server().url}/user`);
    expect(await messages(browser, path)).toBe(3);
    expect(await pending(page)).toBe(0);
  }).toPass();
});

test("keeps a refused message readable without sending it again", async ({ page, context, line }) => {
  const browser = await arrive(context, page, line.server());
  await page.goto(`${line.server().url}/conversation/chat`);
  const path = await chat(page, "Hola");
  await line.cut();
  await page.goto(line.server().url + path);
  await page.getByLabel("Mensaje", { exact: true }).fill("Ya no hay dónde");
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.getByText("Ya no hay dónde")).toBeVisible();
  await line.mend();
  await browser.submit(`${path}/eliminar`, `${path}/eliminar`, {});
  let sent = 0;
  context.on("request", (request) => {
    if (request.url().endsWith("/conversation/pendientes")) sent++;
  });
  await page.goto(`${line.server().url}/sin-conexion`);
  await page.getByRole("button", { name: "Enviar ahora" }).click();
  await expect(page.getByText("La conversación en la que se escribió ya no existe.")).toBeVisible();
  for (let n = 0; n < 3; n++) await page.goto(`${line.server().url}/conversation/chat`);
  expect(sent).toBe(1);
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("");
});

test("blocks messages from other sites, online and offline", async ({ page, context, line }) => {
  const { url } = line.server();
  const browser = await arrive(context, page, line.server());
  let target = "/conversation/chat";
  const foreign = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.setHeader("Referrer-Policy", "no-referrer");
    const fields = ["content", "text", "key", "writtenBy", "sentTo"].map(
      (name) => `<input name="${name}" value="INYECTADO">`,
    );
    response.end(
      `<form method="post" action="${url}${target}">${fields.join("")}</form><script>document.forms[0].submit()</script>`,
    );
  }).listen(0, "127.0.0.1");
  await once(foreign, "listening");
  const attack = `http://localhost:${(foreign.address() as AddressInfo).port}/`;
  // Shared files are in the form, to be taken by a press of its button; nothing is taken by itself.
  target = "/compartir";
  await page.goto(attack);
  await expect(page).toHaveURL(/\/compartir/);
  expect(await browser.html("/conversation/chat")).not.toContain("INYECTADO");
  await line.cut();
  for (target of ["/conversation/chat", "/sin-conexion/guardar"]) await page.goto(attack).catch(() => undefined);
  await line.mend();
  await page.goto(`${url}/sin-conexion`);
  expect(await pending(page)).toBe(0);
  expect(await browser.html("/conversation/chat")).not.toContain("INYECTADO");
  foreign.close();
});

test("what another program shares is in the form, files included", async ({ page, context, line }) => {
  const { url } = line.server();
  await arrive(context, page, line.server());
  // The system posts the form without saying where it comes from.
  await page.evaluate(() => {
    const form = Object.assign(document.createElement("form"), {
      method: "post",
      action: "/compartir",
      enctype: "multipart/form-data",
    });
    const meta = Object.assign(document.createElement("meta"), { name: "referrer", content: "no-referrer" });
    document.head.append(meta);
    const text = Object.assign(document.createElement("input"), { name: "text", value: "Una noticia" });
    const file = Object.assign(document.createElement("input"), { name: "files", type: "file" });
    const files = new DataTransfer();
    files.items.add(new File(["Lo que dice"], "nota.txt"));
    file.files = files.files;
    form.append(text, file);
    document.body.append(form);
    form.submit();
  });
  await page.waitForURL(`${url}/compartir?recibido`);
  await expect(page.getByLabel("Texto")).toHaveValue("Una noticia");
  await page.getByRole("button", { name: "Llevar a una conversación" }).click();
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("Una noticia");
  await expect(page.getByText("nota.txt", { exact: true })).toBeVisible();
});

test("deletes offline copies when the session is ended elsewhere", async ({ page, context, line }) => {
  // Else it would be told of the end, and be gone, before the click.
  await withoutRealtime(page);
  const browser = await arrive(context, page, line.server());
  await page.goto(`${line.server().url}/conversation/chat`);
  await chat(page, "Un secreto");
  await browser.submit("/user", "/auth/signout", {});
  await page.getByRole("navigation", { name: "Conversaciones" }).getByRole("link", { name: "Proyectos" }).click();
  await expect(page).toHaveURL(/\/auth\/signin/);
  await expect.poll(() => page.evaluate(() => caches.has("copies"))).toBe(false);
});
