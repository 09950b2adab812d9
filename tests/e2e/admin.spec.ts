import type { Page } from "@playwright/test";
import { begin, expect, lastReply, signInAsAdmin, test } from "./fixtures.ts";

const dialog = (page: Page) => page.getByRole("dialog").or(page.getByRole("alertdialog"));
const save = (page: Page) => dialog(page).getByRole("button", { name: "Guardar" }).last().click();
const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

/** What is typed to make one of each, which field tells it in the list, and what an edit makes of that. */
const made: [path: string, fill: (page: Page, name: string) => Promise<void>, field: string][] = [
  [
    "user",
    async (page, name) => {
      await dialog(page).getByLabel("Nombre").fill(name);
      await dialog(page).getByLabel("Correo electrónico").fill(`${crypto.randomUUID()}@ejemplo.es`);
      await dialog(page).getByLabel("Contraseña").fill("una frase larga y rara");
    },
    "Nombre",
  ],
  [
    "model",
    async (page, name) => {
      await dialog(page).getByLabel("Nombre").fill(name);
      await dialog(page).getByLabel("Identificador del proveedor").fill("modelo-de-prueba");
      await dialog(page).getByLabel("Dirección").fill("https://modelos.ejemplo.es/v1");
      // Not among those that other tests choose from.
      await dialog(page).getByLabel("Activo").uncheck();
    },
    "Nombre",
  ],
  [
    "training",
    async (page, name) => {
      await dialog(page).getByLabel("Título").fill(name);
      await dialog(page).getByLabel("Contenido").fill("Pregunta: ¿Hola?\n\nRespuesta: **Adiós.**");
      await dialog(page).getByLabel("Tipo").selectOption({ label: "Ejemplo" });
      await dialog(page).getByLabel("Activo").uncheck();
      await dialog(page).getByRole("button", { name: "Vista previa" }).click();
      await expect(dialog(page).locator(".previewed strong")).toHaveText("Adiós.");
    },
    "Título",
  ],
  [
    "page",
    async (page, name) => {
      await dialog(page).getByLabel("Título").fill(name);
      await dialog(page).getByLabel("Dirección").fill("Con Espacios");
      await save(page);
      await expect(dialog(page).getByText("La dirección solo lleva letras").first()).toBeVisible();
      await expect(dialog(page).getByLabel("Título")).toHaveValue(name);
      await dialog(page)
        .getByLabel("Dirección")
        .fill(`pagina-${crypto.randomUUID().slice(0, 8)}`);
    },
    "Título",
  ],
  ["project", async (page, name) => dialog(page).getByLabel("Nombre").fill(name), "Nombre"],
  ["chat", async (page, name) => dialog(page).getByLabel("Título").fill(name), "Título"],
];

test("six resources are made, found, changed and deleted", async ({ page, server }) => {
  test.slow();
  await signInAsAdmin(page, server.adminEmail);
  for (const [path, fill, field] of made) {
    const name = `Prueba de ${path} ${crypto.randomUUID().slice(0, 6)}`;
    await page.goto(`/admin/${path}`);
    await page.getByRole("link", { name: "Crear", exact: true }).click();
    await fill(page, name);
    await save(page);
    await expect(page.getByText("Creado.")).toBeVisible();
    await page.getByRole("main").getByLabel("Buscar").fill(name);
    await page.getByRole("button", { name: "Filtrar" }).click();
    await expect(page.getByText("1 a 1 de 1", { exact: true })).toBeVisible();
    await row(page, name).getByRole("link", { name: "Editar" }).click();
    await expect(dialog(page).getByLabel(field, { exact: true })).toHaveValue(name);
    await dialog(page).getByLabel(field, { exact: true }).fill(`${name} bis`);
    await save(page);
    await expect(page.getByText("Guardado.")).toBeVisible();
    await row(page, `${name} bis`)
      .getByRole("link", { name: `${name} bis`, exact: true })
      .click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`${name} bis`);
    await page.getByRole("link", { name: "Eliminar" }).click();
    await dialog(page).getByRole("button", { name: "Confirmar" }).click();
    await expect(page.getByText("Eliminado.")).toBeVisible();
    await expect(row(page, name)).toHaveCount(0);
  }
});

test("subscriptions, messages and summaries are looked after by the people and chats they belong to", async ({
  page,
  server,
}) => {
  test.slow();
  await signInAsAdmin(page, server.adminEmail);
  await begin(page, "Algo que resumir", "Asistente local");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const chatId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const messageId = (await lastReply(page).getAttribute("data-message-id")) ?? "";

  await page.goto("/admin/model?q=gpt-4o");
  // Both test providers have one of that name.
  await page.getByRole("link", { name: "gpt-4o", exact: true }).first().click();
  await page.getByRole("button", { name: "Probar" }).click();
  await expect(page.getByText("Responde: primera palabra en")).toBeVisible();

  await page.goto("/admin/audit?action=signin");
  await expect(row(page, "Entrar").first()).toContainText("Admin");

  await page.goto("/admin/subscription/crear");
  await dialog(page).getByLabel("Persona").fill("nadie@ejemplo.es");
  await dialog(page).getByLabel("Desde (UTC)").fill("2026-01-01T00:00");
  await dialog(page).getByLabel("Mensajes al día").fill("900");
  await save(page);
  await expect(dialog(page).getByText("Esa persona no existe.").first()).toBeVisible();
  await dialog(page).getByLabel("Persona").fill(server.adminEmail);
  await save(page);
  await expect(page.getByText("Creado.")).toBeVisible();
  await expect(page.getByRole("row").nth(1)).toContainText("900");

  await page.goto(`/admin/message?chatId=${chatId}`);
  await expect(page.getByText("1 a 2 de 2", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Editar Algo que resumir" }).click();
  await dialog(page).getByLabel("Texto").fill("Otra cosa que resumir");
  await save(page);
  await expect(page.getByText("Guardado.")).toBeVisible();

  await page.goto("/admin/summary/crear");
  await dialog(page).getByLabel("Conversación").fill(chatId);
  await dialog(page).getByLabel("Último mensaje que resume").fill(messageId);
  await dialog(page).getByLabel("Resumen", { exact: true }).fill("Se habló de resumir.");
  await save(page);
  await expect(page.getByText("Creado.")).toBeVisible();
  await page.goto(`/conversation/chat/${chatId}`);
  await expect(page.getByText("Hasta aquí, el modelo tiene un resumen")).toBeVisible();

  await page.goto(`/admin/summary?chatId=${chatId}`);
  await page.getByRole("checkbox", { name: /Marcar Se habló/ }).check();
  await page.getByRole("button", { name: "Eliminar los marcados" }).click();
  await dialog(page).getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("Eliminar: 1 de 1.")).toBeVisible();
});

test("an edit of what somebody else has changed meanwhile shows both, and one is chosen", async ({
  page,
  browser,
  server,
  baseURL,
  javaScriptEnabled,
}) => {
  await signInAsAdmin(page, server.adminEmail);
  await page.goto("/admin/project/crear");
  const name = `Dos a la vez ${crypto.randomUUID().slice(0, 6)}`;
  await dialog(page).getByLabel("Nombre").fill(name);
  await save(page);
  await page.goto(`/admin/project?q=${encodeURIComponent(name)}`);
  const edit = (await row(page, name).getByRole("link", { name: "Editar" }).getAttribute("href")) ?? "";
  await page.goto(edit);
  const storageState = await page.context().storageState();
  const context = await browser.newContext({ storageState, baseURL, javaScriptEnabled });
  const other = await context.newPage();
  await other.goto(edit);
  await dialog(other).getByLabel("Descripción").fill("La de la otra");
  await dialog(other).getByLabel("Instrucciones").fill("También cambiadas");
  await save(other);
  await expect(other.getByText("Guardado.")).toBeVisible();
  await context.close();

  await dialog(page).getByLabel("Descripción").fill("La mía");
  await save(page);
  await expect(dialog(page).getByText("Alguien lo ha cambiado mientras lo editabas.").first()).toBeVisible();
  await expect(dialog(page).getByLabel("Descripción", { exact: true })).toHaveValue("La mía");
  await dialog(page)
    .getByRole("group", { name: /^Instrucciones/ })
    .getByLabel(/Lo guardado/)
    .check();
  await save(page);
  await expect(page.getByText("Guardado.")).toBeVisible();
  await page.goto(edit);
  await expect(dialog(page).getByLabel("Descripción")).toHaveValue("La mía");
  await expect(dialog(page).getByLabel("Instrucciones")).toHaveValue("También cambiadas");
});
