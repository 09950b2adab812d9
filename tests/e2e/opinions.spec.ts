import { begin, expect, lastReply, signInAsAdmin, test } from "./fixtures.ts";

test("a person says what they think of a reply; who administers reads it and asks another model the same", async ({
  page,
  person,
  server,
  browser,
  javaScriptEnabled,
}) => {
  expect(person.email).toContain("@");
  await begin(page, "¿Para qué sirve una brújula?");
  await lastReply(page).getByRole("link", { name: "No útil" }).click();
  await expect(page.getByText("Quien administra leerá tu opinión")).toBeVisible();
  await page.getByLabel("Por qué").fill("No dice nada.");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(lastReply(page).getByRole("link", { name: "No útil para ti" })).toBeVisible();

  const office = await (await browser.newContext({ javaScriptEnabled })).newPage();
  await signInAsAdmin(office, server.adminEmail);
  await office.goto(`${server.url}/admin/opinion?q=${encodeURIComponent("No dice nada")}`);
  await office.getByRole("link", { name: "¿Para qué sirve una brújula?" }).first().click();
  await expect(office.getByText("No dice nada.").first()).toBeVisible();
  await office.getByRole("button", { name: "Probar", exact: true }).click();
  await expect(office.getByRole("heading", { name: /^Lo que contesta/ })).toBeVisible();
  await office.context().close();

  await lastReply(page).getByRole("link", { name: "No útil para ti" }).click();
  await page.getByLabel("La respuesta te ha sido").selectOption({ label: "Retirar mi opinión" });
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(lastReply(page).getByRole("link", { name: "No útil", exact: true })).toBeVisible();
});
