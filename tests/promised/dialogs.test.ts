import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

/** Every dialog that there is, as a page: where it lies, its kind and title, its buttons. */
const dialogs: [path: string, kind: "form" | "alert" | "panel", title: string, buttons: string[]][] = [
  ["/user/seguridad/contrasena", "form", "Cambiar contraseña", ["Cancelar", "Guardar"]],
  ["/user/seguridad/verificacion/crear", "form", "Verificación en dos pasos", ["Cancelar", "Activar"]],
  ["/user/seguridad/verificacion/eliminar", "alert", "Desactivar la verificación", ["Cancelar", "Confirmar"]],
  ["/user/seguridad/claves/crear", "form", "Crear clave", ["Cancelar", "Guardar"]],
  ["/user/datos/eliminar", "alert", "Eliminar mi cuenta", ["Cancelar", "Confirmar"]],
  ["/user/ayuda", "panel", "Ayuda", ["Cerrar"]],
  ["/conversation/chat/id/editar", "form", "Cambiar el título", ["Cancelar", "Guardar"]],
  ["/conversation/chat/id/mover", "form", "Mover a un proyecto", ["Cancelar", "Guardar"]],
  ["/conversation/project/crear", "form", "Crear proyecto", ["Cancelar", "Guardar"]],
  ["/conversation/project/id/editar", "form", "Editar proyecto", ["Cancelar", "Guardar"]],
  ["/conversation/project/id/eliminar", "alert", "Eliminar proyecto", ["Cancelar", "Confirmar"]],
  ["/conversation/project/id/documentos/crear", "form", "Crear documento", ["Cancelar", "Guardar"]],
  ["/conversation/project/id/documentos/document/eliminar", "alert", "Eliminar documento", ["Cancelar", "Confirmar"]],
  ["/user/file/document/eliminar", "alert", "Eliminar archivo", ["Cancelar", "Confirmar"]],
  ["/conversation/chat/id/regenerar/reply", "form", "Regenerar con otro modelo", ["Cancelar", "Regenerar"]],
  ["/admin/user/crear", "form", "Crear usuario", ["Cancelar", "Guardar"]],
  ["/admin/model/crear", "form", "Crear modelo", ["Cancelar", "Guardar"]],
  ["/admin/message/crear", "form", "Crear mensaje", ["Cancelar", "Guardar"]],
  ["/admin/page/crear", "form", "Crear página", ["Cancelar", "Guardar"]],
  ["/admin/subscription/crear", "form", "Crear suscripción", ["Cancelar", "Guardar"]],
  ["/admin/summary/crear", "form", "Crear resumen", ["Cancelar", "Guardar"]],
  ["/admin/training/crear", "form", "Crear entrenamiento", ["Cancelar", "Guardar"]],
  ["/admin/message/reply/editar", "form", "Editar mensaje", ["Cancelar", "Guardar"]],
  ["/admin/message/reply/eliminar", "alert", "Eliminar mensaje", ["Cancelar", "Confirmar"]],
  ["/admin/sistema/copias/x.db/eliminar", "alert", "Eliminar copia", ["Cancelar", "Confirmar"]],
  ["/conversation/chat/id/compartir", "form", "Compartir conversación", ["Cerrar", "Crear", "enlace"]],
  ["/conversation/chat/id/exportar", "form", "Exportar conversación", ["Cerrar"]],
  ["/conversation/chat/id/eliminar", "alert", "Eliminar conversación", ["Cancelar", "Confirmar"]],
];

let server: TestServer;
let admin: Browser;
let chat: string;
let project: string;
let document: string;
let reply: string;
beforeAll(async () => {
  server = await startServer();
  admin = new Browser(server.url);
  await admin.signUp("Admin");
  chat = await admin.say("Hola");
  const page = "/conversation/project/crear";
  project = (await admin.submit(page, page, { name: "Tesis" })).headers.get("Location") ?? "";
  [document = ""] = await admin.upload([new File(["Apuntes"], "apuntes.txt")]);
  reply = /data-message-id="([^"]+)" data-role="assistant"/.exec(await admin.html(chat))?.[1] ?? "";
});
afterAll(() => server.stop());

describe("dialogs", () => {
  it.each(dialogs)("%s opens a %s dialog «%s» over an inert page", async (path, kind, title, buttons) => {
    const html = await admin.html(
      path
        .replace("/conversation/chat/id", chat)
        .replace("/conversation/project/id", project)
        .replace("/document/", `/${document}/`)
        .replace(/\/reply(?=\/|$)/, `/${reply}`),
    );
    const [, attributes = "", inside = ""] = /<dialog([^>]*)>([\s\S]*?)<\/dialog>/.exec(html) ?? [];
    expect(attributes).toContain("open");
    expect(attributes.includes("alertdialog")).toBe(kind === "alert");
    expect(attributes.includes("panel")).toBe(kind === "panel");
    expect(readable(/<h2[\s\S]*?<\/h2>/.exec(inside)?.[0] ?? "")).toContain(title);
    expect(html).toMatch(/<main[^>]*id="contenido"/);
    const foot = readable(/<div class="foot">[\s\S]*?<\/div>/.exec(inside)?.[0] ?? "").trim();
    expect(foot.split(/\s+/).filter(Boolean)).toEqual(buttons);
    // The page under it is out of reach.
    expect(html).toMatch(/<div class="contents" inert="">/);
    expect(html).toMatch(/<nav [^>]*inert=""/);
  });
});
