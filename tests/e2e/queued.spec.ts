import { begin, expect, expectGrowing, lastReply, say, test } from "./fixtures.ts";

const field = "Mensaje";

test("queues a message during a reply and sends it once", async ({ page, person, javaScriptEnabled }) => {
  expect(person.email).toBeTruthy();
  await page.setViewportSize({ width: 390, height: 844 });
  await begin(page, "Una respuesta pausada", "gpt-4o");
  await expectGrowing(page);
  const composer = page.locator(".composer");
  await expect(composer.getByRole("button", { name: "Enviar" })).toBeHidden();
  await say(page, "Hola en segundo lugar");
  const queued = page.getByRole("region", { name: "Después de esta" });
  await expect(queued).toContainText("Hola en segundo lugar");
  await expect(page.getByLabel(field, { exact: true })).toHaveValue("");
  await expectGrowing(page);
  await expect(composer.getByRole("button", { name: "Detener" })).toBeVisible();
  if (javaScriptEnabled) await page.getByLabel(field, { exact: true }).fill("Lo siguiente, a medias");
  else await page.getByRole("link", { name: "Ver su respuesta" }).click({ timeout: 30_000 });
  await expect(lastReply(page)).toContainText("Una respuesta breve. Con dos frases.", { timeout: 30_000 });
  await expect(queued).toBeHidden();
  await expect(page.getByText("Hola en segundo lugar")).toHaveCount(1);
  if (javaScriptEnabled) await expect(page.getByLabel(field, { exact: true })).toHaveValue("Lo siguiente, a medias");
});

test("what waits is edited, and taken back", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Una respuesta pausada", "gpt-4o");
  await expectGrowing(page);
  await say(page, "Primera idea");
  const queued = page.getByRole("region", { name: "Después de esta" });
  await expect(queued).toContainText("Primera idea");
  await page.getByLabel(field, { exact: true }).fill("y otra que va detrás");
  await queued.getByRole("button", { name: "Editar" }).click({ noWaitAfter: true });
  await expect(page.getByLabel(field, { exact: true })).toHaveValue("Primera idea\n\ny otra que va detrás");
  await expect(queued).toBeHidden();
  await say(page, "Segunda idea");
  await expect(queued).toContainText("Segunda idea");
  await page.getByLabel(field, { exact: true }).fill("Esto se queda");
  await queued.getByRole("button", { name: "Quitar" }).click({ noWaitAfter: true });
  await expect(queued).toBeHidden();
  await expect(page.getByLabel(field, { exact: true })).toHaveValue("Esto se queda");
  await page.locator(".composer").getByRole("button", { name: "Detener" }).click({ noWaitAfter: true });
  await expect(lastReply(page)).toContainText("Detenida.");
  await expect(page.locator('article[data-role="user"]')).toHaveCount(1);
});
