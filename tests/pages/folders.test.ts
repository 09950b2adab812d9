import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startFileServer } from "../support/file-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let there: Awaited<ReturnType<typeof startFileServer>>;
beforeAll(async () => {
  [server, there] = await Promise.all([startServer(), startFileServer({ "ana.lopez": "clave" })]);
});
afterAll(async () => {
  await Promise.all([server.stop(), there.stop()]);
});

it("adds a cloud folder to a project and disconnects it", async () => {
  await mkdir(join(there.folder, "Actas"));
  await writeFile(join(there.folder, "Actas", "mayo.txt"), "En mayo se acordó pintar el frontón.");
  const ana = new Browser(server.url);
  await ana.signUp("Ana");
  const made = await ana.change("/conversation/project/crear", { name: "Pueblo" });
  const project = made.headers.get("Location") ?? "";
  expect(await ana.html(project)).not.toContain("/carpetas");
  await ana.change("/admin/drive/crear", { name: "Nube", address: there.url });

  const page = `${project}/carpetas`;
  expect(await ana.html(project)).toContain(`href="${page}"`);
  const [, choice = ""] = /href="(\?en=[\w-]{36})#otra"/.exec(await ana.html(page)) ?? [];
  const send = async (from: string, fields: Record<string, string>) => {
    const answer = await ana.post(from, { ...hiddenFields(await ana.html(from), page), ...fields });
    return (await ana.follow(answer)).text();
  };
  const account = { does: "connect", username: "ana.lopez" };
  const refused = await send(page + choice, { ...account, password: "otra" });
  expect(readable(refused)).toContain("no acepta ese usuario con esa contraseña");
  expect(refused).toContain('value="ana.lopez"');
  expect(refused).not.toContain("otra&quot;");
  const inside = await send(page + choice, { ...account, password: "clave" });
  expect(inside).toContain(`${choice.replace("&", "&amp;")}&amp;ruta=Actas#otra`);
  const added = await send(`${page}${choice}&ruta=Actas`, { does: "add" });
  expect(readable(added)).toContain("Nube : Actas");
  await expect.poll(async () => readable(await ana.html(page))).toContain("1 documento · mirada ahora");
  expect(readable(await ana.html(project))).toContain("mayo.txt");

  expect(readable(await ana.html("/user/seguridad"))).toContain("Cuenta de ana.lopez");
  const end = `/user/seguridad/cuentas/${choice.slice(4)}/eliminar`;
  expect(readable(await ana.html(end))).toContain("Los documentos de las carpetas que añadiste de «Nube» se quitarán");
  await ana.submit(end, end, {});
  expect(readable(await ana.html(page))).toContain("Aún no hay ninguna.");
});
