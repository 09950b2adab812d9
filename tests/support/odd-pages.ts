// Pages as servers of others send them, fetched within a network of this process's own; see tests/wire/odd-web.test.ts.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { readBytes } from "../../app/files/read-document.server.ts";
import { page } from "../../app/tools/builtin/page.server.ts";
import { fetchPublic } from "../../app/tools/builtin/public-request.server.ts";
import type { Caller } from "../../app/tools/tool.server.ts";
import { takePublicAddress } from "./public-address.ts";

const host = takePublicAddress();
const text = "<p>La fianza es de 640 euros.</p>".repeat(50);
type Answer = { headers?: Record<string, string>; body?: Buffer | string; status?: number };
const paper = (name: string) => readFileSync(new URL(`../papers/set/${name}`, import.meta.url));
const invoice = paper("factura-libreoffice.pdf");
const packed = (how: string, body: Buffer): Answer => ({ headers: { "Content-Encoding": how }, body });
const table =
  "<table><tr><th>Plan<th>Periodo<th>Precio</tr><tr><td rowspan=2>Pro<td>Mes<td>10</tr><tr><td>Año<td>100</tr></table>";
const pages: Record<string, Answer> = {
  "/deflate": packed("deflate", deflateSync(text)),
  "/bare-deflate": packed("deflate", deflateRawSync(text)),
  "/zstd": packed("zstd", zstdCompressSync(text)),
  "/twice": packed("br, gzip", gzipSync(brotliCompressSync(text))),
  "/without-end": packed("gzip", gzipSync(text).subarray(0, -8)),
  "/not-packed": packed("gzip", Buffer.from(text)),
  "/moved": { status: 302, headers: { Location: Buffer.from("/año").toString("latin1") } },
  "/a%C3%B1o": { body: text },
  "/factura.pdf": { headers: { "Content-Type": "application/pdf" }, body: invoice },
  "/descarga": { headers: { "Content-Type": "application/octet-stream" }, body: invoice },
  "/sello.png": { headers: { "Content-Type": "image/png" }, body: paper("escaneo-tumbado.png") },
  "/linking": { body: `${text}<p><a href="/baremo.pdf">Baremo <b>2026</b></a></p>` },
  "/table": { body: `<main>${table}<p>47 × 10<sup>6</sup> personas, antes <del>30</del></p></main>` },
  "/refreshed": { body: '<meta http-equiv="refresh" content="0; url=/deflate">' },
};
const server = createServer((request, response) => {
  const path = request.url ?? "";
  if (path === "/cookie" && !request.headers.cookie?.includes("visto=1")) {
    return response.writeHead(302, { Location: "/cookie", "Set-Cookie": "visto=1; Path=/" }).end();
  }
  if (path === "/cut") {
    response.writeHead(200, { "Content-Type": "text/html", "Content-Encoding": "deflate", "Content-Length": "9999" });
    return response.write(deflateSync(text), () => setImmediate(() => response.destroy()));
  }
  if (path === "/long-headers") return response.writeHead(200, { "X-Policy": "x".repeat(30_000) }).end(text);
  const { status = 200, headers, body = text } = pages[path] ?? {};
  response.writeHead(status, { "Content-Type": "text/html", ...headers }).end(body);
});
await new Promise<void>((resolve) => server.listen(0, host, resolve));
const address = server.address();
const port = typeof address === "object" ? address?.port : 0;
const read: Record<string, string> = {};
for (const path of [...Object.keys(pages), "/cookie", "/cut", "/long-headers"]) {
  const fetched = fetchPublic(`http://${host}:${port}${path}`, {
    signal: AbortSignal.timeout(10_000),
    most: () => 1_000_000,
  });
  read[path] = await fetched.then(
    ({ bytes }) => (bytes.toString().startsWith("<p>La fianza") ? "read" : bytes.toString("utf8", 0, 60)),
    (error: Error) => `${error.name}: ${error.message}`,
  );
}
const { call } = page(readBytes);
const caller = { userId: "u", length: 10_000, signal: AbortSignal.timeout(30_000) } as unknown as Caller;
for (const path of ["/factura.pdf", "/descarga", "/sello.png"]) {
  const outcome = call({ direccion: `http://${host}:${port}${path}` }, caller);
  read[path] = await outcome.then(
    (brought) => ("whole" in brought && brought.whole?.[0]?.slice(0, 60)) || "nothing",
    (error: Error) => `${error.name}: ${error.message}`,
  );
}
const laidOut = (await call({ direccion: `http://${host}:${port}/table` }, caller)) as { whole?: string[] };
read["/table"] = laidOut.whole?.join() ?? "nothing";
const linking = call({ direccion: `http://${host}:${port}/linking` }, { ...caller, length: 400 });
const { whole = [] } = (await linking) as { whole?: string[] };
read.below = whole.join().split("euros.").at(-1)?.replaceAll(`${host}:${port}`, "e.es") ?? "nothing";
read.length = String(whole.join().length);
console.log(JSON.stringify(read));
server.closeAllConnections();
server.close();
