import { begin, expect, lastReply, signInAsAdmin, test } from "./fixtures.ts";

test("an administrator reads a rated reply and tries another model", async ({
  page,
  person,
  server,
  browser,
  javaScriptEnabled,
}) => {
  expect(person.email).toContain("@");
  await begin(page, "¿Para qué sirve una brújula?");
  const bad = lastReply(page).getByRole("button", { name: "No útil" });
  await bad.click();
  // Kept at once; the reason is asked afterwards.
  await expect(bad).toHaveAttribute("aria-pressed", "true");
  await lastReply(page).getByRole("link", { name: "¿Por qué?" }).click();
  await expect(page.getByText("Quien administra leerá tu opinión")).toBeVisible();
  await page.getByLabel("Por qué").fill("No dice nada.");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(bad).toHaveAttribute("aria-pressed", "true");

  const office = await (await browser.newContext({ javaScriptEnabled })).newPage();
  await signInAsAdmin(office, server.adminEmail);
  await office.goto(`${server.url}/admin/opinion?q=${encodeURIComponent("No dice nada")}`);
  await office.getByRole("link", { name: "¿Para qué sirve una brújula?" }).first().click();
  await expect(office.getByText("No dice nada.").first()).toBeVisible();
  await office.getByRole("button", { name: "Probar", exact: true }).click();
  await expect(office.getByRole("heading", { name: /^Lo que contesta/ })).toBeVisible();
  await office.context().close();

  await bad.click();
  await expect(bad).toHaveAttribute("aria-pressed", "false");
  await expect(lastReply(page).getByRole("link", { name: "¿Por qué?" })).toHaveCount(0);
});
