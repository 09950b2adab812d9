import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import sharp from "sharp";
import { expect, hydrated, lastReply, say, test } from "./fixtures.ts";

const document = (name: string) => fileURLToPath(new URL(`../documents/${name}`, import.meta.url));
const photo = async () => ({
  name: "foto.png",
  mimeType: "image/png",
  buffer: await sharp({ create: { width: 300, height: 200, channels: 3, background: "#a33" } })
    .png()
    .toBuffer(),
});
const svg = { name: "dibujo.svg", mimeType: "image/svg+xml", buffer: Buffer.from("<svg></svg>") };

/** Chooses files in the composer; without a script they are sent with a button. */
async function attach(page: Page, files: Parameters<ReturnType<Page["locator"]>["setInputFiles"]>[0]): Promise<void> {
  await page.getByLabel("Adjuntar archivos").setInputFiles(files as never);
  const send = page.getByRole("button", { name: "Subir" });
  if (await send.isVisible()) await send.click();
}

test("attaches an image and a PDF; refused files say why", async ({ page, person, models, javaScriptEnabled }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat");
  if (javaScriptEnabled) await hydrated(page);
  await page.getByLabel("Modelo").selectOption({ label: "gpt-4o" });
  await page.getByLabel("Mensaje", { exact: true }).fill("¿Cuántos kilos hubo?");
  await attach(page, [await photo(), svg]);
  await expect(page.getByRole("alert")).toContainText("«dibujo.svg» es una imagen SVG");
  await expect(page.getByRole("img", { name: "foto.png" })).toBeVisible();
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("¿Cuántos kilos hubo?");
  await attach(page, document("informe.pdf"));
  await expect(page.locator("#composer")).toContainText("PDF, 26 kB, 3 páginas");
  // On another device, or after a reload, it all waits there.
  if (javaScriptEnabled) await page.waitForResponse("**/conversation/draft");
  await page.goto("/conversation/chat");
  if (javaScriptEnabled) await hydrated(page);
  await expect(page.getByRole("img", { name: "foto.png" })).toBeVisible();
  await attach(page, { name: "sobra.txt", mimeType: "text/plain", buffer: Buffer.from("sobra") });
  await page.getByRole("button", { name: "Quitar sobra.txt" }).click();
  await expect(page.locator("#composer")).not.toContainText("sobra.txt");
  await page.getByLabel("Modelo").selectOption({ label: "gpt-4o" });
  await page.getByRole("button", { name: "Enviar" }).click({ noWaitAfter: true });

  const said = page.locator('article[data-role="user"]').last();
  await expect(said.getByRole("img", { name: "foto.png" })).toBeVisible();
  await expect(said.getByRole("link", { name: "informe.pdf" })).toBeVisible();
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const sent = models.getRequests().map(({ body }) => JSON.stringify(body));
  const body = sent.findLast((text) => text.includes("¿Cuántos kilos hubo?") && !text.includes("Pon título"));
  expect(body).toContain("data:image/jpeg;base64,");
  expect(body).toContain("340 kilos de tomate");
  await expect(page.locator("#composer .attachment")).toHaveCount(0);

  await lastReply(page).getByRole("button", { name: "Más acciones" }).click();
  await lastReply(page).getByRole("link", { name: "Qué se envió al modelo" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Qué se envió al modelo");
  await expect(page.getByRole("main")).toContainText("340 kilos de tomate");
  await expect(page.getByRole("main")).toContainText("con una imagen");
  await page.goBack();

  // Another question about it, to the assistant that quotes: its source opens at the passage.
  await page.getByLabel("Modelo").selectOption({ label: "Asistente local" });
  await say(page, "¿Cuánto costó la bomba del riego?");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await lastReply(page)
    .getByRole("link", { name: /informe.pdf, página 3/ })
    .click();
  await expect(page.locator(".passage[data-found]")).toContainText("La bomba costó 260 euros");
});

test("a picture is sent without a word", async ({ page, person, javaScriptEnabled }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat");
  if (javaScriptEnabled) await hydrated(page);
  await page.getByLabel("Modelo").selectOption({ label: "gpt-4o" });
  await attach(page, [await photo()]);
  await expect(page.getByRole("img", { name: "foto.png" })).toBeVisible();
  await page.getByRole("button", { name: "Enviar" }).click({ noWaitAfter: true });
  const said = page.locator('article[data-role="user"]').last();
  await expect(said.getByRole("img", { name: "foto.png" })).toBeVisible();
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
});

test("refuses a ninth file in a message and names it", async ({ page, person, javaScriptEnabled }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat");
  if (javaScriptEnabled) await hydrated(page);
  const files = Array.from({ length: 9 }, (_, n) => ({
    name: `nota${n}.txt`,
    mimeType: "text/plain",
    buffer: Buffer.from(`Nota ${n}`),
  }));
  await attach(page, files);
  await expect(page.getByRole("alert")).toContainText("«nota8.txt» no cabe: un mensaje puede llevar 8 archivos");
  await expect(page.locator("#composer .attachment")).toHaveCount(8);
});

test("files are uploaded, found, read and deleted at /user/file", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/user/file");
  await expect(page.getByText("Aún no hay ninguno.")).toBeVisible();
  await page
    .getByLabel("Archivos")
    .setInputFiles([document("carta.docx"), document("con-clave.pdf"), document("solo-programa.html")]);
  await page.getByRole("button", { name: "Subir" }).click();
  await expect(page.getByText("2 archivos guardados.")).toBeVisible();
  await expect(page.getByText("«con-clave.pdf» tiene contraseña")).toBeVisible();
  await expect(
    page.getByText("«solo-programa.html» no tiene texto que leer, ni escrito ni en imágenes."),
  ).toBeVisible();
  await page.getByRole("searchbox", { name: "Buscar por nombre" }).fill("carta");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Un archivo: «carta».")).toBeVisible();
  await page.getByRole("main").getByRole("link", { name: "carta.docx", exact: true }).click();
  await expect(page.getByRole("main")).toContainText("Estimada directora");
  await page.getByRole("button", { name: "Usar en una conversación" }).click();
  await expect(page.locator("#composer")).toContainText("carta.docx");
  await page.goBack();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Más opciones" }).click();
  await page.getByRole("link", { name: "Descargar" }).click();
  expect((await download).suggestedFilename()).toBe("carta.docx");
  // Without a script the menu is still open.
  await page.reload();
  await page.getByRole("button", { name: "Más opciones" }).click();
  await page.getByRole("link", { name: "Eliminar" }).click();
  await page.getByRole("alertdialog", { name: "Eliminar archivo" }).getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("Archivo eliminado.")).toBeVisible();
  await expect(page.getByRole("main").locator(".row")).toHaveCount(1);
});

test("a project answers from its documents and keeps the draft", async ({ page, person, javaScriptEnabled }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/project/crear");
  await page.getByLabel("Nombre").fill("Huerto");
  await page.getByRole("dialog").getByRole("button", { name: "Guardar" }).click();
  await page.getByRole("link", { name: "Añadir" }).click();
  const create = page.getByRole("dialog", { name: "Crear documento" });
  await create.getByLabel("Archivos").setInputFiles(document("informe.pdf"));
  await create.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByRole("main").getByRole("link", { name: "informe.pdf", exact: true })).toBeVisible();
  await page.getByLabel("Mensaje", { exact: true }).fill("¿Cuánta agua gasta el riego");
  // A draft in a project waits there on every device; without a script it is kept with the form.
  const saved = javaScriptEnabled ? page.waitForResponse("**/conversation/draft") : undefined;
  if (!javaScriptEnabled) await page.getByRole("button", { name: "Ocultar la barra" }).click();
  await saved;
  await page.goto(page.url());
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("¿Cuánta agua gasta el riego");
  if (!javaScriptEnabled) await page.getByRole("button", { name: "Mostrar la barra" }).click();
  await page.getByLabel("Modelo").selectOption({ label: "Asistente local" });
  await say(page, "¿Cuánta agua gasta el riego por goteo?");
  await expect(lastReply(page)).toContainText("de 91 a 38 metros cúbicos");
  await page.getByRole("navigation").getByRole("link", { name: "Huerto" }).click();
  await page.getByRole("link", { name: "Eliminar documento informe.pdf" }).click();
  await page
    .getByRole("alertdialog", { name: "Eliminar documento" })
    .getByRole("button", { name: "Confirmar" })
    .click();
  await expect(page.getByText("Documento eliminado.")).toBeVisible();
  await expect(page.getByText("El modelo responde también con lo que digan")).toBeVisible();
});
