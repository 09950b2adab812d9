import { Browser } from "../support/browser.ts";
import { freePort, startServer } from "../support/server.ts";
import { expect, test } from "./fixtures.ts";

test("creates, uses and deletes a passkey, and refuses a replay", async ({ page, person, javaScriptEnabled }) => {
  if (!javaScriptEnabled) {
    expect(person.email).toContain("@");
    await page.goto("/user/seguridad/llaves/crear");
    await page.locator("#llave-name").fill("Ninguna");
    await page.locator("#llave-currentPassword").fill("una frase larga y rara");
    await page.getByRole("button", { name: "Añadir" }).click();
    await expect(page.getByText("Para hacer una llave hace falta JavaScript.").first()).toBeVisible();
    await page.context().clearCookies();
    await page.goto("/auth/signin");
    await expect(page.getByRole("link", { name: "Entrar con una llave de acceso" })).toBeHidden();
    await page.goto("/auth/llave");
    await expect(page.getByText("Con la contraseña se entra sin él.")).toBeVisible();
    return;
  }
  const device = await page.context().newCDPSession(page);
  await device.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
  } as const;
  const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  });
  // A passkey is bound to a name, which the loopback address is not.
  const port = await freePort();
  const here = `http://localhost:${port}`;
  const server = await startServer({ PORT: String(port), PUBLIC_URL: here });
  const email = await new Browser(server.url).signUp();
  await page.context().clearCookies();
  await page.goto(`${here}/auth/signin?volver=/user/seguridad`);
  await page.getByLabel("Correo electrónico").fill(email);
  await page.getByLabel("Contraseña").fill("una frase larga y rara");
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await page.getByRole("link", { name: "Añadir llave" }).click();
  await page.locator("#llave-name").fill("El portátil");
  await page.locator("#llave-currentPassword").fill("no es esta");
  await page.getByRole("button", { name: "Añadir" }).click();
  await expect(page.getByText("La contraseña actual no es correcta.").first()).toBeVisible();
  await device.send("WebAuthn.clearCredentials", { authenticatorId });
  await page.locator("#llave-currentPassword").fill("una frase larga y rara");
  await page.getByRole("button", { name: "Añadir" }).click();
  await expect(page.getByText("Ya puedes entrar con esta llave.")).toBeVisible();

  await page.context().clearCookies();
  await page.goto(`${here}/auth/signin?volver=/conversation/project`);
  let sent: string | null = null;
  page.on("request", (request) => {
    if (request.url().endsWith("/auth/llave/entrar") && request.postData()?.includes("response="))
      sent = request.postData();
  });
  await page.getByRole("link", { name: "Entrar con una llave de acceso" }).click();
  await page.getByRole("button", { name: "Usar una llave" }).click();
  await page.waitForURL("**/conversation/project");

  // A signature of the key is worth nothing a second time.
  const fields = Object.fromEntries(new URLSearchParams(sent ?? ""));
  const again = await fetch(`${server.url}/v1/auth/signin/passkey`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ origin: here, ticket: fields.ticket, response: JSON.parse(fields.response ?? "{}") }),
  });
  expect(again.status).toBe(401);

  await page.goto(`${here}/user/seguridad`);
  await expect(page.getByText("usada ahora").first()).toBeVisible();
  await page.getByRole("link", { name: "Eliminar El portátil" }).click();
  await page.getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("La llave está eliminada.")).toBeVisible();
  await page.context().clearCookies();
  await page.goto(`${here}/auth/llave`);
  await page.getByRole("button", { name: "Usar una llave" }).click();
  await expect(page.getByText("Esa llave no es de ninguna cuenta de aquí, o ya no vale.")).toBeVisible();
  await server.stop();
});
