import type { Page } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { expect, signInAsAdmin, test } from "./fixtures.ts";

const dialog = (page: Page) => page.getByRole("dialog").or(page.getByRole("alertdialog"));
const save = (page: Page) => dialog(page).getByRole("button", { name: "Guardar" }).last().click();
const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
const field = (page: Page, label: string) => dialog(page).getByLabel(label, { exact: true });

/** A conversation of the admin's with a title of its own, for what is written about it. */
async function ownChat(other: Browser): Promise<{ title: string; chat: string }> {
  const title = `Charla ${crypto.randomUUID().slice(0, 8)}`;
  const chat = await other.say("Algo que resumir");
  await other.submit(`${chat}/editar`, `${chat}/editar`, { title });
  return { title, chat };
}

type Made = {
  path: string;
  /** The field that tells it in the list: its label, its name and, where it is no text, what it is called. */
  label: string;
  name: string;
  called?: () => string;
  fill?: (page: Page, other: Browser) => Promise<void>;
};

const made: Made[] = [
  {
    path: "user",
    label: "Nombre",
    name: "name",
    fill: async (page) => {
      await field(page, "Correo electrónico").fill(`${crypto.randomUUID()}@ejemplo.es`);
      await field(page, "Contraseña").fill("una frase larga y rara");
    },
  },
  {
    path: "model",
    label: "Nombre",
    name: "name",
    fill: async (page) => {
      await field(page, "Identificador del proveedor").fill("modelo-de-prueba");
      await field(page, "Dirección").fill("https://modelos.ejemplo.es/v1");
      // Not among those that other tests choose from.
      await field(page, "Activo").uncheck();
    },
  },
  {
    path: "training",
    label: "Título",
    name: "title",
    fill: async (page) => {
      await field(page, "Contenido").fill("Pregunta: ¿Hola?\n\nRespuesta: **Adiós.**");
      await field(page, "Tipo").selectOption({ label: "Ejemplo" });
      await field(page, "Activo").uncheck();
      await dialog(page).getByRole("button", { name: "Vista previa" }).click();
      await expect(dialog(page).locator(".previewed strong")).toHaveText("Adiós.");
    },
  },
  {
    path: "page",
    label: "Título",
    name: "title",
    fill: async (page) => {
      await field(page, "Dirección").fill("Con Espacios");
      await save(page);
      await expect(dialog(page).getByText("La dirección solo lleva letras").first()).toBeVisible();
      await field(page, "Dirección").fill(`pagina-${crypto.randomUUID().slice(0, 8)}`);
    },
  },
  { path: "project", label: "Nombre", name: "name" },
  { path: "chat", label: "Título", name: "title" },
  {
    path: "subscription",
    label: "Mensajes al día",
    name: "messagesPerDay",
    called: () => String(100 + Math.floor(Math.random() * 900)),
    fill: async (page) => {
      await field(page, "Desde (UTC)").or(field(page, "Desde (hora de Madrid)")).fill("2026-01-01T00:00");
      await field(page, "Persona").fill("nadie@ejemplo.es");
      await save(page);
      await expect(dialog(page).getByText("Esa persona no existe.").first()).toBeVisible();
      await field(page, "Persona").fill("admin");
      await dialog(page).getByRole("button", { name: "Buscar Persona" }).click();
      await dialog(page).getByRole("radio").first().check();
    },
  },
  {
    path: "message",
    label: "Texto",
    name: "content",
    fill: async (page, other) => field(page, "Conversación").fill((await ownChat(other)).title),
  },
  {
    path: "summary",
    label: "Resumen",
    name: "content",
    fill: async (page, other) => {
      const { title } = await ownChat(other);
      await field(page, "Conversación").fill(title);
      await dialog(page).getByRole("button", { name: "Buscar Conversación" }).click();
      // Its messages are looked for in what has been found by then.
      await expect(dialog(page).getByRole("radio", { name: title })).toBeChecked();
      await dialog(page).getByRole("button", { name: "Buscar Último mensaje que resume" }).click();
      await dialog(page)
        .getByRole("radio", { name: /Algo que resumir/ })
        .check();
    },
  },
];

test.use({ timezoneId: "Europe/Madrid" });

for (const { path, label, name, called, fill } of made) {
  test(`creates, finds, edits despite a conflict and deletes a ${path}`, async ({ page, server }) => {
    const other = new Browser(server.url);
    await other.signIn(server.adminEmail);
    await signInAsAdmin(page, server.adminEmail);
    const text = called?.() ?? `Prueba ${crypto.randomUUID().slice(0, 8)}`;
    const changed = called?.() ?? `${text} bis`;

    await page.goto(`/admin/${path}`);
    await page.getByRole("link", { name: "Crear", exact: true }).click();
    await field(page, label).fill(text);
    await fill?.(page, other);
    await expect(field(page, label)).toHaveValue(text);
    await save(page);
    await expect(page.getByText(/ cread[oa]\./)).toBeVisible();

    if (!called) {
      await page.getByRole("main").getByLabel("Buscar").fill(text);
      await page.getByRole("button", { name: "Filtrar" }).click();
      await expect(page.getByText(/^1 a 1 de 1\b/)).toBeVisible();
    }
    await row(page, text).first().getByRole("link", { name: "Editar" }).click();
    await expect(field(page, label)).toHaveValue(text);
    const edit = new URL(page.url()).pathname;
    expect((await other.change(edit, { [name]: called?.() ?? `${text} ajeno` })).status).toBe(303);
    await field(page, label).fill(changed);
    await save(page);
    await expect(dialog(page).getByText("Alguien lo ha cambiado mientras lo editabas.").first()).toBeVisible();
    await expect(field(page, label)).toHaveValue(changed);
    await expect(dialog(page).getByLabel("Lo que he escrito yo")).toBeChecked();
    await save(page);
    await expect(page.getByText(/ guardad[oa]\./)).toBeVisible();

    await page.goto(edit.replace(/\/editar$/, ""));
    await expect(page.getByRole("main")).toContainText(changed);
    await page.getByRole("link", { name: "Eliminar" }).click();
    await dialog(page).getByRole("button", { name: "Confirmar" }).click();
    await expect(page.getByText(/ eliminad[oa]\./)).toBeVisible();
    expect((await page.goto(edit))?.status()).toBe(404);
  });
}

test("resolves an edit conflict field by field", async ({ page, server }) => {
  const other = new Browser(server.url);
  await other.signIn(server.adminEmail);
  await signInAsAdmin(page, server.adminEmail);
  await page.goto("/admin/project/crear");
  const name = `Dos a la vez ${crypto.randomUUID().slice(0, 6)}`;
  await field(page, "Nombre").fill(name);
  await save(page);
  await page.goto(`/admin/project?q=${encodeURIComponent(name)}`);
  await row(page, name).getByRole("link", { name: "Editar" }).click();
  await expect(field(page, "Nombre")).toHaveValue(name);
  const edit = new URL(page.url()).pathname;
  await other.change(edit, { description: "La de la otra", instructions: "También cambiadas" });

  await field(page, "Descripción").fill("La mía");
  await save(page);
  await expect(field(page, "Descripción")).toHaveValue("La mía");
  await dialog(page)
    .getByRole("group", { name: /^Instrucciones/ })
    .getByLabel(/Lo guardado/)
    .check();
  await save(page);
  await expect(page.getByText("Proyecto guardado.")).toBeVisible();
  await page.goto(edit);
  await expect(field(page, "Descripción")).toHaveValue("La mía");
  await expect(field(page, "Instrucciones")).toHaveValue("También cambiadas");
});

test("tests a model, deletes marked messages, shows the audit log", async ({ page, server }) => {
  const other = new Browser(server.url);
  await other.signIn(server.adminEmail);
  await signInAsAdmin(page, server.adminEmail);
  await page.goto("/admin/model?q=gpt-4o");
  // Both test providers have one of that name.
  await row(page, "gpt-4o").first().getByRole("button", { name: "Probar" }).click();
  await expect(page.getByRole("status").filter({ hasText: /Responde Primera palabra en \d/ })).toBeVisible();
  await page.getByRole("link", { name: "gpt-4o", exact: true }).first().click();
  await expect(page.getByRole("heading", { level: 1, name: "gpt-4o" })).toBeVisible();
  await page.getByRole("button", { name: "Probar" }).click();
  await expect(page.getByRole("main")).toContainText(/Responde Primera palabra en \d/);

  const { chat } = await ownChat(other);
  await page.goto(`/admin/message?chatId=${chat.split("/").at(-1)}`);
  await expect(page.getByText(/^1 a 2 de 2\b/)).toBeVisible();
  await page.getByRole("checkbox", { name: "Marcar Algo que resumir" }).check();
  await page.getByRole("button", { name: "Eliminar los marcados" }).click();
  await dialog(page).getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("Eliminar: 1 de 1.")).toBeVisible();

  await page.goto("/admin/audit?action=signin");
  await expect(row(page, "Inicio de sesión").first()).toContainText("Admin");
  const title = `Aviso ${crypto.randomUUID().slice(0, 8)}`;
  await other.change("/admin/page/crear", { title, slug: `aviso-${crypto.randomUUID().slice(0, 8)}` });
  await page.goto("/admin/audit?action=create&resource=page");
  await page.getByRole("row").nth(1).getByRole("link", { name: "Creación" }).click();
  await expect(page.getByRole("row", { name: `Título — ${title}` })).toBeVisible();
});

test("the system page makes, downloads and deletes a copy", async ({ page, server }) => {
  await signInAsAdmin(page, server.adminEmail);
  await page.goto("/admin/sistema");
  await expect(page.getByRole("main")).toContainText("SQLite");
  await page.getByRole("button", { name: "Hacer una copia ahora" }).click();
  await expect(page.getByText("La copia está hecha.")).toBeVisible();
  const copy = row(page, "copia-").first();
  await copy.getByRole("link", { name: "Descargar" }).click();
  await page.getByLabel("Para qué").fill("Probar que se puede restaurar");
  await page.getByRole("button", { name: "Apuntarlo y leer" }).click();
  const download = page.waitForEvent("download");
  await copy.getByRole("link", { name: "Descargar" }).click();
  expect((await download).suggestedFilename()).toMatch(/^tertulia-copia-.*\.tar$/);
  const name = (await copy.getByRole("rowheader").textContent()) ?? "";
  await copy.getByRole("link", { name: "Eliminar" }).click();
  await dialog(page).getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("La copia está borrada.")).toBeVisible();
  await expect(row(page, name)).toHaveCount(0);
});

test("the diagnosis tells that nothing holds pages back", async ({ page, server }) => {
  await signInAsAdmin(page, server.adminEmail);
  await page.goto("/admin/sistema/diagnostico");
  await page.getByRole("button", { name: "Empezar" }).click({ noWaitAfter: true });
  await expect(page.getByText("Nada retiene las páginas")).toBeVisible();
  await expect(page.getByText("Ningún proxy dice estar delante.")).toBeVisible();
});
