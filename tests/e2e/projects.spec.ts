import { begin, expect, lastReply, say, test } from "./fixtures.ts";

test("creates, edits, fills and deletes a project with its chats", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Hola", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const chat = new URL(page.url()).pathname;

  await page.getByRole("navigation").getByRole("link", { name: "Proyectos" }).click();
  await expect(page.getByText("Aún no tienes ninguno.")).toBeVisible();
  await page.getByRole("link", { name: "Crear proyecto" }).click();
  const create = page.getByRole("dialog", { name: "Crear proyecto" });
  await create.getByLabel("Nombre").fill("Tesis");
  await create.getByLabel("Instrucciones").fill("Cita siempre por autor y año.");
  await create.getByRole("button", { name: "Guardar" }).click();
  await page.waitForURL(/\/conversation\/project\/[\w-]{36}$/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tesis");
  await expect(page.getByRole("main")).toContainText("Cita siempre por autor y año.");
  const project = page.url();

  await page.getByRole("link", { name: "Editar" }).click();
  const edit = page.getByRole("dialog", { name: "Editar proyecto" });
  await expect(edit.getByLabel("Instrucciones")).toHaveValue("Cita siempre por autor y año.");
  await edit.getByLabel("Nombre").fill("Tesis doctoral");
  await edit.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tesis doctoral");
  await expect(page.getByRole("navigation")).toContainText("Tesis doctoral");

  await say(page, "Una pregunta del proyecto");
  await page.waitForURL("**/conversation/chat/*");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();

  await page.goto(`${chat}/mover`);
  const move = page.getByRole("dialog", { name: "Mover a un proyecto" });
  await move.getByLabel("Proyecto").selectOption({ label: "Tesis doctoral" });
  await move.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByText("La conversación está en el proyecto.")).toBeVisible();

  await page.goto(project);
  await expect(page.getByRole("main").getByRole("listitem")).toHaveCount(2);
  await page.getByRole("link", { name: "Eliminar" }).click();
  const remove = page.getByRole("alertdialog", { name: "Eliminar proyecto" });
  await expect(remove).toContainText("con sus 2 conversaciones");
  await remove.getByRole("button", { name: "Confirmar" }).click();
  await page.waitForURL("**/conversation/project");
  await expect(page.getByText("Proyecto eliminado.")).toBeVisible();
  expect((await page.goto(chat))?.status()).toBe(404);
});
