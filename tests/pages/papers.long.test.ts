import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  browser = new Browser(server.url);
  await browser.signUp();
});
afterAll(() => server.stop());

const filesIn = (folder: string) => {
  const path = join(import.meta.dirname, "..", folder);
  return readdirSync(path).map((name) => new File([readFileSync(join(path, name))], name));
};

async function makeProject(name: string): Promise<string> {
  const form = "/conversation/project/crear";
  return (await browser.submit(form, form, { name })).headers.get("Location") ?? "";
}

async function add(project: string, files: File[], fields: Record<string, string> = {}): Promise<Response> {
  const form = `${project}/documentos/crear`;
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...hiddenFields(await browser.html(form), form), ...fields })) {
    body.append(name, value);
  }
  for (const file of files) body.append("files", file);
  return browser.fetch(form, { method: "POST", body });
}

it("answers a question with the right passage among mixed documents", async () => {
  const project = await makeProject("Papeles de casa");
  const letter = readFileSync(join(import.meta.dirname, "../documents/carta.docx"));
  const papers = [
    ...filesIn("bench/find/documents"),
    ...filesIn("documents"),
    new File([letter.subarray(0, letter.length / 2)], "a-medias.docx"),
    new File(["RIFF\x24\0\0\0WAVEfmt \x10\0\0\0"], "dictado.wav"),
  ];
  expect(papers.length).toBeGreaterThan(50);
  const answer = await add(project, papers);
  expect(answer.status).toBe(303);
  const page = readable(await (await browser.follow(answer)).text());
  expect(page).toMatch(/«a-medias\.docx» está dañado o incompleto/);
  expect(page).toMatch(/«dictado\.wav» es una grabación/);
  // A document that takes long says so, and the others can be asked about.
  await expect
    .poll(async () => readable(await browser.html(project)), { timeout: 240_000, interval: 1_000 })
    .not.toContain("leyéndose");
  const all = readable(await browser.html(project));
  expect(all).toContain("gastos.xlsx");
  // Refused at once where it was read in time; else it stands in the list, with the reason.
  expect(`${page} ${all}`).toMatch(/con-clave\.pdf.{0,80}tiene contraseña/s);

  const chat = await browser.say("¿Me dejan meter una mascota en el piso de Valladolid?", project);
  const reply = await browser.html(chat);
  const [, path = "none"] = /href="(\/user\/file\/[\w-]{36}\?pasaje=\d+[^"]*)"/.exec(reply) ?? [];
  const [, found = ""] =
    /<section[^>]*data-found="true"[^>]*>([\s\S]*?)<\/section>/.exec(await browser.html(path)) ?? [];
  expect(readable(found)).toContain("Se permite tener un gato, previa comunicación escrita");
});

it("a project lists hundreds of documents, a hundred per page", async () => {
  const project = await makeProject("Actas");
  const papers = Array.from({ length: 130 }, (_, n) => new File([`Se aprobó el punto ${n}.`], `acta ${1000 + n}.txt`));
  expect((await add(project, papers)).status).toBe(303);
  await expect
    .poll(async () => readable(await browser.html(project)), { timeout: 240_000, interval: 1_000 })
    .not.toContain("leyéndose");
  const named = (html: string) => [...readable(html).matchAll(/acta (\d{4})\.txt/g)].map(([, n]) => Number(n));
  const first = await browser.html(project);
  expect(readable(first)).toContain("130 documentos en total");
  const [, next = ""] = /href="([^"]*\?documentos=[^"]+)"/.exec(first) ?? [];
  const rest = await browser.html(next);
  expect(rest).toContain("Al principio");
  expect(new Set([...named(first), ...named(rest)]).size).toBe(130);
});

it("a web address that is refused stays in its field", async () => {
  const project = await makeProject("Enlaces");
  const wrong = await add(project, [], { address: "http://router.lan/normas" });
  expect(wrong.status).toBe(422);
  const html = await wrong.text();
  expect(readable(html)).toContain("no se puede guardar: esa dirección no es pública");
  expect(html).toMatch(/name="address"[^>]*value="http:\/\/router\.lan\/normas"/);
  expect(readable(await (await add(project, [])).text())).toContain("Elige algún archivo, o escribe la dirección");
});
