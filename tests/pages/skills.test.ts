import { strToU8, zipSync } from "fflate";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { makes, startWritingModel } from "../support/writing-model.ts";

let server: TestServer;
let models: Awaited<ReturnType<typeof startWritingModel>>;
let ana: Browser;
beforeAll(async () => {
  models = await startWritingModel();
  server = await startServer({ OPENAI_BASE_URL: models.url });
  ana = new Browser(server.url);
  await ana.signUp("Ana");
  const id = /\/admin\/model\/([\w-]{36})[^>]*>\s*escribano/.exec(await ana.html("/admin/model"))?.[1];
  await ana.change(`/admin/model/${id}/editar`, { usesTools: "true" });
});
afterAll(async () => {
  await server.stop();
  models.stop();
});

const list = "/conversation/oficio";
const upload = async (files: Record<string, string | Uint8Array>) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(hiddenFields(await ana.html(list), list))) body.append(name, value);
  const bytes = zipSync(
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [path, typeof text === "string" ? strToU8(text) : text]),
    ),
  );
  body.append("files", new File([bytes as Uint8Array<ArrayBuffer>], "oficio.zip"));
  return ana.fetch(list, { method: "POST", body });
};

it("a skill with files is uploaded and opened by models", async () => {
  expect(readable(await ana.html(list))).toContain("Un oficio dice cómo se hace un trabajo");
  const sent = await upload({
    "actas/SKILL.md":
      "---\nname: actas\ndescription: Levantar el acta de un pleno\n---\n# Actas\n\nEmpieza por los **asistentes**.",
    "actas/modelo.md": "ACTA DE LA SESIÓN",
    "actas/escudo.png": new Uint8Array([137, 80, 78, 71, 0]),
  });
  expect(sent.status).toBe(303);
  const at = sent.headers.get("Location") ?? "";
  const page = await ana.html(at);
  expect(readable(page)).toContain("«escudo.png» no es un texto.");
  expect(page).toContain("<strong>asistentes</strong>");
  const file = /href="([^"]+\?archivo=[^"#]+)/.exec(page)?.[1] ?? "";
  expect(readable(await ana.html(file))).toContain("ACTA DE LA SESIÓN");
  const chat = await ana.say(makes("oficio", { nombre: "actas" }));
  await expect.poll(async () => readable(await ana.html(chat))).toContain("Empieza por los");
  expect(readable(await ana.html(chat))).toContain("Abrir un oficio");
});

it("lists some binary files of a skill and counts others", async () => {
  const pictures = Array.from({ length: 60 }, (_, n) => [`${"foto".repeat(20)}-${n}.png`, new Uint8Array([137, 0])]);
  const sent = await upload({
    "SKILL.md": "---\nname: fotos\ndescription: Fotos\n---\nMíralas.",
    ...Object.fromEntries(pictures),
  });
  const page = readable(await ana.html(sent.headers.get("Location") ?? ""));
  expect(page).toContain("Oficio subido.");
  expect(page).toContain("Y 55 más.");
});

it("a skill is created, edited with conflict detection, and deleted", async () => {
  const refused = await ana.submit(`${list}/crear`, `${list}/crear`, { name: "¿?", description: "", content: "" });
  expect(refused.status).toBe(422);
  expect(readable(await refused.text())).toContain("El nombre lleva alguna letra o algún número.");
  const fields = { name: "Redactar bandos", description: "Bandos", content: "HAGO SABER" };
  const made = await ana.submit(`${list}/crear`, `${list}/crear`, fields);
  const at = made.headers.get("Location") ?? "";
  expect(readable(await ana.html(at))).toContain("redactar-bandos");
  const twice = await ana.submit(`${list}/crear`, `${list}/crear`, fields);
  expect(readable(await twice.text())).toContain("Ya tienes un oficio con ese nombre.");
  const before = hiddenFields(await ana.html(`${at}/editar`), `${at}/editar`);
  await ana.change(`${at}/editar`, { content: "SE HACE SABER" });
  expect(readable(await ana.html(at))).toContain("Versión 2.");
  const late = await ana.post(`${at}/editar`, { ...before, ...fields, content: "Lo mío" });
  expect(late.status).toBe(409);
  const both = readable(await late.text());
  expect(both).toContain("SE HACE SABER");
  expect(both).toContain("Lo mío");
  await ana.submit(`${at}?eliminar=1`, at, { does: "delete" });
  expect((await ana.fetch(at)).status).toBe(404);
});

it("a ZIP without SKILL.md is refused with the reason", async () => {
  const refused = await upload({ "leeme.txt": "Hola" });
  expect(readable(await refused.text())).toContain("En el ZIP no hay ningún SKILL.md, ni en su primera carpeta.");
});
