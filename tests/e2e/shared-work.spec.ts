import { Browser } from "../support/browser.ts";
import { begin, expect, lastReply, say, test } from "./fixtures.ts";

test("a project member reads shared chats and continues a copy", async ({ page, person, browser, server }) => {
  expect(person.email).toContain("@");
  const email = await new Browser(server.url).signUp("Berta");
  await page.goto("/conversation/project/crear");
  await page.getByLabel("Nombre").fill("Tesis de Ana");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByText("Solo tú.")).toBeVisible();
  await page.getByRole("link", { name: "Cambiar miembros" }).click();
  await page.getByLabel("Correo de quien añades").fill("nadie@ejemplo.es");
  await page.getByRole("button", { name: "Añadir" }).click();
  await expect(page.getByText("Nadie de aquí tiene ese correo.").first()).toBeVisible();
  await page.getByLabel("Correo de quien añades").fill(email);
  await page.getByRole("button", { name: "Añadir" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: email }).first()).toContainText("Puede escribir");
  await page.getByRole("link", { name: "Cerrar" }).last().click();
  await say(page, "Lo que escribe Ana");
  await expect(lastReply(page).getByText("Con dos frases.")).toBeVisible();

  const hers = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await hers.goto(`${server.url}/auth/signin`);
  await hers.getByLabel("Correo electrónico").fill(email);
  await hers.getByLabel("Contraseña").fill("una frase larga y rara");
  await hers.getByRole("button", { name: "Iniciar sesión" }).click();
  await hers.goto(`${server.url}/conversation/project`);
  await hers.getByRole("main").getByRole("link", { name: "Tesis de Ana" }).click();
  await hers.locator("ul.rows a.title").first().click();
  await expect(hers.getByText("Lo que escribe Ana")).toBeVisible();
  await expect(hers.getByText("Esta conversación es de")).toBeVisible();
  await expect(hers.getByRole("link", { name: "Editar mensaje" })).toHaveCount(0);
  await hers.getByRole("button", { name: "Continuar en una copia" }).click();
  await say(hers, "Lo que sigue Berta");
  await expect(lastReply(hers).getByText("Con dos frases.")).toBeVisible();

  await page.goto("/conversation/project");
  await page.getByRole("main").getByRole("link", { name: "Tesis de Ana" }).click();
  await expect(page.getByText("Berta:").first()).toBeVisible();
  await hers.context().close();
});

test("shares a chat with a group and withdraws it again", async ({
  page,
  person,
  browser,
  server,
  javaScriptEnabled,
}) => {
  const office = new Browser(server.url);
  await office.signIn(server.adminEmail);
  const reader = new Browser(server.url);
  const email = await reader.signUp("Carla");
  const group = `Grupo de ${email}`;
  await office.change("/admin/group/crear", { name: group });
  for (const userId of [person.email, email]) await office.change("/admin/member/crear", { groupId: group, userId });
  await begin(page, "El plazo acaba el martes");
  await expect(lastReply(page).getByText("Con dos frases.")).toBeVisible();
  await page.getByRole("button", { name: "Opciones de la conversación" }).click();
  await page.getByRole("link", { name: "Compartir" }).click();
  await page.getByLabel(group).check();
  await page.getByRole("button", { name: "Guardar grupos" }).click();
  await expect(page.getByText("La ven quienes están en esos grupos.")).toBeVisible();

  const hers = await (await browser.newContext({ javaScriptEnabled })).newPage();
  const cookies = [...reader.cookies].map(([name, value]) => ({ name, value, url: server.url }));
  await hers.context().addCookies(cookies);
  await hers.goto(`${server.url}/conversation/ensenadas`);
  await hers.getByRole("main").locator("a.title").first().click();
  await expect(hers.getByText("El plazo acaba el martes").first()).toBeVisible();
  await expect(hers.getByRole("heading", { name: "Ana Gil" })).toBeVisible();

  await page.getByLabel(group).uncheck();
  await page.getByRole("button", { name: "Guardar grupos" }).click();
  await expect(page.getByText("Ya no la ve ningún grupo.")).toBeVisible();
  const answer = await hers.reload();
  expect(answer?.status()).toBe(404);
  await hers.context().close();
});
