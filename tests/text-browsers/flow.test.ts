import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, it, onTestFinished } from "vitest";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { hasPrograms } from "../support/programs.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { Terminal } from "./terminal.ts";

let mock: LLMock;
let server: TestServer;
const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
beforeAll(async () => {
  mock = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });
});
afterAll(async () => {
  await server.stop();
  await mock.stop();
  rmSync(folder, { recursive: true });
});

it.runIf(hasPrograms("tmux", "w3m"))(
  "w3m signs up, writes, reads the whole reply, signs out and in, finds it again, and reads what a model thinks",
  async () => {
    // w3m hands text areas to an editor; this one writes what a person would.
    const editor = join(folder, "editor.sh");
    const writes = (text: string) => writeFileSync(editor, `printf '${text}' > "$1"`);
    writes("Una respuesta lenta");
    const w3m = open(`w3m -cookie -o confirm_qq=0 -o editor='sh ${editor} %s' ${server.url}/auth/signup`);
    const goTo = async (text: string) => {
      w3m.press("/");
      w3m.type(text);
      w3m.press("Enter");
    };
    const fill = async (text: string) => {
      w3m.press("Tab", "Enter");
      await w3m.shows(/TEXT:|Password:/);
      w3m.type(text);
      w3m.press("Enter");
    };

    await w3m.shows("Crear cuenta");
    await goTo("Nombre");
    await fill("Wenceslao");
    await fill("w3m@ejemplo.es");
    await fill(password);
    w3m.press("Tab", "Enter");
    await w3m.shows("Mensajes de hoy");
    await goTo("Nueva conv");
    w3m.press("Enter");
    await w3m.shows("Recientes");
    await goTo("Mensaje");
    w3m.press("Tab", "Enter");
    await w3m.showsAgain("Una respuesta lenta");
    await goTo("Enviar");
    w3m.press("Enter");
    await w3m.shows("Frase número 40 de la respuesta larga.");
    await w3m.shows("Regenerar");

    await goTo("Cerrar sesi");
    w3m.press("Enter");
    await w3m.shows("¿Aún no tienes cuenta?");
    await goTo("Correo");
    await fill("w3m@ejemplo.es");
    await fill(password);
    w3m.press("Tab", "Enter");
    await w3m.shows("Mensajes de hoy");
    await goTo("Charla de prueba");
    w3m.press("Enter");
    await w3m.shows("Frase número 40 de la respuesta larga.");

    writes("Quiero que pienses");
    await goTo("Nueva conv");
    w3m.press("Enter");
    await w3m.shows("Recientes");
    await goTo("Mensaje");
    w3m.press("Tab", "Enter");
    await w3m.showsAgain("Quiero que pienses");
    await goTo("Enviar");
    w3m.press("Enter");
    await w3m.shows("Son cuarenta y dos.");
    await goTo("Ver el razonamiento");
    w3m.press("Enter");
    await w3m.shows("Paso 1 de lo que pienso.");
  },
);

it.runIf(hasPrograms("tmux", "lynx"))("lynx signs up, writes, reads the whole reply and signs out", async () => {
  const lynx = open(`lynx -accept_all_cookies -nopause ${server.url}/auth/signup`);
  const goTo = (text: string) => {
    lynx.press("/");
    lynx.type(text);
    lynx.press("Enter");
  };

  await lynx.shows("(BUTTON) Crear cuenta");
  // From the skip link: the name of the house, its menu of five, then the first field.
  lynx.press("Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab");
  lynx.type("Lina");
  lynx.press("Tab");
  lynx.type("lynx@ejemplo.es");
  lynx.press("Tab");
  lynx.type(password);
  lynx.press("Tab", "Enter");
  await lynx.shows("Mensajes de hoy");
  goTo("Nueva conv");
  lynx.press("Enter");
  await lynx.shows("Recientes");
  // From the link «Nueva conversación»: account menu, «Tu cuenta», sign-out, sidebar button and box, then the text.
  await moveUntil(lynx, /Textarea|text entry field/i);
  lynx.type("Una respuesta lenta");
  await lynx.shows("Una respuesta lenta");
  await moveUntil(lynx, /Option list/);
  lynx.press("Tab", "Enter");
  await lynx.shows("Frase número 40");
  await lynx.shows("(BUTTON) Regenerar");
  goTo("Cerrar sesi");
  lynx.press("Enter");
  await lynx.shows("¿Aún no tienes cuenta?");
});

function open(command: string): Terminal {
  const terminal = new Terminal(command);
  onTestFinished(() => terminal.close());
  return terminal;
}

/** Tabs on until the status line says what lies under the cursor. */
async function moveUntil(terminal: Terminal, what: RegExp): Promise<void> {
  for (let step = 0; step < 20; step++) {
    if (what.test(await terminal.step("Tab"))) return;
  }
  throw new Error(`never came to ${what}:\n${await terminal.screen()}`);
}
