import { begin, expect, lastReply, test } from "./fixtures.ts";

test("several conversations are archived, moved and deleted at once", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  for (const title of ["Primera charla", "Segunda charla", "Tercera charla"]) {
    await begin(page, title, "Asistente local");
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  }
  await page.goto("/conversation/chat");
  await page.getByRole("link", { name: "Organizar varias" }).click();
  // There is nothing to do until one is marked.
  await expect(page.getByRole("button", { name: "Archivar" })).toBeHidden();
  await page.getByLabel("Primera charla").check();
  await page.getByLabel("Segunda charla").check();
  await page.getByRole("button", { name: "Archivar" }).click();
  await expect(page.getByText("Al archivo: 2 conversaciones.")).toBeVisible();
  await expect(page.locator(".picks li")).toHaveCount(1);
  await page.getByRole("link", { name: "Ver las archivadas" }).click();
  await page.getByLabel("Segunda charla").check();
  await page.getByRole("button", { name: "Eliminar" }).click();
  const sure = page.getByRole("alertdialog", { name: "Eliminar una conversación" });
  await sure.getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("Eliminadas: una conversación.")).toBeVisible();
  await expect(page.locator(".picks li")).toHaveText(/Primera charla/);
});

test("a temporary conversation is unlisted and ends with the session", async ({ page, person }) => {
  await page.goto("/conversation/chat");
  await page.getByLabel("Modelo").selectOption({ label: "Asistente local" });
  await page.getByLabel("Temporal").check();
  await page.getByLabel("Mensaje", { exact: true }).fill("Que no quede");
  await page.getByRole("button", { name: "Enviar" }).click({ noWaitAfter: true });
  await expect(page.getByText("Temporal: se borra al cerrar esta sesión")).toBeVisible();
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const chat = page.url();
  await page.goto("/conversation/chat");
  await expect(page.getByText("Que no quede")).toHaveCount(0);
  await page.getByRole("navigation").getByRole("button", { name: "Ana Gil" }).click();
  await page.getByRole("button", { name: "Cerrar sesión" }).click();
  await page.waitForURL("**/auth/signin");
  await page.getByLabel("Correo electrónico").fill(person.email);
  await page.getByLabel("Contraseña").fill("una frase larga y rara");
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await page.waitForURL("**/user");
  expect((await page.goto(chat))?.status()).toBe(404);
});

test("an export of another program is imported", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat/importar");
  const file = (content: object) => ({
    name: "conversations.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(content)),
  });
  const field = page.getByLabel("Archivo de la exportación");
  await field.setInputFiles(file({ nada: true }));
  await page.getByRole("button", { name: "Importar" }).click();
  await expect(page.getByRole("alert")).toContainText("no es una exportación que se conozca");
  const messages = [
    { id: "a", parentId: null, role: "user", content: "¿Lleva pan el gazpacho?" },
    { id: "b", parentId: "a", role: "assistant", content: "Sí, **duro**." },
  ];
  await field.setInputFiles(file({ id: "x", title: "Gazpacho", messages }));
  await page.getByRole("button", { name: "Importar" }).click();
  await expect(page.getByText("Una conversación importada, con 2 mensajes.")).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "Gazpacho" }).click();
  await expect(lastReply(page)).toContainText("Sí, duro.");
});
