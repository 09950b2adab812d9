import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { hasPrograms } from "../support/programs.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { Terminal } from "./terminal.ts";

let server: TestServer;
let admin: Browser;
let w3m: Terminal;
let email: string;
const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
const typed = join(folder, "typed.txt");
beforeAll(async () => {
  server = await startServer();
  admin = new Browser(server.url);
  email = await admin.signUp("Admin");
  const chat = await admin.say("Algo que resumir");
  await admin.submit(`${chat}/editar`, `${chat}/editar`, { title: "Charla de siempre" });
  // w3m hands text areas to an editor; this one writes what a person would.
  const editor = join(folder, "editor.sh");
  writeFileSync(editor, `cat ${typed} > "$1"`);
  // Wide enough for no link of a table to be broken, and so be found.
  w3m = new Terminal(`w3m -cookie -o confirm_qq=0 -o editor='sh ${editor} %s' ${server.url}/auth/signin`, 240);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
  await w3m.close();
});

function goTo(text: string): void {
  w3m.press("/");
  w3m.type(text);
  w3m.press("Enter");
}

function press(text: string): void {
  goTo(text);
  w3m.press("Enter");
}

async function fill(label: string, text: string): Promise<void> {
  goTo(label);
  w3m.press("Tab", "Enter");
  await w3m.shows(/TEXT:|Password:/);
  w3m.press("C-u");
  w3m.type(text);
  w3m.press("Enter");
}

async function write(label: string, text: string): Promise<void> {
  writeFileSync(typed, text);
  goTo(label);
  w3m.press("Tab", "Enter");
  // Keys that are typed while the editor has the terminal are lost.
  await w3m.showsAgain(text);
}

async function open(path: string, shows: string): Promise<void> {
  w3m.press("U");
  await w3m.shows(/Goto URL/);
  w3m.press("C-u");
  w3m.type(server.url + path);
  w3m.press("Enter");
  await w3m.shows(shows);
  goTo(shows);
}

type Row = {
  path: string;
  one: string;
  /** Typed values, and the text that is written in the editor. */
  fields: [label: string, text: string][];
  areas?: [label: string, text: string][];
  /** Text that tells it in the list, and the field that an edit changes. */
  named: string;
  changes: string;
};

const rows: Row[] = [
  {
    path: "user",
    one: "usuario",
    fields: [
      ["Nombre", "Wenceslao"],
      ["Correo electrónico", "wences@ejemplo.es"],
      ["Contraseña", "una frase larga y rara"],
    ],
    named: "Wenceslao",
    changes: "Nombre",
  },
  {
    path: "model",
    one: "modelo",
    fields: [
      ["Nombre", "Modelo w3m"],
      ["Identificador del proveedor", "m"],
      ["Dirección", "https://m.ejemplo.es/v1"],
    ],
    named: "Modelo w3m",
    changes: "Nombre",
  },
  { path: "project", one: "proyecto", fields: [["Nombre", "Tesis w3m"]], named: "Tesis w3m", changes: "Nombre" },
  { path: "chat", one: "conversación", fields: [["Título", "Charla w3m"]], named: "Charla w3m", changes: "Título" },
  {
    path: "page",
    one: "página",
    fields: [
      ["Título", "Aviso w3m"],
      ["Dirección", "aviso-w3m"],
    ],
    named: "Aviso w3m",
    changes: "Título",
  },
  {
    path: "training",
    one: "entrenamiento",
    fields: [["Título", "Tono w3m"]],
    areas: [["Contenido", "Sé breve."]],
    named: "Tono w3m",
    changes: "Título",
  },
  {
    path: "subscription",
    one: "suscripción",
    fields: [
      ["Persona", "admin-"],
      ["Desde", "2026-01-01T00:00"],
      ["Mensajes al día", "321"],
    ],
    named: "Admin",
    changes: "Mensajes al día",
  },
  {
    path: "message",
    one: "mensaje",
    fields: [["Conversación", "Charla de siempre"]],
    areas: [["Texto", "Dicho desde w3m"]],
    named: "Dicho desde w3m",
    changes: "",
  },
  {
    path: "summary",
    one: "resumen",
    fields: [
      ["Conversación", "Charla de siempre"],
      ["Último mensaje", "Algo que resumir"],
    ],
    areas: [["^Resumen", "Resumido en w3m"]],
    named: "Resumido en w3m",
    changes: "",
  },
];

it.runIf(hasPrograms("tmux", "w3m"))("w3m signs in", async () => {
  await w3m.shows("¿Aún no tienes cuenta?");
  await fill("Correo", email);
  await fill("Contraseña", password);
  press("Iniciar sesi");
  await w3m.shows("Mensajes de hoy");
});

it.runIf(hasPrograms("tmux", "w3m")).each(rows)(
  "w3m makes, finds, changes and deletes a $path",
  async ({ path, one, fields, areas = [], named, changes }) => {
    await open(`/admin/${path}/crear`, `Crear ${one}`);
    for (const [label, text] of fields) await fill(label, text);
    for (const [label, text] of areas) await write(label, text);
    press("Guardar");
    await w3m.shows(" cread");
    await w3m.shows(named);
    press(`Editar ${named}`);
    await w3m.shows(`Editar ${one}`);
    goTo(`Editar ${one}`);
    if (changes) await fill(changes, path === "subscription" ? "322" : `${named} bis`);
    else await write(areas[0]?.[0] ?? "", `${named} bis`);
    press("Guardar");
    await w3m.shows(" guardad");
    await w3m.shows(path === "subscription" ? "322" : `${named} bis`);
    press(`Eliminar ${named}`);
    await w3m.shows(`Eliminar ${one}`);
    press("Confirmar");
    await w3m.shows(" eliminad");
  },
);

it.runIf(hasPrograms("tmux", "w3m"))("w3m shows both versions of a conflict and keeps what was typed", async () => {
  await admin.submit("/admin/project/crear", "/admin/project/crear", { name: "Dos a la vez" });
  const [edit = ""] = /\/admin\/project\/[\w-]{36}\/editar/.exec(await admin.html("/admin/project")) ?? [];
  await open(edit, "Editar proyecto");
  await admin.change(edit, { name: "El de otra" });
  await fill("Nombre", "El mío");
  press("Guardar");
  await w3m.shows("Lo guardado: «El de otra»");
  press("Guardar");
  await w3m.shows("Proyecto guardado.");
  expect(await admin.html("/admin/project")).toContain("El mío");
});
