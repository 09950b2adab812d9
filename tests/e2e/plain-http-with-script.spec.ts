import { begin, expect, hydrated, lastReply, test } from "./fixtures.ts";

test.describe("over plain HTTP, without the browser's secure-context features", () => {
  test.beforeEach(async ({ page }) => {
    await page.addInitScript(() => {
      Object.defineProperty(window, "isSecureContext", { value: false });
      Object.defineProperty(navigator, "clipboard", { value: undefined });
      Object.defineProperty(navigator, "mediaDevices", { value: undefined });
      Object.defineProperty(navigator, "serviceWorker", { value: undefined });
      Object.defineProperty(crypto, "randomUUID", { value: undefined });
      Object.defineProperty(crypto, "subtle", { value: undefined });
    });
  });

  test("a deleted conversation is announced and can be restored", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Que no se borre", "Asistente local");
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
    const chat = page.url();
    await page.getByRole("button", { name: "Opciones de la conversación" }).click();
    await page.getByRole("link", { name: "Eliminar" }).click();
    await expect(page.getByText("Conversación eliminada.")).toBeVisible();
    await page.getByRole("button", { name: "Deshacer" }).click();
    await page.waitForURL(chat);
  });

  test("a message and code are copied all the same", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Algo con formato", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    const field = page.getByLabel("Mensaje", { exact: true });
    const pasted = async () => {
      await field.fill("");
      await field.click();
      await page.keyboard.press("Control+V");
      return field.inputValue();
    };
    await page.getByRole("button", { name: "Copiar código" }).first().click();
    await expect(page.getByRole("button", { name: "Copiado" })).toBeVisible();
    expect(await pasted()).toContain('print("hola")');
    await lastReply(page).getByRole("link", { name: "Copiar", exact: true }).click();
    await expect(lastReply(page).getByRole("link", { name: "Copiado" })).toBeVisible();
    expect(await pasted()).toContain("## Un título");
  });
});

test("a copied reply has its formatting for programs that take it", async ({ page, person, context }) => {
  expect(person.email).toBeTruthy();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await begin(page, "Algo con formato", "gpt-4o");
  await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
  await lastReply(page).getByRole("link", { name: "Copiar", exact: true }).click();
  await expect(lastReply(page).getByRole("link", { name: "Copiado" })).toBeVisible();
  const [text, html] = await page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    const read = async (type: string) => (await item?.getType(type))?.text();
    return [await read("text/plain"), await read("text/html")];
  });
  expect(text).toContain("## Un título");
  expect(html).toMatch(/<h\d[^>]*>Un título/);
  expect(html).not.toContain("Copiar código");
  await page.getByRole("button", { name: "Copiar código" }).first().click();
  await expect(page.getByRole("button", { name: "Copiado" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/\S$/);
});

test("Safari's Enter at the end of a composition sends nothing", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat");
  await hydrated(page);
  const field = page.getByLabel("Mensaje", { exact: true });
  await field.fill("にほん");
  const press = (keyCode: number) =>
    field.evaluate((element, code) => {
      const event = new KeyboardEvent("keydown", { key: "Enter", keyCode: code, bubbles: true, cancelable: true });
      return element.dispatchEvent(event);
    }, keyCode);
  // Not taken: the browser goes on with it, and nothing is sent.
  expect(await press(229)).toBe(true);
  expect(await press(13)).toBe(false);
});
