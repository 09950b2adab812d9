import { test as base, expect, type Page } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { type IdentityProvider, startIdentityProvider } from "../support/identity-provider.ts";
import { password } from "../support/password.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

type House = { provider: IdentityProvider; server: TestServer; admin: string };

/** An installation as its four variables make it, beside a provider that knows it. */
const test = base.extend<object, { house: House }>({
  house: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
    async ({}, use) => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const provider = await startIdentityProvider([`${url}/auth/oidc/callback`], {
        // Another site than the server's, as a provider is: its links bring no Strict cookie.
        host: "localhost",
        backchannel: `${url}/v1/auth/oidc/backchannel`,
        leaving: [`${url}/auth/signin`],
      });
      const server = await startServer({
        PORT: String(port),
        PUBLIC_URL: url,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.clientId,
        OIDC_CLIENT_SECRET: provider.clientSecret,
        OIDC_NAME: "la Casa",
      });
      const admin = await new Browser(url).signUp("Admin");
      await use({ provider, server, admin });
      await Promise.all([server.stop(), provider.stop()]);
    },
    { scope: "worker" },
  ],
  baseURL: ({ house }, use) => use(house.server.url),
});

/** Fills in the provider's own pages. */
async function signInThere(page: Page, { provider }: House, login: string): Promise<void> {
  await page.waitForURL(`${provider.issuer}/**`);
  await page.getByPlaceholder("Enter any login").fill(login);
  await page.getByPlaceholder("and password").fill("x");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

/** Ends the session at the provider, which tells the server of it. */
async function leaveThere(page: Page, { provider }: House): Promise<void> {
  const there = await page.context().newPage();
  await there.goto(`${provider.issuer}/session/end`);
  await there.getByRole("button", { name: "Yes, sign me out" }).click();
  await expect(there.getByText("Sign-out Success")).toBeVisible();
  await there.close();
}

test("signs in through the provider and out on both sides", async ({ page, house }) => {
  house.provider.people.set("ana", { email: "ana@casa.es", email_verified: true, name: "Ana Gil" });
  await page.goto("/conversation/project");
  await page.getByRole("link", { name: "Entrar con la Casa" }).click();
  await signInThere(page, house, "ana");
  await page.waitForURL("**/conversation/project");
  await expect(page.getByRole("heading", { level: 1, name: "Proyectos" })).toBeVisible();
  await page.goto("/user");
  await expect(page.getByLabel("Correo electrónico")).toHaveValue("ana@casa.es");

  await expect(page.getByRole("heading", { name: "Qué puedes usar" })).toBeVisible();
  await page.goto("/user/seguridad");
  await expect(page.getByText("Sesiones abiertas")).toBeVisible();
  await expect(page.getByText("Verificación en dos pasos")).toHaveCount(0);
  await page.goto("/user/datos");
  // Others confirm with a password; she confirms by having just come in.
  await page.getByRole("link", { name: "Eliminar mi cuenta" }).click();
  await expect(page.getByText("Tu cuenta no tiene contraseña.")).toBeVisible();
  await page.goto("/user");

  await page.getByRole("button", { name: "Ana Gil" }).click();
  await page.getByRole("button", { name: "Cerrar sesión", exact: true }).first().click();
  await page.waitForURL(`${house.provider.issuer}/**`);
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await page.waitForURL("**/auth/signin**");

  await page.getByRole("link", { name: "Entrar con la Casa" }).click();
  await signInThere(page, house, "ana");
  await page.waitForURL("**/user");
  await leaveThere(page, house);
  await page.goto("/user");
  await expect(page).toHaveURL(/\/auth\/signin/);
});

test("links a provider sign-in to an existing account by password", async ({ page, house }) => {
  const email = await new Browser(house.server.url).signUp("Berta");
  house.provider.people.set(email, { email, email_verified: true, name: "Berta" });
  await page.goto("/auth/signin");
  await page.getByRole("link", { name: "Entrar con la Casa" }).click();
  await signInThere(page, house, email);
  await expect(page.getByRole("heading", { name: "Ya tienes cuenta" })).toBeVisible();
  await page.getByLabel("Contraseña").fill("no es esta");
  await page.getByRole("button", { name: "Unir y entrar" }).click();
  await expect(page.getByText("La contraseña no es correcta.").first()).toBeVisible();
  await page.getByLabel("Contraseña").fill(password);
  await page.getByRole("button", { name: "Unir y entrar" }).click();
  await page.waitForURL("**/user");
  await expect(page.getByLabel("Correo electrónico")).toHaveValue(email);
});

test("gives the reason for refused sign-ins, rejects foreign callbacks", async ({ page, house }) => {
  house.provider.people.set("nadie", { name: "Nadie" });
  await page.goto("/auth/signin");
  await page.getByRole("link", { name: "Entrar con la Casa" }).click();
  await signInThere(page, house, "nadie");
  await expect(page.getByRole("heading", { name: "No has entrado" })).toBeVisible();
  await expect(page.getByText("«la Casa» no dice tu correo")).toBeVisible();
  await page.goto("/auth/oidc/callback?code=ajeno&state=ajeno");
  await expect(page.getByText("Esta entrada no ha empezado en este navegador")).toBeVisible();
  await page.getByRole("link", { name: "Volver a intentarlo" }).click();
  await expect(page.getByRole("link", { name: "Entrar con la Casa" })).toBeVisible();
});

test("keeps a form while signing in again through the provider", async ({
  page,
  context,
  house,
  javaScriptEnabled,
}) => {
  house.provider.people.set("carla", { email: "carla@casa.es", email_verified: true, name: "Carla" });
  await page.goto("/auth/signin?volver=/user");
  await page.getByRole("link", { name: "Entrar con la Casa" }).click();
  await signInThere(page, house, "carla");
  await page.waitForURL("**/user");
  await page.getByLabel("Nombre").fill("Carla Ruiz");
  await leaveThere(page, house);
  await page.getByRole("button", { name: "Guardar perfil" }).click();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Entrar con la Casa" }).click();
  const beside = await opened;
  await signInThere(beside, house, "carla");
  await beside.waitForURL("**/user");
  // Open, it might be the one to show what is said next: pages of one session share that.
  await beside.close();
  await page.getByRole("button", { name: "Ya he entrado" }).click();
  // The page is of the session before, and says so, with all that was written.
  if (javaScriptEnabled) {
    await expect(page.getByText("Pulsa otra vez «Ya he entrado».")).toBeVisible();
    await page.getByRole("button", { name: "Ya he entrado" }).click();
  } else {
    await page.getByRole("button", { name: "Enviar otra vez" }).click();
    await expect(page.getByRole("heading", { name: "Ya estás dentro" })).toBeVisible();
    await page.getByRole("button", { name: "Enviar otra vez" }).click();
  }
  await expect(page.getByText("Perfil guardado.")).toBeVisible();
});

test("an administrator adds an access, a group and a notice", async ({ page, house }) => {
  await page.goto("/auth/signin");
  await page.getByLabel("Correo electrónico").fill(house.admin);
  await page.getByLabel("Contraseña").fill(password);
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await page.waitForURL("**/user");
  await page.goto("/admin/access/crear");
  await page.getByLabel("Nombre", { exact: true }).fill("el directorio");
  await page.getByRole("dialog").getByLabel("Tipo").selectOption({ label: "Directorio (LDAP)" });
  await page.getByRole("dialog").getByLabel("Dirección").fill("ldaps://directorio.ejemplo.es");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByText("Falta dónde están las personas.").first()).toBeVisible();
  const more = page.getByText("Más opciones");
  if (!(await page.getByLabel("De un directorio: dónde están las personas").isVisible())) await more.click();
  await page.getByLabel("De un directorio: dónde están las personas").fill("ou=personas,dc=ejemplo,dc=es");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByRole("link", { name: "el directorio", exact: true })).toBeVisible();
  await page.goto("/admin/group/crear");
  await page.getByLabel("Nombre", { exact: true }).fill(`Legal ${Date.now()}`);
  await page.getByLabel("Presupuesto al mes, de todo el grupo").fill("20,5");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByText("20,5").first()).toBeVisible();
  await page.goto("/admin/notice/crear");
  await page.getByLabel("Texto", { exact: true }).fill("El lunes no hay servicio.");
  await page.getByRole("button", { name: "Guardar" }).click();
  await page.goto("/conversation/chat");
  const notices = page.getByRole("region", { name: "Avisos de la casa" });
  await expect(notices.getByText("El lunes no hay servicio.")).toBeVisible();
  await notices.getByRole("button", { name: "Entendido" }).click();
  await expect(notices).toHaveCount(0);
  await page.reload();
  await expect(notices).toHaveCount(0);
});
