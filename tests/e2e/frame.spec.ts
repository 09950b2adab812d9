import { readFileSync } from "node:fs";
import { strFromU8, unzipSync } from "fflate";
import { TOTP } from "otpauth";
import { password } from "../support/password.ts";
import { begin, expect, lastReply, test, withoutRealtime } from "./fixtures.ts";

const newPassword = "otra frase bien larga";

test("a dialog opens, reloads, shows errors, saves and confirms", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/user/seguridad");
  await page.getByRole("link", { name: "Cambiar contraseña" }).click();
  const dialog = page.getByRole("dialog", { name: "Cambiar contraseña" });
  await expect(dialog.getByLabel("Contraseña actual")).toBeFocused();
  await expect(page.locator("[inert] h1")).toHaveText("Tu cuenta");
  await page.reload();
  await dialog.getByLabel("Contraseña actual").fill("no es esta");
  await dialog.getByLabel("Contraseña nueva").fill(newPassword);
  await dialog.getByRole("button", { name: "Guardar" }).click();
  const summary = dialog.getByRole("alert");
  await expect(summary).toContainText("La contraseña actual no es correcta.");
  await expect(page.locator(".summary")).toBeFocused();
  await summary.getByRole("link").click();
  await expect(page).toHaveURL(/#contrasena-currentPassword$/);
  await dialog.getByLabel("Contraseña actual").fill(password);
  await dialog.getByLabel("Contraseña nueva").fill(newPassword);
  await dialog.getByRole("button", { name: "Guardar" }).click();
  await page.waitForURL("**/user/seguridad");
  await expect(page.getByRole("region", { name: "Avisos" })).toContainText("Contraseña cambiada.");
});

test("«Cancelar», the cross and the backdrop leave a dialog", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/user/seguridad");
  const dialog = page.getByRole("dialog");
  for (const leave of [
    () => dialog.getByRole("link", { name: "Cancelar" }).click(),
    () => dialog.getByRole("link", { name: "Cerrar" }).click(),
    () => page.mouse.click(5, 5),
  ]) {
    await page.getByRole("link", { name: "Cambiar contraseña" }).click();
    await expect(dialog).toBeVisible();
    await leave();
    await expect(dialog).toHaveCount(0);
    await expect(page).toHaveURL(/\/user\/seguridad$/);
  }
});

test("dialogs are 500 px wide, side panels 400 px", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  for (const [path, width] of [
    ["/user/seguridad/contrasena", 500],
    ["/user/ayuda", 400],
  ] as const) {
    await page.goto(path);
    expect((await page.getByRole("dialog").boundingBox())?.width).toBe(width);
  }
});

test("saves the profile, asking the password for a new e-mail", async ({ page, person }) => {
  await page.getByLabel("Nombre").fill("Ana María");
  await page.getByRole("button", { name: "Guardar perfil" }).click();
  await expect(page.getByRole("region", { name: "Avisos" })).toContainText("Perfil guardado.");
  await expect(page.getByRole("navigation", { name: "Conversaciones" })).toContainText("Ana María");
  await page.getByLabel("Correo electrónico").fill(`nueva-${person.email}`);
  await page.getByRole("button", { name: "Guardar perfil" }).click();
  await expect(page.getByRole("alert")).toContainText("Escribe tu contraseña actual para confirmar.");
  await expect(page.getByLabel("Correo electrónico")).toHaveValue(`nueva-${person.email}`);
  await page.getByRole("alert").getByRole("link").click();
  await page.getByLabel("Contraseña actual").fill(password);
  await page.getByRole("button", { name: "Guardar perfil" }).click();
  await expect(page.getByLabel("Contraseña actual")).toHaveValue("");
  await page.reload();
  await expect(page.getByLabel("Correo electrónico")).toHaveValue(`nueva-${person.email}`);
});

test("sessions elsewhere are listed and end at once", async ({ page, person, browser, javaScriptEnabled, baseURL }) => {
  const other = await (await browser.newContext({ javaScriptEnabled, baseURL })).newPage();
  await withoutRealtime(other);
  await other.goto("/auth/signin");
  await other.getByLabel("Correo electrónico").fill(person.email);
  await other.getByLabel("Contraseña").fill(password);
  await other.getByRole("button", { name: "Iniciar sesión" }).click();
  await other.waitForURL("**/user");
  await page.goto("/user/seguridad");
  const sessions = page.locator("section").filter({ hasText: "Sesiones abiertas" }).getByRole("listitem");
  await expect(sessions).toHaveCount(2);
  await sessions.getByRole("button", { name: /Cerrar sesión de Chrome/ }).click();
  await expect(sessions).toHaveCount(1);
  await other.goto("/conversation/chat");
  await expect(other).toHaveURL(/\/auth\/signin\?volver=/);
  await expect(other.getByRole("alert")).toContainText("Session expirada, por favor inicia sesión nuevamente.");
  await other.context().close();
});

test("«Descargar mis datos» brings a ZIP with every conversation", async ({ page, person }) => {
  await begin(page, "Para llevar", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  await page.goto("/user");
  await page.getByRole("link", { name: "Tus datos" }).click();
  await expect(page).toHaveURL(/\/user\/datos$/);
  await page.getByRole("button", { name: "Preparar la descarga" }).click();
  await expect(page.getByText(/\.zip está listo: [\d,]+ kB\. Se borra del servidor mañana a las? \d/)).toBeVisible();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Descargar", exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^tertulia-\d{4}-\d\d-\d\d\.zip$/);
  const files = unzipSync(readFileSync(await download.path()));
  const chat = Object.keys(files).find((name) => name.endsWith(".md")) ?? "";
  expect(strFromU8(files[chat] as Uint8Array)).toContain("Para llevar");
  expect(strFromU8(files["datos.json"] as Uint8Array)).toContain(person.email);
});

test("deletes an account after its password; signing in then fails", async ({ page, person }) => {
  await page.goto("/user/datos");
  await page.getByRole("link", { name: "Eliminar mi cuenta" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Eliminar mi cuenta" });
  await dialog.getByLabel("Contraseña actual").fill(password);
  await dialog.getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("Tu cuenta y todo lo que había en ella se han eliminado.")).toBeVisible();
  await expect(page).toHaveURL(/\/auth\/signin$/);
  await page.getByLabel("Correo electrónico").fill(person.email);
  await page.getByLabel("Contraseña").fill(password);
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await expect(page.getByRole("alert")).toContainText("El correo o la contraseña no son correctos.");
});

test("a forgotten password is replaced through an e-mail", async ({ page, person, mails }) => {
  await page.goto("/user/seguridad");
  await page.getByRole("main").getByRole("button", { name: "Cerrar sesión", exact: true }).click();
  await page.getByRole("link", { name: "¿Has olvidado la contraseña?" }).click();
  await page.getByLabel("Correo electrónico").fill(person.email);
  await page.getByRole("button", { name: "Enviar enlace" }).click();
  await expect(page.getByRole("status")).toContainText("en unos minutos recibirá un enlace");
  const link = /http:\/\/127\S+\/auth\/reset\/[\w-]+/.exec(await mails.nextTo(person.email))?.[0] ?? "";
  await page.goto(link);
  await page.getByLabel("Contraseña").fill(newPassword);
  await page.getByRole("button", { name: "Guardar contraseña" }).click();
  await expect(page.getByText("Contraseña cambiada. Ya puedes entrar con ella.")).toBeVisible();
  await page.getByLabel("Correo electrónico").fill(person.email);
  await page.getByLabel("Contraseña").fill(newPassword);
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await page.waitForURL("**/user");
  await page.goto("/user/seguridad");
  await page.getByRole("main").getByRole("button", { name: "Cerrar sesión", exact: true }).click();
  await page.goto(link);
  await expect(page.getByRole("alert")).toContainText("Este enlace ya no vale");
});

test("two-step sign-in is set up and accepts a recovery code", async ({ page, person }) => {
  await page.goto("/user/seguridad");
  await page.getByRole("link", { name: "Activar" }).click();
  const dialog = page.getByRole("dialog");
  const secret = (await dialog.locator("code").innerText()).replaceAll(" ", "");
  await dialog.getByLabel("Código de seis cifras").fill("000000");
  await dialog.getByLabel("Contraseña actual").fill(password);
  await dialog.getByRole("button", { name: "Activar" }).click();
  await expect(dialog.getByRole("alert")).toContainText("El código no es correcto");
  await expect(dialog.locator("code")).toHaveText(secret.match(/.{1,4}/g)?.join(" ") ?? "");
  await dialog.getByLabel("Código de seis cifras").fill(new TOTP({ secret }).generate());
  await dialog.getByLabel("Contraseña actual").fill(password);
  await dialog.getByRole("button", { name: "Activar" }).click();
  await expect(dialog.getByRole("listitem")).toHaveCount(10);
  const [recovery = ""] = await dialog.getByRole("listitem").allInnerTexts();
  // Shown once: Escape does not take them away.
  await page.keyboard.press("Escape");
  await expect(dialog.getByRole("listitem")).toHaveCount(10);
  await dialog.getByRole("link", { name: "Los he guardado" }).click();
  await expect(page.getByText("Te quedan 10 códigos de recuperación.")).toBeVisible();

  await page.goto("/user/seguridad");
  await page.getByRole("main").getByRole("button", { name: "Cerrar sesión", exact: true }).click();
  await page.goto("/auth/signin?volver=%2Fconversation%2Fchat");
  await page.getByLabel("Correo electrónico").fill(person.email);
  await page.getByLabel("Contraseña").fill(password);
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Verificación en dos pasos");
  await page.getByLabel("Código").fill("000000");
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await expect(page.getByRole("alert")).toContainText("El código no es correcto");
  await page.getByLabel("Código").fill(recovery);
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await page.waitForURL("**/conversation/chat");

  await page.goto("/user/seguridad/verificacion/eliminar");
  await page.getByRole("alertdialog").getByLabel("Contraseña actual").fill(password);
  await page.getByRole("alertdialog").getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByRole("region", { name: "Avisos" })).toContainText("está desactivada");
  await expect(page.getByRole("link", { name: "Activar" })).toBeVisible();
});

test("a visitor sends a contact message after correcting an error", async ({ page, mails }) => {
  await page.goto("/contacto");
  await page.getByLabel("Nombre").fill("Eva");
  await page.getByLabel("Correo electrónico").fill("eva@ejemplo");
  await page.getByLabel("Mensaje").fill("¿Queda sitio?\n\nGracias.");
  await page.getByRole("button", { name: "Enviar mensaje" }).click();
  await expect(page.getByRole("alert")).toContainText("El correo electrónico no está completo.");
  await expect(page.getByLabel("Mensaje")).toHaveValue("¿Queda sitio?\n\nGracias.");
  await page.getByLabel("Correo electrónico").fill("eva@ejemplo.es");
  await page.getByRole("button", { name: "Enviar mensaje" }).click();
  await expect(page.getByRole("status")).toContainText("Tu mensaje ha llegado. Te responderemos a eva@ejemplo.es.");
  await expect(page.getByRole("main")).toContainText("¿Queda sitio?");
  expect(await mails.nextTo("casa@ejemplo.es")).toContain("Reply-To: Eva <eva@ejemplo.es>");
});

test("a form is sent again after its session has expired", async ({ page, person, context }) => {
  await page.getByLabel("Nombre").fill("Ana después");
  await context.request.post("/auth/signout", {
    form: { formToken: await page.locator('[name="formToken"]').first().inputValue() },
    maxRedirects: 0,
  });
  await page.getByRole("button", { name: "Guardar perfil" }).click();
  const again = page.getByRole("button", { name: "Enviar otra vez" });
  const signIn = page.getByRole("heading", { name: "Iniciar sesión" });
  await expect(again.or(signIn)).toBeVisible();
  if (await again.isVisible()) await again.click();
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Iniciar sesión" }) });
  await form.getByLabel("Correo electrónico").fill(person.email);
  await form.getByLabel("Contraseña").fill(password);
  await form.getByRole("button", { name: "Iniciar sesión" }).click();
  const saved = page.getByText("Perfil guardado.");
  await expect(again.or(saved)).toBeVisible();
  if (await again.isVisible()) await again.click();
  await expect(saved).toBeVisible();
  await expect(page.getByLabel("Nombre")).toHaveValue("Ana después");
});

test("folds the sidebar on every page without losing typed text", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.goto("/conversation/chat");
  const sidebar = page.getByRole("navigation", { name: "Conversaciones" });
  await expect(sidebar).toBeVisible();
  await page.getByLabel("Mensaje", { exact: true }).fill("A medio escribir");
  const kept = page.waitForResponse((response) => response.url().endsWith("/sidebar"));
  await page.getByRole("button", { name: "Ocultar la barra" }).click();
  await kept;
  await expect(sidebar).toBeHidden();
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("A medio escribir");
  await page.goto("/user");
  await expect(sidebar).toBeHidden();
  await page.getByRole("button", { name: "Mostrar la barra" }).click();
  await expect(sidebar).toBeVisible();
});

test("what is not there says so and leads on", async ({ page }) => {
  const answer = await page.goto("/nada/de/esto");
  expect(answer?.status()).toBe(404);
  await expect(page.getByText("Page Not Found: /nada/de/esto")).toBeVisible();
  await page.getByRole("link", { name: "Ir al inicio" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Una mesa tranquila");
});
