// Takes pages of a server that has a public address as documents, in a network of its own: to be started by `unshare --net`. Prints
// what came of each as JSON.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { openApi } from "./api.ts";
import { sqlite } from "./engines.ts";
import { takePublicAddress } from "./public-address.ts";

const address = takePublicAddress();
const pdf = await readFile(join(import.meta.dirname, "../documents/informe.pdf"));
const sentences = "La biblioteca presta los libros por tres semanas y admite una prórroga. ".repeat(12);
const article = `<html><head><title>Préstamos &lt;de&gt; la biblioteca: guía/normas</title></head><body><nav>Inicio Agenda</nav>
  <article><h1>Préstamos</h1><p>${sentences}</p><h2>Sanciones</h2><p>${sentences}</p>
  <table><tr><td>Retraso</td><td>diez céntimos al día</td></tr></table></article>
  <script>document.body.append("escrito")</script></body></html>`;
const server = createServer((request, response) => {
  const answer = (type: string, body: string | Buffer) => response.writeHead(200, { "Content-Type": type }).end(body);
  switch (request.url) {
    case "/guia":
      return void answer("text/html; charset=iso-8859-1", Buffer.from(article, "latin1"));
    case "/descargas/contrato%20de%20alquiler?version=2":
      return void answer("application/pdf", pdf);
    case "/notas":
      return void answer("text/plain", "La reunión es el lunes a las ocho.");
    case "/mudada":
      return void response.writeHead(301, { Location: "/guia" }).end();
    case "/dentro":
      return void response.writeHead(302, { Location: "http://127.0.0.1/" }).end();
    case "/guion":
      return void answer("text/html", '<div id="app"></div><script src="/app.js"></script>');
    case "/grabacion":
      return void answer("audio/wav", Buffer.from("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0", "latin1"));
    case "/enorme":
      return void answer("application/pdf", Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(21 * 1024 * 1024)]));
    default:
      return void response.writeHead(404).end();
  }
});
await new Promise<void>((resolve) => server.listen(80, address, resolve));

const api = await openApi(sqlite);
const ana = await api.signUp();
const take = async (of: string, by = ana) => (await api.upload(by.token, [], { address: of })).body;
const at = (path: string) => take(`http://${address}${path}`);

const paths = ["/guia", "/notas", "/mudada", "/dentro", "/guion", "/grabacion", "/enorme", "/nada"];
const taken: Record<string, unknown> = {};
for (const path of [...paths, "/descargas/contrato%20de%20alquiler?version=2"]) taken[path] = await at(path);
// With no scheme, the one of today is taken, and nothing listens there.
taken["sin esquema"] = await take(`${address}/guia`);
const found = await api.call("GET", `/api/search?q=${encodeURIComponent("retraso céntimos")}&mode=passages`, ana);
const [{ id }] = (taken["/guia"] as { items: [{ id: string }] }).items;
const kept = await (await api.fetch(`/api/file/${id}/content`, ana.token)).text();

await api.db.updateTable("tools").set({ enabled: 0 }).where("kind", "=", "page").execute();
const bea = await api.signUp("Bea");
taken["sin permiso"] = await take(`http://${address}/guia`, bea);
console.log(JSON.stringify({ taken, found: found.body, kept }));
await api.close();
process.exit(0);
