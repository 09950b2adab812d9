import { readFileSync } from "node:fs";
import { begin, expect, lastReply, test } from "./fixtures.ts";

test.beforeEach(async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Hola a todos", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
});

test("exports a chat as Markdown and JSON, and prints it", async ({ page, javaScriptEnabled }) => {
  await page.getByRole("button", { name: "Opciones de la conversación" }).click();
  await page.getByRole("link", { name: "Exportar" }).click();
  const dialog = page.getByRole("dialog", { name: "Exportar conversación" });
  const take = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), dialog.getByRole("link", { name }).click()]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
  };
  const markdown = await take("Markdown");
  expect(markdown.name).toMatch(/\.md$/);
  expect(markdown.text).toContain("Hola a todos");
  const json = await take("JSON");
  expect(JSON.parse(json.text)).toMatchObject({
    messages: [{ role: "user", content: "Hola a todos" }, { role: "assistant" }],
  });

  const printed = await page.context().newPage();
  await printed.goto(page.url().replace("/exportar", "/imprimir"));
  await expect(printed.getByRole("article")).toHaveCount(2);
  if (javaScriptEnabled) expect(await printed.locator("script").count()).toBe(0);
});

test("archives a chat, finds it in the archive, unarchives it", async ({ page }) => {
  const chat = page.url();
  const menu = page.getByRole("button", { name: "Opciones de la conversación" });
  await menu.click();
  await page.getByRole("button", { name: "Archivar" }).click();
  await page.waitForURL("**/conversation/chat");
  await expect(page.getByText("Conversación archivada.")).toBeVisible();
  const sidebar = page.getByRole("navigation", { name: "Conversaciones" });
  await expect(sidebar.locator(`a[href="${new URL(chat).pathname}"]`)).toHaveCount(0);
  await page.getByRole("link", { name: "Ver las archivadas" }).click();
  await page
    .getByRole("main")
    .locator(`a[href="${new URL(chat).pathname}"]`)
    .click();
  await page.waitForURL(chat);
  await menu.click();
  await page.getByRole("button", { name: "Desarchivar" }).click();
  await expect(page.getByText("Conversación desarchivada.")).toBeVisible();
  await expect(sidebar.locator(`a[href="${new URL(chat).pathname}"]`)).toHaveCount(1);
});

test("shares a chat by public link until sharing is withdrawn", async ({ page, browser, baseURL }) => {
  await page.getByRole("button", { name: "Opciones de la conversación" }).click();
  await page.getByRole("link", { name: "Compartir" }).click();
  const dialog = page.getByRole("dialog", { name: "Compartir conversación" });
  await dialog.getByRole("button", { name: "Crear enlace" }).click();
  const address = await dialog.locator("code").innerText();
  const visitor = await (await browser.newContext({ baseURL })).newPage();
  await visitor.goto(address);
  await expect(visitor.getByRole("article")).toHaveCount(2);
  await expect(visitor.getByRole("main")).toContainText("Hola a todos");
  await expect(visitor.getByRole("main")).not.toContainText("Ana");
  await dialog.getByRole("button", { name: "Dejar de compartir" }).click();
  await expect(dialog.getByRole("button", { name: "Crear enlace" })).toBeVisible();
  expect((await visitor.reload())?.status()).toBe(404);
  await visitor.context().close();
});
