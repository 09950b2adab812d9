import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import sharp from "sharp";

/** A SearXNG, a Brave, a Tavily and a maker of images, as they answer. */
export async function startWebServices() {
  const results = [
    { title: "El pan, hoy", url: "https://pan.example/hoy", content: "A 1,20 la barra" },
    { title: "El pan, ayer", url: "https://pan.example/ayer", content: "A 1,10 la barra" },
    { title: "Trampa", url: "javascript:alert(1)", content: "x" },
  ];
  const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#345" } })
    .png()
    .toBuffer();
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://x");
    const json = (body: object, status = 200) => {
      // As real ones do.
      response.writeHead(status, { "Content-Type": "application/json", "Content-Encoding": "gzip" });
      response.end(gzipSync(JSON.stringify(body)));
    };
    request.resume();
    if (url.pathname === "/sin-json/search") return void response.writeHead(403).end("Forbidden");
    if (url.pathname === "/search" && url.searchParams.get("format") === "json") return json({ results });
    if (url.pathname === "/brave") {
      if (request.headers["x-subscription-token"] !== "clave-buena") return json({}, 401);
      return json({
        web: { results: [{ title: "Pan", url: "https://pan.example/hoy", description: "<strong>Pan</strong>" }] },
      });
    }
    if (url.pathname === "/tavily") {
      if (request.headers.authorization !== "Bearer clave-buena") return json({}, 401);
      return json({ results: results.slice(0, 1) });
    }
    if (url.pathname === "/v1/images/generations") return json({ data: [{ b64_json: picture.toString("base64") }] });
    if (url.pathname === "/imagen.png") return response.writeHead(200, { "Content-Type": "image/png" }).end(picture);
    // Services that answer with where the image is: on their own, or anywhere.
    const own = `http://${request.headers.host}/imagen.png`;
    if (url.pathname === "/propia/images/generations") return json({ data: [{ url: own }] });
    if (url.pathname === "/ajena/images/generations")
      return json({ data: [{ url: own.replace("127.0.0.1", "localhost") }] });
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}
