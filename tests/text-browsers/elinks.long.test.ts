import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { hasPrograms } from "../support/programs.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { Terminal } from "./terminal.ts";

describe.runIf(hasPrograms("tmux", "elinks"))("ELinks", () => {
  let mock: LLMock;
  let server: TestServer;
  let elinks: Terminal;
  const home = mkdtempSync(join(tmpdir(), "tertulia-elinks-"));
  beforeAll(async () => {
    mock = await startModelServer();
    server = await startServer({ OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });
    const settings = ["document.browse.forms.confirm_submit = 0", "cookies.accept_policy = 2", "ui.language = System"];
    const given = settings.map((one) => `-eval 'set ${one}'`).join(" ");
    elinks = new Terminal(`env HOME=${home} elinks -no-connect ${given} ${server.url}/auth/signup`, 120);
  });
  afterAll(async () => {
    await elinks.close();
    await server.stop();
    await mock.stop();
    rmSync(home, { recursive: true, force: true });
  });

  /** The last line of a screen, on which ELinks says what lies under the cursor; the line of a view behind it is the cursor's own. */
  const statusOf = (view: string) => view.split("\n").slice(0, -1).join("\n").trimEnd().split("\n").at(-1) ?? "";

  /** Goes down from one link or field to the next, until the last line says that this is it, `times` times. */
  async function downTo(what: RegExp, times = 1): Promise<void> {
    let found = 0;
    for (let step = 0; step < 100; step++) {
      if (what.test(statusOf(await elinks.step("Down"))) && ++found === times) return;
    }
    throw new Error(`never came to ${what}:\n${await elinks.screen()}`);
  }

  async function write(what: RegExp, text: string): Promise<void> {
    await downTo(what);
    elinks.press("Enter");
    elinks.type(text);
    // A password shows as stars.
    await elinks.shows(new RegExp(`${text}|\\*{${text.length}}`));
  }

  async function open(path: string, shows: string): Promise<void> {
    elinks.press("g");
    await elinks.shows("Enter URL");
    elinks.press("C-u");
    elinks.type(server.url + path);
    elinks.press("Enter");
    await elinks.shows(shows);
  }

  it("signs up, sends a message and reads the whole reply", async () => {
    await elinks.shows(/Welcome to ELinks|¿Ya tienes cuenta/);
    if ((await elinks.screen()).includes("Welcome")) elinks.press("Enter");
    await write(/name name/, "Elena");
    await write(/name email/, "elinks@ejemplo.es");
    await write(/name password/, password);
    elinks.press("Enter");
    await elinks.shows("Mensajes de hoy");
    await open("/conversation/chat", "Recientes");
    expect(await elinks.screen()).not.toContain("modulepreload");
    await write(/Text area/, "Una respuesta lenta");
    elinks.press("Escape");
    // «Subir» comes before «Enviar».
    await downTo(/Post form to .*\/conversation\/chat/, 2);
    elinks.press("Enter");
    await elinks.shows("Frase número 40 de la respuesta larga.");
  });

  it("makes, as an admin, a training", async () => {
    await open("/admin/training/crear", "Vista previa");
    await write(/Text area/, "Responde siempre en verso.");
    elinks.press("Escape");
    for (let step = 0; step < 10; step++) if (/name title/.test(statusOf(await elinks.step("Up")))) break;
    elinks.press("Enter");
    elinks.type("Tono de la casa");
    await elinks.shows("Tono de la casa");
    elinks.press("Enter");
    await elinks.shows(/1 de 1|1 a 1 de 1/);
    await elinks.shows("Tono de la casa");
  });
});
