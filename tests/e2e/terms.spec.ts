import { expect, signInAsAdmin, test } from "./fixtures.ts";

test("requires accepting the terms before continuing to the page", async ({
  page,
  person,
  browser,
  server,
  javaScriptEnabled,
}) => {
  expect(person.email).toContain("@");
  const office = await (await browser.newContext({ javaScriptEnabled })).newPage();
  await signInAsAdmin(office, server.adminEmail);
  await office.goto(`${server.url}/admin/page/crear`);
  await office.getByRole("textbox", { name: "Título" }).fill("Normas de la casa");
  await office.getByRole("textbox", { name: "Dirección" }).fill(`normas-${Date.now()}`);
  await office.getByRole("textbox", { name: "Texto" }).fill("## Trato\n\nSé **amable**.");
  await office.locator("[name=published][type=checkbox]").check();
  await office.locator("[name=mustAccept][type=checkbox]").check();
  await office.getByRole("button", { name: "Guardar" }).click();
  await office.getByRole("button", { name: "Acepto" }).click();
  await expect(office.getByRole("heading", { name: "Páginas" })).toBeVisible();
  try {
    await page.goto("/conversation/project");
    await expect(page.getByText("Para seguir hay que aceptarlas.")).toBeVisible();
    await expect(page.getByText("Sé amable.")).toBeVisible();
    await page.getByRole("button", { name: "Acepto" }).click();
    await page.waitForURL("**/conversation/project");
    await expect(page.getByRole("heading", { name: "Proyectos", level: 1 })).toBeVisible();
  } finally {
    // The server is shared with other tests, whose people have accepted nothing.
    await office.goto(`${server.url}/admin/page?q=Normas`);
    await office.getByRole("link", { name: "Eliminar Normas de la casa" }).click();
    await office.getByRole("button", { name: "Confirmar" }).click();
    // The list stands behind the dialog already: closed before it is back, the browser may take the request along.
    await office.waitForURL((url) => url.pathname === "/admin/page");
    await office.context().close();
  }
});
