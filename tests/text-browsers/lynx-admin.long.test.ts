import { afterEach, beforeEach, it } from "vitest";
import { Browser } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { hasPrograms } from "../support/programs.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { Terminal } from "./terminal.ts";

let server: TestServer;
let lynx: Terminal;
let email: string;
// Before each try: a second one can't go on from the page that the first one has left.
beforeEach(async () => {
  server = await startServer();
  email = await new Browser(server.url).signUp("Admin");
  lynx = new Terminal(`lynx -accept_all_cookies -nopause ${server.url}/auth/signin`, 240);
});
afterEach(async () => {
  await lynx.close();
  await server.stop();
});

/** Tabs on to what lynx says is of this kind and has these words on its line or, as labels have, some lines above. */
async function goTo(words: string, kind: string): Promise<void> {
  for (let step = 0; step < 90; step++) {
    const seen = await lynx.step("Tab");
    const lines = seen.split("\n");
    const line = Number(lines.at(-1)?.split(",")[1]);
    const near = lines.slice(Math.max(0, line - 5), line + 1).join("\n");
    if (seen.includes(kind) && near.includes(words)) return;
  }
  throw new Error(`there is no ${words}:\n${await lynx.screen()}`);
}

async function fill(label: string, text: string): Promise<void> {
  await goTo(label, "Enter text.");
  lynx.press("C-u");
  lynx.type(text);
  await lynx.shows(text);
}

async function press(button: string): Promise<void> {
  await goTo(button, "to submit.");
  lynx.press("Enter");
}

async function follow(link: string): Promise<void> {
  lynx.press("/");
  await lynx.shows("whereis query");
  lynx.type(link);
  lynx.press("Enter", "Enter");
}

it.runIf(hasPrograms("tmux", "lynx"))(
  "lynx signs in as an admin, makes a model, is told what is wrong with it, changes and deletes it",
  async () => {
    await lynx.shows("(BUTTON) Iniciar sesi");
    // From the skip link: the name of the house, its menu of five, then the first field.
    lynx.press("Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab");
    lynx.type(email);
    lynx.press("Tab");
    lynx.type(password);
    lynx.press("Tab", "Enter");
    await lynx.shows("Mensajes de hoy");
    lynx.press("g");
    await lynx.shows("URL to open");
    lynx.type(`${server.url}/admin/model/crear`);
    lynx.press("Enter");
    await lynx.shows("Crear modelo");
    await fill("Nombre", "Modelo lynx");
    await fill("Identificador del proveedor", "m");
    await fill("Dirección", "nada");
    await press("Guardar");
    await lynx.shows("La dirección tiene que empezar por http");
    await fill("Dirección", "https://m.ejemplo.es/v1");
    await press("Guardar");
    await lynx.shows("Modelo creado.");
    await follow("Editar Modelo lynx");
    await lynx.shows("Editar modelo");
    await fill("Nombre", "Modelo cambiado");
    await press("Guardar");
    await lynx.shows("Modelo guardado.");
    await follow("Eliminar Modelo cambiado");
    await lynx.shows("Eliminar modelo");
    await press("Confirmar");
    await lynx.shows("Modelo eliminado.");
  },
  180_000,
);
