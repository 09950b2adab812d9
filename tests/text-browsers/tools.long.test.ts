import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { password } from "../support/password.ts";
import { hasPrograms } from "../support/programs.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { memoryProgram, startScriptedModel, steps } from "../support/tool-servers.ts";
import { Terminal } from "./terminal.ts";

let mock: LLMock;
let server: TestServer;
const memory = memoryProgram();
const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
beforeAll(async () => {
  mock = await startScriptedModel();
  server = await startServer({ MCP_SERVERS: JSON.stringify({ memoria: memory.program }) });
});
afterAll(async () => {
  await server.stop();
  await mock.stop();
  memory.stop();
  rmSync(folder, { recursive: true });
});

it.runIf(hasPrograms("tmux", "w3m"))(
  "w3m sends a message, is asked about a call, says yes, and reads what came of it",
  async () => {
    const call = async (method: string, path: string, json: object, token = "") =>
      fetch(`${server.url}/v1${path}`, {
        method,
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(json),
      });
    const token = await (await call("POST", "/auth/signup", { name: "Ana", email: "w3m@ejemplo.es", password })).text();
    const model = { name: "m", provider: "openai-compatible", externalId: "x", baseUrl: `${mock.url}/v1` };
    await call("POST", "/api/model", { ...model, usesTools: true, isDefault: true }, token);
    const tools = await fetch(`${server.url}/v1/api/tool`, { headers: { Authorization: `Bearer ${token}` } });
    const { items } = (await tools.json()) as { items: { id: string; name: string }[] };
    const found = items.find(({ name }) => name === "memoria");
    expect((await call("POST", `/api/tool/${found?.id}/list`, {}, token)).status).toBe(200);

    const entities = [{ name: "Pan", entityType: "cosa", observations: [] }];
    writeFileSync(
      join(folder, "message"),
      steps([[{ name: "memoria_create_entities", input: { entities } }]], "Está **apuntado**."),
    );
    const editor = join(folder, "editor.sh");
    writeFileSync(editor, `cp ${join(folder, "message")} "$1"`);
    const w3m = new Terminal(`w3m -cookie -o confirm_qq=0 -o editor='sh ${editor} %s' ${server.url}/auth/signin`);
    onTestFinished(() => w3m.close());
    const goTo = (text: string) => {
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
    await w3m.shows("¿Aún no tienes cuenta?");
    goTo("Correo");
    await fill("w3m@ejemplo.es");
    await fill(password);
    w3m.press("Tab", "Enter");
    await w3m.shows("Mensajes de hoy");
    goTo("Nueva conv");
    w3m.press("Enter");
    await w3m.shows("Recientes");
    goTo("Mensaje");
    w3m.press("Tab", "Enter");
    await w3m.showsAgain("Pasos: ");
    goTo("Enviar");
    w3m.press("Enter");
    await w3m.shows("¿Permitir «Create Entities» en memoria?");
    await w3m.shows("name: Pan");
    expect(memory.written()).toEqual([]);
    goTo("Permitir una vez");
    w3m.press("Enter");
    await w3m.shows("Está apuntado.");
    expect(memory.written()).toHaveLength(1);
    goTo("Ver el resultado");
    w3m.press("Enter");
    await w3m.shows("Herramientas usadas");
    await w3m.shows("entityType");
  },
  90_000,
);
