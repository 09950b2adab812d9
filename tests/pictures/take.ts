// `npm run fotos -- FOLDER`: every page of the demonstration as pictures, at each size, with script, without and light, and a sheet of
// them all (`index.html`), to be looked at one by one. A second argument is a part of the paths that are wanted.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BrowserContext, chromium } from "@playwright/test";
import pLimit from "p-limit";
import { fill, people } from "../demo/fill.ts";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { systemChromium } from "../support/programs.ts";
import { startServer } from "../support/server.ts";

const sizes = [
  { width: 360, height: 740 },
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1280, height: 800 },
  { width: 1600, height: 900 },
  { width: 740, height: 360 },
];
const ways = ["con-script", "sin-script", "ligera"] as const;
type Way = (typeof ways)[number];
// How many pages are open at the same time.
const atOnce = 3;
// Pages of the same kind after the first look the same. Links that save a file, end the session or differ at every start.
const passed =
  /\/(text|descargar|contenido|signout|csv|lineas|acuse)\b|\/copias\/[^/]+$|\/v1\/|\.(xml|txt|webmanifest)$/;
const kindOf = (path: string) => path.replace(/[\da-f-]{36}/g, "id").replace(/\?.*|#.*/, "");

const [folder = "", wanted = ""] = process.argv.slice(2);
if (!folder) throw new Error("Falta la carpeta: npm run fotos -- CARPETA [PARTE-DE-LA-RUTA]");
const models = await startModelServer();
const server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "demo", ADMIN_READS: "open" });
await fill(`${server.url}/v1`);
const driver = await chromium.launch({
  ...(systemChromium && { executablePath: systemChromium }),
  args: ["--no-sandbox"],
});

const visitor = new Browser(server.url);
const administrator = new Browser(server.url);
await administrator.signIn(people.all[0]?.email ?? "");
const starts = [
  "/user",
  "/conversation/chat",
  "/admin",
  "/conversation/chat?q=habas",
  "/conversation/chat?q=nada+de+eso",
];
const seen = new Set<string>();
const pictures: { path: string; who: Browser }[] = [
  ...(await walk(visitor, ["/", "/auth/signin", "/no-existe", "/sin-conexion"])).map((path) => ({
    path,
    who: visitor,
  })),
  ...(await walk(administrator, starts)).map((path) => ({ path, who: administrator })),
].filter(({ path }) => path.includes(wanted));

const limit = pLimit(atOnce);
for (const way of ways) {
  for (const who of new Set(pictures.map(({ who }) => who))) {
    const context = await contextOf(way, who);
    const own = pictures.filter((one) => one.who === who);
    await Promise.all(own.map(({ path }) => limit(() => takeOf(context, way, path))));
    await context.close();
  }
}
writeFileSync(join(folder, "index.html"), sheet());
console.log(`${pictures.length} páginas: ${resolve(folder, "index.html")}`);
await driver.close();
await server.stop();
await models.stop();

/** One path of each kind of page that links lead to. */
async function walk(browser: Browser, open: string[]): Promise<string[]> {
  const found: string[] = [];
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    const kind = path.includes("?q=") ? path : kindOf(path);
    if (seen.has(kind) || passed.test(path)) continue;
    const answer = await browser.fetch(path);
    // Whoever is signed in may get the page that this one is led away from.
    if (answer.status >= 300 && answer.status < 400) continue;
    seen.add(kind);
    if (!answer.headers.get("Content-Type")?.startsWith("text/html")) continue;
    found.push(path);
    open.push(...[...(await answer.text()).matchAll(/<a [^>]*?href="(\/[^"]*)"/g)].map(([, link = ""]) => link));
  }
  return found.map((path) => path.replaceAll("&amp;", "&"));
}

async function contextOf(way: Way, who: Browser): Promise<BrowserContext> {
  const context = await driver.newContext({
    baseURL: server.url,
    javaScriptEnabled: way !== "sin-script",
    reducedMotion: "reduce",
    locale: "es-ES",
    serviceWorkers: "block",
  });
  await context.addCookies([...who.cookies].map(([name, value]) => ({ name, value, url: server.url })));
  if (way === "ligera") await context.setExtraHTTPHeaders({ "Save-Data": "on" });
  return context;
}

async function takeOf(context: BrowserContext, way: Way, path: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(path, { waitUntil: "load" });
  for (const size of sizes) {
    await page.setViewportSize(size);
    const file = join(folder, nameOf(way, size, path));
    mkdirSync(join(file, ".."), { recursive: true });
    await page.screenshot({ path: file });
  }
  await page.close();
}

function nameOf(way: Way, { width, height }: (typeof sizes)[number], path: string): string {
  const name = path.replace(/[\da-f-]{36}/g, "id").replace(/[^\w-]+/g, "_");
  return `${way}/${width}x${height}/${name || "_"}.png`;
}

function sheet(): string {
  const rows = pictures.map(({ path }) => {
    const cells = ways.flatMap((way) =>
      sizes.map((size) => {
        const file = nameOf(way, size, path);
        return `<a href="${file}"><img loading="lazy" src="${file}" alt="${way} ${size.width}"></a>`;
      }),
    );
    return `<h2>${path.replace(/[<&]/g, "")}</h2><div>${cells.join("")}</div>`;
  });
  const style =
    "body{font:14px sans-serif;background:#444;color:#fff}div{display:flex;gap:8px;overflow:auto}img{height:320px}";
  return `<!doctype html><meta charset="utf-8"><title>Fotos</title><style>${style}</style>${rows.join("")}`;
}
