import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { says, startWritingModel } from "../support/writing-model.ts";

type House = { server: TestServer; models: Awaited<ReturnType<typeof startWritingModel>>; admin: Browser };

/** An installation with an assistant. */
const test = base.extend<object, { house: House }>({
  house: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
    async ({}, use) => {
      const models = await startWritingModel();
      const server = await startServer();
      const admin = new Browser(server.url);
      await admin.signUp("Ana Ferreiro");
      const own = { provider: "openai-compatible", externalId: "x", baseUrl: models.url };
      await admin.change("/admin/model/crear", { name: "Escribano", ...own, isDefault: "true" });
      await admin.change("/conversation/assistant/crear", { name: "Profe", purpose: "Repasar el tema 3" });
      await use({ server, models, admin });
      await server.stop();
      models.stop();
    },
    { scope: "worker" },
  ],
  baseURL: ({ house }, use) => use(house.server.url),
});

test("three phones join a room from a printed sheet", async ({ page, browser, house }) => {
  const { server, models, admin } = house;
  await page.context().addCookies([...admin.cookies].map(([name, value]) => ({ name, value, url: server.url })));
  await page.goto("/conversation/sala");
  await page.getByRole("textbox", { name: "Nombre" }).fill("Historia, 3.º B");
  await page.getByRole("button", { name: "Abrir la sala" }).click();
  await page.getByRole("link", { name: "Hoja para imprimir, con QR" }).click();
  await expect(page.getByRole("img", { name: "Código QR de la sala" })).toBeVisible();
  const address = (await page.locator(".address").textContent()) ?? "";
  expect(`http://${address}`).toContain(server.url);

  const phone = { viewport: { width: 360, height: 740 }, baseURL: server.url };
  const headers = { "Save-Data": "on" };
  const phones = await Promise.all([
    browser.newContext({ ...phone, javaScriptEnabled: true }),
    browser.newContext({ ...phone, javaScriptEnabled: false }),
    browser.newContext({ ...phone, javaScriptEnabled: false, extraHTTPHeaders: headers }),
  ]);
  const seats = await Promise.all(phones.map((context) => context.newPage()));
  for (const [n, seat] of seats.entries()) {
    await seat.goto(`http://${address}`);
    await seat.getByRole("textbox", { name: "Cómo quieres que se te llame" }).fill(`Alumna ${n + 1}`);
    await seat.getByRole("button", { name: "Entrar" }).click();
    await expect(seat.getByText(`Alumna ${n + 1}, hablas con Profe`)).toBeVisible();
  }
  const letGo = models.hold();
  for (const [n, seat] of seats.entries()) {
    await seat
      .getByRole("textbox", { name: "Tu pregunta" })
      .fill(says(`Respuesta **número ${n + 1}**, bastante larga, que acaba aquí.`));
    await seat.getByRole("button", { name: "Preguntar" }).click({ noWaitAfter: true });
  }
  // It is read while it is written.
  for (const [n, seat] of seats.entries()) {
    await expect(seat.locator(".live strong")).toHaveText(`número ${n + 1}`);
    await expect(seat.locator(".live")).not.toContainText("acaba aquí");
  }
  letGo();
  for (const [n, seat] of seats.entries()) {
    await expect(seat.locator(".live")).toContainText("acaba aquí.");
    await expect(seat.getByRole("textbox", { name: "Tu pregunta" })).toBeVisible();
    await expect(seat.getByRole("button", { name: "Detener" })).toBeHidden();
    await expect(seat.getByText(`número ${((n + 1) % 3) + 1}`)).toHaveCount(0);
    const wide = await seat.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(wide).toBeLessThanOrEqual(0);
  }
  const [scripted] = seats;
  if (!scripted) throw new Error("no seat");
  const { violations } = await new AxeBuilder({ page: scripted }).analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);

  await page.goBack();
  await page.reload();
  await expect(page.getByText("Han entrado 3 de 30 personas y se ha preguntado 3 de 600 veces.")).toBeVisible();
  await page.getByRole("button", { name: "Cerrar ahora" }).click();
  await expect(page.getByText("Cerrada: nadie entra ni pregunta.")).toBeVisible();
  await scripted.reload();
  await expect(scripted.getByText("La sala está cerrada.")).toBeVisible();
  for (const context of phones) await context.close();
});
