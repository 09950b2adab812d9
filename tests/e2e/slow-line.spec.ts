import { LLMock } from "@copilotkit/aimock";
import { Browser } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { recording, silentMp3 } from "../support/sounds.ts";
import { expect, test } from "./fixtures.ts";

test.use({ viewport: { width: 360, height: 640 } });

test("light pages serve sign-up, e-mailed replies and voice without scripts", async ({ page, server, mails }) => {
  const voices = new LLMock({ port: 0 });
  voices.onTranscription({ transcription: { text: "Gracias, ¿y los guisantes?" } });
  voices.onSpeech(/.*/, { audio: silentMp3.toString("base64"), format: "mp3" });
  await voices.start();
  const admin = new Browser(server.url);
  await admin.signIn(server.adminEmail);
  for (const kind of ["transcription", "speech"]) {
    const fields = { name: kind, kind, externalId: "uno", voice: "", enabled: "true", baseUrl: `${voices.url}/v1` };
    expect((await admin.change("/admin/voice-model/crear", fields)).status).toBe(303);
  }
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));

  // Chromium itself sends no Save-Data here: somebody chooses light pages, which are the same with scripting on and off.
  await page.goto("/");
  await page.getByRole("link", { name: "Páginas ligeras" }).click();
  await page.getByRole("button", { name: "siempre" }).click();
  await expect(page.getByText(/Esta página ha pesado/)).toBeVisible();
  asked.length = 0;
  const email = `lola-${crypto.randomUUID()}@ejemplo.es`;
  await page.goto("/auth/signup");
  await page.getByLabel("Nombre").fill("Lola");
  await page.getByLabel("Correo electrónico").fill(email);
  await page.getByLabel("Contraseña").fill(password);
  await page.getByRole("button", { name: "Crear cuenta" }).click();
  await page.getByRole("link", { name: "Empezar una conversación" }).click();
  await page.getByLabel("Mensaje", { exact: true }).fill("Una respuesta pausada, por favor");
  // The page grows until the reply has ended: nobody waits for that here.
  await page.getByRole("button", { name: "Enviar" }).click({ noWaitAfter: true });
  await page.getByRole("button", { name: "Avísame por correo cuando esté" }).click({ noWaitAfter: true });
  await expect(page.getByText("Te llegará un correo cuando la respuesta esté.")).toBeVisible();
  await page.goto("about:blank");

  const link = /http:\/\/\S+\/conversation\/chat\/[\w-]+/.exec(await mails.nextTo(email))?.[0] ?? "";
  await page.goto(link);
  await expect(page.getByText("Frase número 40 de la respuesta larga.")).toBeVisible();
  await page.getByRole("button", { name: "Más acciones" }).click();
  await page.getByRole("link", { name: "Escuchar" }).click();
  const sound = (await page.locator("audio").getAttribute("src")) ?? "";
  expect((await page.request.get(sound)).headers()["content-type"]).toBe("audio/mpeg");
  await page.getByRole("link", { name: "Cerrar", exact: true }).last().click();

  await page.locator("summary", { hasText: "Dictar" }).click();
  const file = { name: "nota.wav", mimeType: "audio/wav", buffer: Buffer.from(recording) };
  await page.getByLabel("Grabación").setInputFiles(file);
  await page.getByRole("button", { name: "Pasar a texto" }).click();
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("Gracias, ¿y los guisantes?");
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.getByText("Una respuesta breve.")).toBeVisible();
  expect(asked.filter((path) => path.endsWith(".js"))).toEqual([]);
  await voices.stop();
});
