import { begin, expect, lastReply, signInAsAdmin, test } from "./fixtures.ts";

test("shows owners which conversation an administrator read and why", async ({
  page,
  person,
  server,
  browser,
  javaScriptEnabled,
}) => {
  await begin(page, "Esto es solo mío");
  await expect(lastReply(page)).toBeVisible();
  const { pathname } = new URL(page.url());

  const office = await (await browser.newContext({ javaScriptEnabled })).newPage();
  await signInAsAdmin(office, server.adminEmail);
  await office.goto(`${server.url}${pathname.replace("/conversation", "/admin")}`);
  await office.getByRole("link", { name: "Leerla" }).click();
  await expect(office.getByRole("heading", { name: "Leer lo que es de otra persona" })).toBeVisible();
  await expect(office.getByText(/Vas a abrir la conversación «.+», de Ana Gil/)).toBeVisible();
  await office.getByLabel("Para qué").fill("Me lo ha pedido Ana");
  await office.getByRole("button", { name: "Apuntarlo y leer" }).click();
  await office.waitForURL(`**${pathname}`);
  await expect(office.locator('article[data-role="user"]')).toContainText("Esto es solo mío");
  await office.context().close();

  await page.goto("/user/seguridad");
  await expect(page.getByText("Admin, que administra, puede leer durante una hora")).toBeVisible();
  const told = page.getByRole("region", { name: "Quién ha leído lo tuyo" });
  await expect(told.getByText(/^Conversación «/)).toBeVisible();
  await expect(told.getByText("Para qué: Me lo ha pedido Ana")).toBeVisible();
  expect(person.email).toContain("@");
});
