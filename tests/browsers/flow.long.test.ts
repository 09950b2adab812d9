import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { hasFirefox, openFirefox } from "./firefox.ts";
import type { Tab } from "./tab.ts";
import { hasWebKit, openWebKit } from "./webkit.ts";

let models: LLMock;
beforeAll(async () => {
  models = await startModelServer();
});
afterAll(() => models.stop());

const browsers = [
  { name: "Firefox", has: hasFirefox, open: openFirefox },
  { name: "WebKit", has: hasWebKit, open: openWebKit },
];
const ways = browsers.flatMap((browser) => [true, false].map((javaScript) => ({ ...browser, javaScript })));

describe.each(ways)("$name, JavaScript $javaScript", ({ has, open, javaScript }) => {
  let server: TestServer;
  let tab: Tab;
  beforeAll(async () => {
    if (!has) return;
    server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
    tab = await open({ javaScript });
  });
  afterAll(async () => {
    try {
      await tab?.close();
    } finally {
      await server?.stop();
    }
  });

  const shows = (text: string | RegExp) =>
    expect.poll(readable, { timeout: 20_000, interval: 50 }).toMatch(typeof text === "string" ? literally(text) : text);
  // Between two pages there is none.
  const readable = () => tab.text().catch(() => "");
  // A form that is filled in before its page is whole may be read anew.
  async function opens(text: string) {
    await shows(text);
    await expect.poll(() => tab.isLoaded().catch(() => false), { timeout: 20_000 }).toBe(true);
  }

  it.runIf(has)("signs up, chats, rereads the reply and renames the chat", async () => {
    await tab.go(`${server.url}/auth/signup`);
    await opens("Crear cuenta");
    await tab.fill("Nombre", "Ana Gil");
    await tab.fill("Correo electrónico", "ana@ejemplo.es");
    await tab.fill("Contraseña", password);
    await tab.press("Crear cuenta");
    await shows("Mensajes de hoy");

    await tab.go(`${server.url}/conversation/chat`);
    await opens("Enviar");
    await tab.choose("Modelo", "gpt-4o");
    await tab.fill("Mensaje", "Una respuesta pausada");
    await tab.press("Enviar");
    for (const sentence of [1, 10, 20]) {
      await shows(`Frase número ${sentence} `);
      expect(await tab.text()).not.toContain("Frase número 40");
    }
    await shows("Frase número 40 de la respuesta larga.");
    await shows("Regenerar");
    const chat = `${server.url}${new URL(await tab.url()).pathname}`;
    expect(chat).toMatch(/\/conversation\/chat\/[\w-]{36}$/);

    await tab.go(`${server.url}/user`);
    await shows("Mensajes de hoy");
    await tab.go(chat);
    await shows("Frase número 40 de la respuesta larga.");
    await tab.go(`${chat}/editar`);
    await opens("Guardar");
    await tab.fill("Título", "La charla de Ana");
    await tab.press("Guardar");
    await expect.poll(tab.title, { timeout: 20_000 }).toContain("La charla de Ana");
  });

  it.runIf(has)("shows a model's reasoning, keeps it and stops another reply", async () => {
    const ask = async (question: string) => {
      // Another page in between: what is looked for on the next one is on the last chat's as well.
      await tab.go(`${server.url}/user`);
      await shows("Mensajes de hoy");
      await tab.go(`${server.url}/conversation/chat`);
      await opens("Enviar");
      await tab.choose("Modelo", "gpt-4o");
      await tab.fill("Mensaje", question);
      await tab.press("Enviar");
      await shows("Razonando…");
    };
    await ask("Quiero que pienses");
    await shows("Son cuarenta y dos.");
    await shows(/Razonó \d+ s/);
    await shows("Regenerar");
    const chat = await tab.url();
    await tab.go(`${server.url}/user`);
    await shows("Mensajes de hoy");
    await tab.go(chat);
    await shows(/Razonó \d+ s/);
    await shows("Son cuarenta y dos.");

    await ask("Quiero que pienses despacio");
    await tab.press("Detener");
    await shows("Detenida.");
    expect(await tab.text()).not.toContain("Son cuarenta y dos.");
  });

  it.runIf(has)("rejects a model's invalid address, then creates the model", async () => {
    await tab.go(`${server.url}/admin/model/crear`);
    await opens("Crear modelo");
    await tab.fill("Nombre", "Modelo de prueba");
    await tab.fill("Identificador del proveedor", "m");
    await tab.fill("Dirección", "http://169.254.169.254/v1");
    await tab.press("Guardar");
    await opens("En esa dirección no puede haber un modelo");
    await tab.fill("Dirección", "https://m.ejemplo.es/v1");
    await tab.press("Guardar");
    await shows("Modelo creado.");
    await shows("Modelo de prueba");
  });
});

const literally = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
