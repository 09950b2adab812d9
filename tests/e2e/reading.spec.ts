import { Browser } from "../support/browser.ts";
import { begin, expect, hydrated, lastReply, say, test } from "./fixtures.ts";

const field = "Mensaje";

test("shows composer and text in a window 300 px high", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  for (const height of [360, 300]) {
    await page.setViewportSize({ width: 740, height });
    await begin(page, "Una respuesta con formato", "gpt-4o");
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeInViewport();
    await expect(page.getByLabel(field, { exact: true })).toBeInViewport();
    const composer = await page.locator(".composer").boundingBox();
    expect(composer?.height).toBeLessThan(height / 3);
  }
});

test("shows the link to the end once scrolled away", async ({ page, person, javaScriptEnabled }) => {
  expect(person.email).toBeTruthy();
  await page.setViewportSize({ width: 390, height: 600 });
  await begin(page, "Una respuesta con formato", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await page.goto(page.url());
  if (javaScriptEnabled) await hydrated(page);
  const toEnd = page.getByRole("link", { name: "Ir al final" });
  await expect(toEnd).toBeHidden();
  await page.mouse.move(200, 200);
  await page.mouse.wheel(0, -400);
  await expect(toEnd).toBeVisible();
  if (javaScriptEnabled) {
    const place = () => page.locator(".reader").evaluate(({ scrollTop }) => scrollTop);
    const before = await place();
    expect(before).toBeLessThan(0);
    await page.reload();
    await expect.poll(place).toBe(before);
    await page.goto("/conversation/project");
    await page.goBack();
    await expect.poll(place).toBe(before);
    // Another conversation begins at its end, and the way back leads to the place.
    const chat = page.url();
    await page.setViewportSize({ width: 1000, height: 420 });
    await begin(page, "Otra respuesta con formato", "gpt-4o");
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
    await page
      .getByRole("navigation")
      .locator(`a[href="${new URL(chat).pathname}"]`)
      .click();
    await expect(page).toHaveURL(chat);
    await expect.poll(place).toBe(0);
    await page.locator(".reader").evaluate((reader) => reader.scrollBy(0, -300));
    await expect(toEnd).toBeVisible();
    await page
      .getByRole("navigation")
      .locator("a.item[href^='/conversation/chat/']:not([aria-current])")
      .first()
      .click();
    await expect(page).not.toHaveURL(chat);
    await expect.poll(place).toBe(0);
    await page.goBack();
    await expect.poll(place).toBe(-300);
  }
  await toEnd.click();
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeInViewport();
});

test("scrolls a found message into view below the top bar", async ({ page, person, server }) => {
  const browser = new Browser(server.url);
  await browser.signIn(person.email);
  const [chat = ""] = (await browser.say("Un faro de señales en la costa")).split("?");
  await browser.html(chat);
  for (let n = 0; n < 5; n++) {
    await browser.say("Una respuesta con formato", chat);
    await browser.html(chat);
  }
  for (const size of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    await page.goto("/conversation/chat?q=faro");
    await page.locator('main a[href*="?mensaje="]').first().click();
    const found = page.locator("[data-found] .said");
    await expect(found).toBeInViewport();
    const box = await found.boundingBox();
    expect(box?.y).toBeGreaterThan(44);
    expect(box?.y).toBeLessThan(size.height * 0.6);
  }
});

test("choosing a model by its use keeps the typed text", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat");
  await page.getByLabel(field, { exact: true }).fill("A medio escribir");
  await page.getByRole("button", { name: "Comparar modelos" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Elegir modelo" })).toBeVisible();
  await page.getByRole("link", { name: "gpt-4o" }).first().click();
  await expect(page.getByLabel(field, { exact: true })).toHaveValue("A medio escribir");
  await expect(page.getByLabel("Modelo")).toHaveValue(/[\w-]{36}/);
  expect(await page.getByLabel("Modelo").evaluate((one: HTMLSelectElement) => one.selectedOptions[0]?.label)).toBe(
    "gpt-4o",
  );
});

test("leads from the landing page to a first reply", async ({ server, browser, javaScriptEnabled }) => {
  const context = await browser.newContext({ javaScriptEnabled, baseURL: server.url });
  const visitor = await context.newPage();
  await visitor.goto("/");
  await visitor.getByRole("link", { name: "Crear cuenta" }).click();
  await visitor.getByLabel("Nombre").fill("Nueva");
  await visitor.getByLabel("Correo electrónico").fill(`nueva-${crypto.randomUUID()}@ejemplo.es`);
  await visitor.getByLabel("Contraseña").fill("una frase larga y rara");
  await visitor.getByRole("button", { name: "Crear cuenta" }).click();
  await visitor.waitForURL("**/conversation/chat");
  await say(visitor, "Hola");
  await expect(lastReply(visitor)).toContainText("Con dos frases.");
  await visitor.goto("/");
  await expect(visitor.getByRole("link", { name: "Crear cuenta" })).toHaveCount(0);
  await context.close();
});
