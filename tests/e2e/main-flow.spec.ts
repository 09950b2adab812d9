import { longReply } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { begin, expect, expectGrowing, lastReply, say, test } from "./fixtures.ts";

const words = (text: string) => text.replace(/\s+/g, " ");

for (const model of ["gpt-4o", "claude-3-5-sonnet-20241022"]) {
  test(`${model}: streams, survives reloading, stops, and is read elsewhere`, async ({
    page,
    person,
    browser,
    javaScriptEnabled,
    baseURL,
  }) => {
    await begin(page, "Una respuesta lenta", model);
    await page.waitForURL(/\/conversation\/chat\/.+/, { waitUntil: "commit" });
    await expect(lastReply(page)).toHaveAttribute("data-status", "streaming");
    await expectGrowing(page);

    await page.reload({ waitUntil: "commit" });
    await expectGrowing(page);
    // It stands where «Enviar» was, and stands still under a growing text.
    await expect(page.getByRole("button", { name: "Enviar" })).toBeHidden();
    await page.getByRole("button", { name: "Detener" }).click({ noWaitAfter: true });
    await expect(lastReply(page)).toHaveAttribute("data-status", "stopped");
    await expect(lastReply(page)).toContainText("Detenida.");
    await expect(lastReply(page).getByRole("button", { name: "Continuar" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Enviar" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Detener" })).toBeHidden();
    const kept = words(await lastReply(page).locator(".prose").innerText());
    expect(words(longReply).startsWith(kept.slice(0, -1))).toBe(true);

    await lastReply(page).getByRole("button", { name: "Regenerar" }).click({ noWaitAfter: true });
    await expect(lastReply(page)).toHaveAttribute("data-status", "streaming");
    await expect(lastReply(page)).toContainText("Frase número 40", { timeout: 20_000 });
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
    await expect(lastReply(page)).toContainText("2/2");
    const chat = page.url();

    await page.goto("/user/seguridad");
    await page.getByRole("main").getByRole("button", { name: "Cerrar sesión" }).click();
    await page.waitForURL("**/auth/signin");

    const other = await (await browser.newContext({ javaScriptEnabled, baseURL })).newPage();
    await other.goto(chat);
    await other.getByLabel("Correo electrónico").fill(person.email);
    await other.getByLabel("Contraseña").fill(password);
    await other.getByRole("button", { name: "Iniciar sesión" }).click();
    await other.waitForURL(chat);
    await expect(lastReply(other)).toHaveAttribute("data-status", "complete");
    await expect(lastReply(other)).toContainText("Frase número 40");
    await expect(other.getByRole("navigation", { name: "Conversaciones" })).toContainText("Charla de prueba");
    await other.context().close();
  });
}

test("the local assistant answers from earlier chats with sources", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "El gato de mi abuela se llamaba Bigotes.", "Asistente local");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await begin(page, "¿cómo se llamaba el gato de la abuela?", "Asistente local");
  await expect(lastReply(page)).toContainText("se llamaba Bigotes");
  await expect(lastReply(page)).toContainText("No soy un modelo de lenguaje");
  await lastReply(page).getByRole("complementary").getByRole("link").click();
  await expect(page.locator('article[data-role="user"]')).toContainText("Bigotes");
});

test("a failed reply stays in place and can be retried", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "error 500", "gpt-4o");
  await expect(lastReply(page)).toContainText("El proveedor del modelo tiene un problema (500).");
  await page.reload();
  await expect(lastReply(page)).toHaveAttribute("data-status", "failed");
  await lastReply(page).getByRole("button", { name: "Reintentar" }).click({ noWaitAfter: true });
  await expect(lastReply(page)).toContainText("2/2");
  await expect(lastReply(page)).toContainText("El proveedor del modelo tiene un problema (500).");
});

test("a reply that broke off goes on with «Continuar»", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Una respuesta cortada", "gpt-4o");
  await expect(lastReply(page)).toContainText("se cortó antes de terminar");
  await lastReply(page).getByRole("button", { name: "Continuar" }).click({ noWaitAfter: true });
  await expect(lastReply(page)).toContainText("Y aquí sigue.");
  await expect(lastReply(page)).not.toContainText("se cortó");
});

test("a double click on «Enviar» sends once", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat");
  await page.getByLabel("Mensaje", { exact: true }).fill("Una sola vez");
  await page.getByRole("button", { name: "Enviar" }).dblclick({ noWaitAfter: true });
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await expect(page.locator('article[data-role="user"]')).toHaveCount(1);
  await page.goto("/conversation/chat");
  await expect(page.getByRole("main").getByRole("listitem")).toHaveCount(1);
});

test("a chat is pinned, renamed and deleted through its menu", async ({ page, person, javaScriptEnabled }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Hola", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const menu = page.getByRole("button", { name: "Opciones de la conversación" });
  await menu.click();
  await page.getByRole("button", { name: "Fijar" }).click();
  await expect(page.getByRole("navigation")).toContainText("Fijados");

  await menu.click();
  await page.getByRole("link", { name: "Cambiar el título" }).click();
  const dialog = page.getByRole("dialog", { name: "Cambiar el título" });
  await dialog.getByLabel("Título").fill("Cosas mías");
  await dialog.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Cosas mías");

  await menu.click();
  await page.getByRole("link", { name: "Eliminar" }).click();
  // With a script it can be taken back for a while instead of being asked about.
  if (!javaScriptEnabled) await page.getByRole("alertdialog").getByRole("button", { name: "Confirmar" }).click();
  await page.waitForURL("**/conversation/chat");
  await expect(page.getByText("Conversación eliminada.")).toBeVisible();
  await expect(page.getByRole("navigation").getByRole("link", { name: "Cosas mías" })).toBeHidden();
});

test("regenerates a reply with another model as a second version", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Hola", "Asistente local");
  await lastReply(page).getByRole("button", { name: "Más acciones" }).click();
  await lastReply(page).getByRole("link", { name: "Con otro modelo" }).click();
  const dialog = page.getByRole("dialog", { name: "Regenerar con otro modelo" });
  await dialog.getByLabel("Modelo").selectOption({ label: "gpt-4o" });
  await dialog.getByRole("button", { name: "Regenerar" }).click();
  await expect(lastReply(page).getByRole("heading", { name: "gpt-4o" })).toBeVisible();
  await expect(lastReply(page)).toContainText("2/2");
});

test("edits an earlier message into a new version, keeping both", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Pregunta vieja", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await page.getByRole("link", { name: "Editar mensaje" }).click();
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("Pregunta vieja");
  await expect(page.getByText("Al enviarlo se crea otra versión.")).toBeVisible();
  await expect(page.locator("article[data-edited]")).toContainText("Pregunta vieja");
  await expect(page.getByRole("button", { name: "Enviar de nuevo" })).toBeVisible();
  await say(page, "Pregunta nueva");
  await expect(page.locator("main")).not.toContainText("Pregunta vieja");
  await expect(page.locator('article[data-role="user"]')).toContainText("Pregunta nueva");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await page.getByRole("link", { name: "Versión anterior" }).click();
  await expect(page.locator('article[data-role="user"]')).toContainText("Pregunta vieja");
});

test("keeps a long message when the session expires", async ({ page, person, context, javaScriptEnabled }) => {
  await begin(page, "Hola", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const long = "Un texto que costó escribir. ".repeat(200).trim();
  await page.getByLabel("Mensaje", { exact: true }).fill(long);
  await context.request.post("/auth/signout", {
    form: { formToken: await page.locator('[name="formToken"]').first().inputValue() },
    maxRedirects: 0,
  });
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.getByText(/Session expirada|llevaba mucho tiempo/)).toBeVisible();
  const again = page.getByRole("button", { name: "Enviar otra vez" });
  if (await again.isVisible()) await again.click();
  await page.getByLabel("Correo electrónico").fill(person.email);
  await page.getByLabel("Contraseña").fill(password);
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await page.waitForURL(/\/conversation\/chat/);
  // With a script it is sent by itself; without one it waits in the composer.
  if (javaScriptEnabled) await expect(page.locator('article[data-role="user"]').last()).toContainText(long);
  else await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue(long);
});
