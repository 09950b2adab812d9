import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { makes, startWritingModel } from "../support/writing-model.ts";

let server: TestServer;
let models: Awaited<ReturnType<typeof startWritingModel>>;
beforeAll(async () => {
  models = await startWritingModel();
  server = await startServer({ OPENAI_BASE_URL: models.url });
});
afterAll(async () => {
  await server.stop();
  models.stop();
});

const letter = "# Carta\n\nQuerida vecina:\n\nLa reunión es el **martes**.\n\n- Punto uno\n- Punto dos";

/** Somebody whose model uses tools. */
async function startAna(): Promise<Browser> {
  const ana = new Browser(server.url);
  await ana.signUp("Ana");
  return ana;
}
let ana: Browser;
let page: string;
beforeAll(async () => {
  ana = await startAna();
  const list = await ana.html("/admin/model");
  const id = /\/admin\/model\/([\w-]{36})[^>]*>\s*escribano/.exec(list)?.[1];
  await ana.change(`/admin/model/${id}/editar`, { usesTools: "true" });
});

it("is shown while the model still writes it", async () => {
  const letGo = models.hold();
  const chat = await ana.say(makes("escribir", { titulo: "Carta", texto: letter }));
  const growing = await ana.beginningOf(chat, "<iframe");
  page = /\/conversation\/escrito\/[\w-]{36}/.exec(growing)?.[0] ?? "";
  expect(await ana.beginningOf(`${page}/hoja`, "Querida")).not.toMatch(/<h\d[^>]*>Carta<\/h\d>[\s\S]*<h\d[^>]*>Carta/);
  expect(readable(await ana.beginningOf(page, "Querida"))).toContain("Se está escribiendo");
  letGo();
  await expect.poll(async () => readable(await ana.html(page))).toContain("Versión 1, ahora, de escribano");
  const done = await ana.html(chat);
  expect(done.match(/<iframe/g)).toHaveLength(1);
  const sheet = await ana.fetch(`${page}/hoja`);
  expect(sheet.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'self'");
  expect((await ana.fetch(page)).headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
});

it("is changed by hand, whoever else has changed it meanwhile", async () => {
  const before = await ana.html(`${page}/editar`);
  await ana.change(`${page}/editar`, { text: letter.replace("martes", "jueves"), reason: "Otro día" });
  expect(readable(await ana.html(page))).toContain("La reunión es el jueves");
  const version = /name="version" value="([^"]+)"/.exec(before)?.[1] ?? "";
  const late = await ana.change(`${page}/editar`, { text: letter.replace("martes", "viernes"), version });
  expect(late.status).toBe(409);
  const both = readable(await late.text());
  expect(both).toContain("Ha cambiado mientras lo editabas");
  expect(both).toContain("viernes");
  expect(both).toContain("jueves");
  const versions = await ana.html(`${page}/versiones`);
  expect(readable(versions)).toContain("de Ana");
  expect(readable(versions)).toContain("«Otro día»");
  const compared = await ana.html(`${page}/versiones?de=1&a=2`);
  expect(compared).toContain("<del>martes</del>");
  expect(compared).toContain("<ins>jueves</ins>");
  expect(readable(await ana.html(`${page}?version=1`))).toContain("No es la última versión");
  await ana.change(`${page}/editar?version=1`, {});
  expect(readable(await ana.html(page))).toContain("Versión 3, ahora, de Ana: «Como en la versión 1».");
});

it("is changed by asking for it under a passage", async () => {
  const passages = await ana.html(`${page}?cambio=1`);
  expect(passages).toContain(`${page}?cambio=1&amp;pagina=1&amp;pasaje=1#pasaje-1`);
  const action = `${page}?cambio=1&pagina=1&pasaje=1`;
  const ask = async (wish: string, version?: string) =>
    ana.post(action, { ...hiddenFields(await ana.html(action), page), wish, ...(version && { version }) });
  const missing = await ask("");
  expect(missing.status).toBe(422);
  expect(readable(await missing.text())).toContain("Escribe qué quieres que cambie.");
  const old = await ask("Que sea el lunes", "1");
  expect(old.status).toBe(409);
  expect(readable(await old.text())).toContain("Ha cambiado desde que elegiste el pasaje");
  const sent = await ask("Que sea el lunes");
  const chat = sent.headers.get("Location") ?? "";
  const said = readable(await ana.html(chat));
  expect(said).toContain("cambia este pasaje");
  expect(said).toContain("La reunión es el **martes**.");
  expect(said).toContain("Que sea el lunes");
});

it("is taken along as documents of offices, and printed", async () => {
  const parts = async (format: string) =>
    unzipSync(new Uint8Array(await (await ana.fetch(`${page}/descargar?formato=${format}`)).arrayBuffer()));
  const docx = strFromU8((await parts("docx"))["word/document.xml"] ?? new Uint8Array());
  expect(docx).toContain("martes");
  expect(docx.match(/Carta/g)).toHaveLength(1);
  expect(strFromU8((await parts("odt"))["content.xml"] ?? new Uint8Array())).toContain("martes");
  const plain = await ana.fetch(`${page}/descargar?formato=md`);
  expect(plain.headers.get("Content-Disposition")).toBe("attachment; filename*=UTF-8''Carta.md");
  expect(await plain.text()).toBe(letter);
  expect(readable(await ana.html(`${page}/imprimir`))).toContain("Punto dos");
  expect((await ana.fetch(`${page}/descargar?formato=exe`)).status).toBe(404);
});

it("is shown as a table and downloads as a spreadsheet", async () => {
  const text = "Concepto;Euros;Teléfono\nFiltro;120,5;0034600\n=1+1;-3;x\nMil;1.500;3.10";
  const made = await ana.change("/conversation/escrito/crear", { title: "Gastos", kind: "table", text });
  const table = made.headers.get("Location") ?? "";
  expect(await ana.html(table)).toMatch(/<td>120,5<\/td>/);
  const sheet = unzipSync(new Uint8Array(await (await ana.fetch(`${table}/descargar?formato=xlsx`)).arrayBuffer()));
  const cells = strFromU8(sheet["xl/worksheets/sheet1.xml"] ?? new Uint8Array());
  expect(cells).toContain("<v>120.5</v>");
  expect(cells).not.toContain("<f>");
  // Three behind a point are thousands to some, and zeros at the end say something.
  expect(cells).toMatch(/t="str"[^>]*><v>1\.500</);
  expect(cells).toMatch(/t="str"[^>]*><v>3\.10</);
  expect(cells).toMatch(/t="str"[^>]*><v>0034600</);
  expect(readable(await ana.html("/conversation/escrito?q=gast"))).toContain("Gastos");
  await ana.submit(`${table}/eliminar`, `${table}/eliminar`, {});
  expect(readable(await ana.html("/conversation/escrito"))).not.toContain("Gastos");
});

it("is private to its owner and paginated when long", async () => {
  const luis = new Browser(server.url);
  await luis.signUp("Luis");
  expect((await luis.fetch(page)).status).toBe(404);
  expect((await luis.fetch(`${page}/descargar`)).status).toBe(404);
  const text = Array.from({ length: 2_000 }, (_, n) => `Párrafo ${n} de un texto que no se acaba nunca.`).join("\n\n");
  const made = await luis.change("/conversation/escrito/crear", { title: "Largo", text });
  const long = made.headers.get("Location") ?? "";
  const first = readable(await luis.html(long));
  expect(first).toMatch(/Página 1 de [34]/);
  expect(first).not.toContain("Párrafo 1999");
  expect(readable(await luis.html(`${long}?pagina=99`))).toContain("Párrafo 1999");
  expect((await luis.html(`${long}?cambio=1`)).match(/class="passage"/g)?.length).toBeLessThanOrEqual(150);
});

it("is shown and taken along whatever stands in it", async () => {
  const make = async (fields: Record<string, string>) =>
    (await ana.change("/conversation/escrito/crear", fields)).headers.get("Location") ?? "";
  const marks = await make({ title: "Marcas", kind: "code", text: "` ".repeat(200_000) });
  expect((await ana.fetch(marks)).status).toBe(200);
  const framed = await make({ title: "data-framed artifact-sheet", text: '<main class="artifact-sheet">' });
  const policy = async (path: string) => (await ana.fetch(path)).headers.get("Content-Security-Policy");
  expect(await policy(framed)).toContain("frame-ancestors 'none'");
  expect(await policy(`${framed}/hoja`)).toContain("frame-ancestors 'self'");
  const letters = await make({ title: "Chino", text: "漢".repeat(400_000) });
  expect((await ana.fetch(letters)).status).toBe(200);
  const rows = await make({ title: "Filas", kind: "table", text: `a;b\n${"1;2\n".repeat(60_000)}` });
  expect(readable(await ana.html(`${rows}/imprimir`))).toContain("aquí solo están sus primeras filas");
});

it("is read by anyone with its link, as when shared", async () => {
  const text = "El acuerdo es de mayo, **seguro**.\n\n```mermaid\nflowchart LR\n  A[Alta] --> B[Baja]\n```";
  const made = await ana.change("/conversation/escrito/crear", { title: "Acuerdo", text });
  const own = made.headers.get("Location") ?? "";
  const share = (intent: string) => ana.submit(`${own}/compartir`, `${own}/compartir`, { intent });
  expect(readable(await ana.html(`${own}/compartir`))).not.toContain("Dejar de compartir");
  await share("share");
  const shared = /\/compartido\/escrito\/[\w-]+/.exec(await ana.html(`${own}/compartir`))?.[0] ?? "";
  const stranger = new Browser(server.url);
  const seen = await stranger.html(shared);
  expect(readable(seen)).toContain("El acuerdo es de mayo");
  expect(seen).toContain('content="noindex"');
  for (const secret of ["Ana", own, "/conversation/"]) expect(seen).not.toContain(secret);
  const picture = /<img src="(\/compartido\/escrito\/[^"]+)"/.exec(seen)?.[1] ?? "";
  expect((await stranger.fetch(picture)).headers.get("Content-Type")).toContain("image/svg+xml");
  expect(await (await stranger.fetch(`${shared}/descargar?formato=md`)).text()).toBe(text);

  await ana.change(`${own}/editar`, { text: "El acuerdo es de junio.", reason: "" });
  expect(readable(await stranger.html(shared))).toContain("mayo");
  expect(readable(await ana.html(`${own}/compartir`))).toContain("la versión 1, y ya hay una 2");
  await share("share");
  expect(readable(await stranger.html(shared))).toContain("El acuerdo es de junio.");
  await share("stop");
  for (const path of [shared, picture, `${shared}/descargar`]) expect((await stranger.fetch(path)).status).toBe(404);
  await share("share");
  expect(await ana.html(`${own}/compartir`)).not.toContain(shared);
});

it("is created by a program and shown beside its output", async () => {
  const codigo = `guardar("Gastos.csv", [{ Mes: "enero", Euros: 1.5 }]); print("Suma 1,5")`;
  const chat = await ana.say(makes("ejecutar_programa", { codigo }));
  await expect.poll(async () => readable(await ana.html(chat))).toContain("Hecho.");
  const html = await ana.html(chat);
  const saved = /\/conversation\/escrito\/[\w-]{36}/.exec(html)?.[0] ?? "";
  expect(html).toContain("<iframe");
  expect(html).toContain('<pre dir="auto">Suma 1,5');
  expect(await ana.html(saved)).toMatch(/<td>1,5<\/td>/);
});

it("is shared by its person alone", async () => {
  const made = await ana.change("/conversation/escrito/crear", { title: "Mío", text: "Algo" });
  const own = made.headers.get("Location") ?? "";
  const luis = new Browser(server.url);
  await luis.signUp("Luis Otro");
  expect((await luis.fetch(`${own}/compartir`)).status).toBe(404);
  expect((await luis.fetch("/compartido/escrito/Zk3v9Q2mXo7rT1yLwB8sUcPe")).status).toBe(404);
});

it("shows HTML as a page in an isolated frame", async () => {
  const text = "<!doctype html><h1>Folleto</h1><script>document.title='no'</script>";
  const fields = { title: "Folleto", kind: "code", language: "html", text };
  const place = (await ana.change("/conversation/escrito/crear", fields)).headers.get("Location") ?? "";
  expect(await ana.html(place)).toContain(`${place}/pagina`);
  const framed = await ana.html(`${place}/pagina`);
  expect(framed).toMatch(/<iframe [^>]*sandbox=""/);
  const content = async (query: string, headers: Record<string, string>) =>
    ana.fetch(`${place}/pagina/contenido${query}`, { headers, redirect: "manual" });
  const plain = await content("", { "Sec-Fetch-Dest": "iframe" });
  expect(await plain.text()).toBe(text);
  expect(plain.headers.get("Content-Security-Policy")).toMatch(/^sandbox; default-src 'none'; style-src/);
  const allowed = await content("?programas=si", { "Sec-Fetch-Dest": "iframe" });
  expect(allowed.headers.get("Content-Security-Policy")).toMatch(
    /^sandbox allow-scripts allow-forms allow-downloads; /,
  );
  expect(await allowed.text()).toMatch(/^<!doctype html><script>.*localStorage.*<\/script><h1>Folleto/s);
  expect((await content("?programas=si", { "Sec-Fetch-Dest": "document" })).headers.get("Location")).toBe(
    `${place}/pagina?programas=si`,
  );
  expect((await content("?programas=si", {})).headers.get("Content-Security-Policy")).not.toContain("allow-scripts");
  expect((await ana.fetch(`${page}/pagina`)).status).toBe(404);
});
