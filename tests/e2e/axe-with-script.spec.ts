import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { begin, expect, lastReply, signInAsAdmin, test } from "./fixtures.ts";

/** Findings of axe by WCAG 2.2 AA and its own good practice, at two widths. */
async function findings(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    // There are no frames of other sites here, for which axe would open a second page each time.
    const { violations } = await new AxeBuilder({ page })
      .setLegacyMode(true)
      .options({ resultTypes: ["violations"] })
      .analyze();
    const where = (nodes: { html: string }[]) => nodes.map(({ html }) => html.slice(0, 160)).join(" | ");
    found.push(...violations.map(({ id, nodes }) => `${width}: ${id} ${where(nodes)}`));
  }
  return found;
}

/** Findings on a page. The same pages without scripts are looked at in every-page-long.spec.ts. */
async function audit(page: Page, path: string): Promise<string[]> {
  await page.goto(path);
  return findings(page);
}

const open = [
  "/",
  "/servicios",
  "/sobre-nosotros",
  "/soporte",
  "/contacto",
  "/auth/signin",
  "/auth/signup",
  "/auth/reset",
];
for (const path of [...open, "/auth/reset/x", "/nada"]) {
  test(`axe finds nothing on ${path}`, async ({ page }) => {
    expect(await audit(page, path)).toEqual([]);
  });
}

const account = [
  "",
  "/claves/crear",
  "/contrasena",
  "/verificacion/crear",
  "/verificacion/eliminar",
  "/eliminar",
  "/ayuda",
  "/file",
];
for (const path of account) {
  test(`axe finds nothing on /user${path}`, async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    expect(await audit(page, `/user${path}`)).toEqual([]);
  });
}

test("axe finds nothing on a conversation and its dialogs", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Una respuesta con formato", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const chat = page.url();
  const sent = await lastReply(page).locator("a[href*='/enviado/']").getAttribute("href");
  for (const path of [
    chat,
    `${chat}/editar`,
    `${chat}/eliminar`,
    `${chat}/exportar`,
    `${chat}/compartir`,
    `${chat}/imprimir`,
    `${sent}`,
    "/conversation/chat?q=formato",
    "/conversation/chat/organizar",
    "/conversation/chat/importar",
  ]) {
    expect([path, ...(await audit(page, path))]).toEqual([path]);
  }
});

test("axe finds nothing on the administration", async ({ page, server }) => {
  await signInAsAdmin(page, server.adminEmail);
  for (const path of [
    "/admin",
    "/admin/sistema",
    "/admin/model?q=gpt",
    "/admin/model/crear",
    "/admin/training/crear",
  ]) {
    expect([path, ...(await audit(page, path))]).toEqual([path]);
  }
});

test("axe finds nothing on projects", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/project/crear");
  await page.getByLabel("Nombre").fill("Tesis");
  await page.getByRole("button", { name: "Guardar" }).click();
  await page.waitForURL(/\/conversation\/project\/[\w-]{36}$/);
  const project = page.url();
  await page.goto("/user/file");
  await page.getByLabel("Archivos").setInputFiles("tests/documents/informe.pdf");
  await page.getByRole("button", { name: "Subir" }).click();
  const file = await page.getByRole("link", { name: "informe.pdf", exact: true }).getAttribute("href");
  for (const path of [
    project,
    `${project}/editar`,
    `${project}/eliminar`,
    "/conversation/project",
    "/conversation/project/crear",
    `${project}/documentos/crear`,
    file ?? "",
    "/user/datos",
  ]) {
    expect([path, ...(await audit(page, path))]).toEqual([path]);
  }
});
