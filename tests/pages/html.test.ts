import { HtmlValidate } from "html-validate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "../support/browser.ts";
import { rules } from "../support/html-rules.ts";
import { startServer, type TestServer } from "../support/server.ts";

const validator = new HtmlValidate(rules);

let server: TestServer;
let person: Browser;
let chat: string;
let project: string;
let file: string;
let reply: string;
beforeAll(async () => {
  server = await startServer();
  person = new Browser(server.url);
  await person.signUp();
  chat = await person.say("# Hola\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```js\nlet a = 1;\n```\n\n$x^2$");
  const page = "/conversation/project/crear";
  project = (await person.submit(page, page, { name: "Tesis" })).headers.get("Location") ?? "";
  // The document of a reply under way ends with the reply.
  reply = /data-message-id="([^"]+)" data-role="assistant"/.exec(await person.html(chat))?.[1] ?? "";
  [file = ""] = await person.upload([new File(["Apuntes de la reforma"], "apuntes.txt")]);
});
afterAll(() => server.stop());

const problems = async (browser: Browser, path: string, init?: RequestInit) => {
  const html = await (await browser.fetch(path, init)).text();
  const report = await validator.validateString(html);
  return report.results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line, column }) => {
      const around = html.split("\n")[line - 1]?.slice(Math.max(0, column - 60), column + 80);
      return `${ruleId}: ${message} … ${around}`;
    }),
  );
};

describe("the HTML is valid", () => {
  it.each([
    "/",
    "/servicios",
    "/soporte",
    "/contacto",
    "/auth/signin",
    "/auth/signup",
    "/auth/reset",
    "/auth/reset/x",
    "/nada",
  ])("of %s", async (path) => {
    expect(await problems(new Browser(server.url), path)).toEqual([]);
  });

  it.each([
    "/user",
    "/user/seguridad",
    "/user/avisos",
    "/user/datos",
    "/user/seguridad/contrasena",
    "/user/seguridad/verificacion/crear",
    "/user/seguridad/verificacion/eliminar",
    "/user/datos/eliminar",
    "/user/ayuda",
    "/user/datos",
    "/conversation/chat",
    "CHAT",
    "CHAT/editar",
    "CHAT/eliminar",
    "CHAT/exportar",
    "CHAT/compartir",
    "CHAT/mover",
    "CHAT/regenerar/REPLY",
    "CHAT/enviado/REPLY",
    "/admin",
    "/admin/model",
    "/admin/message?orden=createdAt.asc&col=role",
    "/admin/subscription/crear",
    "/admin/page/crear",
    "/admin/message/REPLY",
    "/admin/message/REPLY/editar",
    "/admin/sistema",
    "/admin/sistema/copias/x.db/eliminar",
    "/admin/sistema/diagnostico",
    "/admin/summary/crear",
    "/conversation/chat/organizar",
    "/conversation/chat/importar",
    "/user/file",
    "/user/file?q=nada",
    "/user/file/FILE",
    "/user/file/FILE/eliminar",
    "PROJECT/documentos/crear",
    "PROJECT/documentos/FILE/eliminar",
    "PROJECT",
    "PROJECT/editar",
    "PROJECT/eliminar",
    "/conversation/project",
    "/conversation/project/crear",
    "CHAT/imprimir",
    "/conversation/chat?q=hola",
    "/conversation/chat?archivadas",
  ])("of %s", async (path) => {
    expect(
      await problems(
        person,
        path.replace("CHAT", chat).replace("PROJECT", project).replace("FILE", file).replace("REPLY", reply),
      ),
    ).toEqual([]);
  });

  it("of a form that is refused with errors", async () => {
    const [, formToken = ""] = /name="formToken" value="([^"]+)"/.exec(await person.html("/user")) ?? [];
    const body = new URLSearchParams({ formToken, name: "", email: "x" });
    expect(await problems(person, "/user", { method: "POST", body })).toEqual([]);
  });
});
