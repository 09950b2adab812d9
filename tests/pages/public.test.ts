import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownPaths } from "../../app/api/site/pages.server.ts";
import routes from "../../app/routes.ts";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let visitor: Browser;
beforeAll(async () => {
  server = await startServer();
  visitor = new Browser(server.url);
});
afterAll(() => server.stop());

it("what is shared by a link is not listed by search engines, also files", async () => {
  const robots = async (path: string) => (await visitor.fetch(path)).headers.get("X-Robots-Tag");
  expect(await robots("/compartido/x/archivo/y")).toBe("noindex");
  expect(await robots("/servicios")).toBeNull();
});

it("connections outlive those of proxies, which last a minute", async () => {
  const answer = await fetch(server.url);
  const [, seconds] = /timeout=(\d+)/.exec(answer.headers.get("Keep-Alive") ?? "") ?? [];
  expect(Number(seconds)).toBeGreaterThan(60);
});

it("a custom page cannot take an address of the application", () => {
  type Routes = readonly { path?: string | undefined; children?: Routes | undefined }[];
  const firsts = (list: Routes): string[] =>
    list.flatMap(({ path, children = [] }) => (path === undefined ? firsts(children) : (path.split("/")[0] ?? [])));
  const ofFolder = readdirSync("public", { withFileTypes: true }).filter((one) => one.isDirectory());
  // A slug has letters, digits and dashes.
  const taken = [...firsts(routes as Routes), ...ofFolder.map(({ name }) => name)].filter((one) =>
    /^[a-z\d-]+$/.test(one),
  );
  expect(taken.filter((one) => !ownPaths.has(one))).toEqual([]);
});

const paths = ["/", "/servicios", "/sobre-nosotros", "/soporte", "/contacto"];

describe("public pages", () => {
  it.each(paths)("%s has a menu, search and preview metadata, no script", async (path) => {
    const html = await visitor.html(path);
    expect(html).not.toContain("<script");
    expect(html).not.toContain("modulepreload");
    for (const label of ["Servicios", "Sobre nosotros", "Soporte", "Contacto"]) expect(readable(html)).toContain(label);
    expect(html).toMatch(/<title>[^<]*Tertulia[^<]*<\/title>/);
    expect(html).toMatch(/<meta name="description" content="[^"]{20,}"/);
    expect(html).toContain(`<link rel="canonical" href="${server.url}${path}"`);
    for (const property of ["title", "description", "url", "type", "locale"]) {
      expect(html).toMatch(new RegExp(`<meta property="og:${property}" content="[^"]+"`));
    }
    expect(html.match(/<h1/g)).toHaveLength(1);
  });

  it("stand at one address each", async () => {
    const answer = await visitor.fetch("/inicio");
    expect(answer.status).toBe(301);
    expect(answer.headers.get("Location")).toBe("/");
  });

  it("are listed in the sitemap, and robots.txt excludes the rest", async () => {
    const robots = await visitor.fetch("/robots.txt");
    expect(robots.headers.get("Content-Type")).toContain("text/plain");
    const text = await robots.text();
    expect(text).toContain("Disallow: /conversation/");
    expect(text).toContain(`Sitemap: ${server.url}/sitemap.xml`);
    const sitemap = await visitor.fetch("/sitemap.xml");
    expect(sitemap.headers.get("Content-Type")).toContain("application/xml");
    const listed = [...(await sitemap.text()).matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address]) => address);
    expect(listed.sort()).toEqual(paths.map((path) => server.url + path).sort());
  });

  it("publish a security contact that expires within a year", async () => {
    const answer = await visitor.fetch("/.well-known/security.txt");
    expect(answer.headers.get("Content-Type")).toContain("text/plain");
    const text = await answer.text();
    expect(text).toContain(`Contact: ${server.url}/soporte\n`);
    expect((await visitor.fetch("/soporte")).status).toBe(200);
    const expires = Date.parse(/^Expires: (\S+)$/m.exec(text)?.[1] ?? "") - Date.now();
    expect(expires).toBeGreaterThan(0);
    expect(expires).toBeLessThan(365 * 24 * 60 * 60_000);
  });

  it("accept contact messages and silently discard those of bots", async () => {
    const sent = (fields: Record<string, string>) =>
      visitor.submit("/soporte", "/soporte", { name: "Eva", email: "eva@ejemplo.es", message: "Hola", ...fields });
    const person = await sent({});
    expect(readable(await person.text())).toContain("Tu mensaje ha llegado. Te responderemos a eva@ejemplo.es");
    const program = await sent({ web: "https://compra.example" });
    expect(program.status).toBe(200);
    expect(readable(await program.text())).toContain("Tu mensaje ha llegado.");
    const db = new DatabaseSync(`${server.dataDir}/tertulia.db`, { readOnly: true });
    expect(db.prepare("select count(*) as count from emails").get()).toEqual({ count: 1 });
    db.close();
  });

  it("take nothing where there is no form", async () => {
    const [, formToken = ""] = /name="formToken" value="([^"]+)"/.exec(await visitor.html("/contacto")) ?? [];
    expect((await visitor.post("/servicios", { formToken, message: "Hola" })).status).toBe(404);
  });
});

describe("an error", () => {
  const robot = { headers: { "User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)" } };

  it("is logged and shows robots only its status", async () => {
    const answer = await visitor.fetch("/nada", robot);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toBe("");
    await expect.poll(() => server.printed()).toMatch(/"path":"\/nada".*página de error no mostrada a un robot/);
  });

  it("is nothing to robots on pages that are there", async () => {
    expect(await (await visitor.fetch("/servicios", robot)).text()).toContain("Servicios");
  });

  it.each(["w3m/0.5.3", "ELinks/0.16", "Dillo/3.1", "Lynx/2.9"])("is shown to people with %s", async (agent) => {
    const answer = await visitor.fetch("/nada", { headers: { "User-Agent": agent } });
    expect(await answer.text()).toContain("Page Not Found: /nada");
  });

  it("of an outdated script module reloads the page", async () => {
    const answer = await visitor.fetch("/assets/chat-viejo.js");
    expect(answer.status).toBe(302);
    const stale = await visitor.fetch(answer.headers.get("Location") ?? "");
    expect(stale.headers.get("Content-Type")).toContain("javascript");
    expect(await stale.text()).toContain("location.reload()");
  });
});
