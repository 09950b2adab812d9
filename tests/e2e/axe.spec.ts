import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { begin, expect, lastReply, signInAsAdmin, test } from "./fixtures.ts";

/** What axe finds by WCAG 2.2 AA and its own good practice, at two widths. */
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

/** axe is a script itself: where scripts are off it looks at the same page, of which no script has been loaded. */
const look = test.extend<{ audit: (path: string) => Promise<string[]> }>({
  audit: async ({ page, browser, javaScriptEnabled, baseURL }, use) => {
    let bare: Page | undefined;
    const withoutScripts = async () => {
      const storageState = await page.context().storageState();
      const context = await browser.newContext({ storageState, baseURL, javaScriptEnabled: true });
      const opened = await context.newPage();
      await opened.route(/\.js$/, (route) => route.abort());
      return opened;
    };
    await use(async (path) => {
      if (!javaScriptEnabled) bare ??= await withoutScripts();
      const looked = bare ?? page;
      await looked.goto(path);
      return findings(looked);
    });
    await bare?.context().close();
  },
});

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
  look(`axe finds nothing on ${path}`, async ({ audit }) => {
    expect(await audit(path)).toEqual([]);
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
  look(`axe finds nothing on /user${path}`, async ({ audit, person }) => {
    expect(person.email).toBeTruthy();
    expect(await audit(`/user${path}`)).toEqual([]);
  });
}

look("axe finds nothing on a conversation and its dialogs", async ({ page, audit, person }) => {
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
    expect([path, ...(await audit(path))]).toEqual([path]);
  }
});

look("axe finds nothing on the administration", async ({ page, audit, server }) => {
  await signInAsAdmin(page, server.adminEmail);
  for (const path of [
    "/admin",
    "/admin/sistema",
    "/admin/model?q=gpt",
    "/admin/model/crear",
    "/admin/training/crear",
  ]) {
    expect([path, ...(await audit(path))]).toEqual([path]);
  }
});

look("axe finds nothing on projects", async ({ page, audit, person }) => {
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
    expect([path, ...(await audit(path))]).toEqual([path]);
  }
});
