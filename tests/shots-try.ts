import { chromium } from "@playwright/test";
import { startServer } from "./support/server.ts";

const server = await startServer();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const js = process.argv[2] !== "nojs";
const context = await browser.newContext({
  javaScriptEnabled: js,
  baseURL: server.url,
  viewport: { width: 1280, height: 900 },
});
const page = await context.newPage();
page.on("console", (m) => m.type() === "error" && console.log("console:", m.text()));
page.on("pageerror", (e) => console.log("pageerror:", e.message));
const shot = async (name: string, widths = [1280, 360]) => {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: `/tmp/shots/${name}-${js ? "js" : "nojs"}-${width}.png`, fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
};
for (const path of ["/", "/servicios", "/contacto", "/auth/signin", "/auth/reset", "/nada"]) {
  await page.goto(path);
  await shot(`p${path.replaceAll("/", "_")}`);
}
await page.goto("/contacto");
await page.getByLabel("Nombre").fill("Ana");
await page.getByLabel("Correo electrónico").fill("ana@ejemplo.es");
await page.locator("textarea").fill("Hola\n\n¿Hay sitio?");
await page.getByRole("button", { name: "Enviar mensaje" }).click();
await page.waitForLoadState();
await shot("contact-sent", [1280]);
await page.goto("/auth/signup");
await page.getByLabel("Nombre").fill("Ana Gil");
await page.getByLabel("Correo electrónico").fill("ana@ejemplo.es");
await page.getByLabel("Contraseña").fill("una frase larga y rara");
await page.getByRole("button", { name: "Crear cuenta" }).click();
await page.waitForURL("**/user");
await shot("user");
await page.getByRole("button", { name: "Guardar perfil" }).click();
await page.waitForTimeout(500);
await shot("user-saved");
await page.getByRole("link", { name: "Cambiar contraseña" }).click();
await page.waitForTimeout(300);
await shot("password");
await page.getByRole("dialog").getByLabel("Contraseña actual").fill("xx");
await page.getByLabel("Contraseña nueva").fill("xxyyxxyyxx");
await page.getByRole("button", { name: "Guardar", exact: true }).click();
await page.waitForTimeout(800);
await shot("password-wrong");
await page.goto("/user/verificacion/crear");
await page.waitForTimeout(300);
await shot("authenticator");
await page.goto("/user/ayuda");
await page.waitForTimeout(300);
await shot("help");
await page.goto("/user/eliminar");
await page.waitForTimeout(300);
await shot("delete");
await browser.close();
await server.stop();
