import { begin, expect, lastReply, test } from "./fixtures.ts";

test("finds a message by its words and opens its chat", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Los gatos de mi abuela duermen en el tejado.", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await page.getByRole("navigation").getByRole("link", { name: "Buscar" }).click();
  await page.waitForURL("**/conversation/chat?buscar");
  const field = page.getByRole("searchbox", { name: "Buscar en todos los mensajes" });
  // Text that is typed here must not become a question to the model.
  await expect(field).toBeFocused();
  await field.fill("GATO abuela");
  await field.press("Enter");
  await page.waitForURL("**/conversation/chat?q=GATO+abuela");
  const result = page.getByRole("main").getByRole("listitem").filter({ hasText: "duermen en el tejado" });
  await expect(result.locator("mark")).toHaveText(["gatos", "abuela"]);
  await result.getByRole("link").click();
  await page.waitForURL(/\/conversation\/chat\/.+\?mensaje=/);
  await expect(page.locator("article[data-found]")).toContainText("Los gatos de mi abuela");

  await page.goto("/conversation/chat?q=dodecaedro");
  await expect(
    page.getByText("Nada contiene «dodecaedro» en los títulos, los mensajes y los documentos"),
  ).toBeVisible();
  const [found, composer] = await Promise.all([
    page.getByRole("searchbox").boundingBox(),
    page.getByLabel("Mensaje", { exact: true }).boundingBox(),
  ]);
  expect(found?.y ?? 0).toBeLessThan(composer?.y ?? 0);
  await page.getByRole("link", { name: "Quitar la búsqueda" }).click();
  await expect(page.getByRole("heading", { name: "Recientes" })).toBeVisible();
});
