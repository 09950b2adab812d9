// Reads pages of a server that has a public address, in a network of its own: to be started by `unshare --net`. Prints what came of
// each as JSON.
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { fetchPublic } from "../../app/tools/builtin/public-request.server.ts";
import { takePublicAddress } from "./public-address.ts";

const address = takePublicAddress();

let inside = 0;
const secret = createServer((_, response) => {
  inside++;
  response.end("secreto");
});
await new Promise<void>((resolve) => secret.listen(8080, "127.0.0.1", resolve));
const page = "<title>Hola</title><p>Una página.</p>";
const server = createServer((request, response) => {
  const to = (location: string) => response.writeHead(302, { Location: location }).end();
  switch (request.url) {
    case "/dentro":
      return to("http://127.0.0.1:8080/");
    case "/dentro-ipv6":
      return to("http://[::ffff:127.0.0.1]:8080/");
    case "/aqui":
      return to("/");
    case "/vueltas":
      return to("/vueltas");
    case "/nada":
      return void response.writeHead(404).end();
    case "/comprimida":
      return void response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(page));
    case "/bomba":
      return void response
        .writeHead(200, { "Content-Encoding": "gzip" })
        .end(gzipSync(Buffer.alloc(100 * 1024 * 1024)));
    case "/lenta":
      response.writeHead(200);
      return void response.write("<p>");
    default:
      response.writeHead(200, { "Content-Type": "text/html" }).end(page);
  }
});
await new Promise<void>((resolve) => server.listen(80, address, resolve));

const read = async (path: string) => {
  try {
    const { url, bytes } = await fetchPublic(`http://${address}${path}`, {
      signal: AbortSignal.timeout(2_000),
      most: () => 1024 * 1024,
    });
    return { url, length: bytes.length };
  } catch (error) {
    return { error: (error as Error).message };
  }
};
const paths = ["/", "/aqui", "/comprimida", "/dentro", "/dentro-ipv6", "/vueltas", "/nada", "/bomba", "/lenta"];
const results = Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
console.log(JSON.stringify({ results, inside, memory: process.memoryUsage.rss() }));
process.exit(0);
