import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fill, people } from "../demo/fill.ts";
import { Browser, hiddenFields } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { outline, steady } from "../support/outline.ts";
import { startServer, type TestServer } from "../support/server.ts";

// Words and forms of every page of the demonstration, against those that somebody last read. If a change is meant, `npx vitest run
// tests/pages/outlines -u` writes it down, and its difference is read like code.

let models: LLMock;
let server: TestServer;
beforeAll(async () => {
  models = await startModelServer();
  const settings = { OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" };
  // Here it is about what pages say, not about who reads them.
  server = await startServer({ ...settings, ADMIN_READS: "open" });
  await fill(`${server.url}/v1`);
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

// Of one kind of page, its first ones are like the others.
const ofOneKind = 2;
const sidebar = /<nav class="sidebar"[\s\S]*?<\/nav>/;
// Pages that are files, end the session, differ with the machine or are a list in another order.
const passed = /^\/(user\/datos\/|auth\/signout|admin\/sistema|assets)|^\/v1|\/descargar|\/contenido|\?/;

/** All pages that links lead to, with their addresses; of forms for something new, also what they say when sent empty. */
async function walk(browser: Browser, starts: string[]): Promise<string> {
  const pages: string[] = [];
  const ids = new Map<string, number>();
  const kinds = new Map<string, number>();
  const open = [...starts];
  const seen = new Set(open);
  const show = (title: string, status: number, html: string) => {
    // The sidebar is the same on all pages but the first, and what lies below a dialog is a page of its own.
    const [own] = /<dialog[\s\S]*<\/dialog>/.exec(html) ?? [html.replace(pages.length === 0 ? /(?!)/ : sidebar, "")];
    pages.push(`== ${outline(`<body>${title}`, ids)}\n${status}\n${outline(own, ids)}\n`);
  };
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    const answer = await browser.fetch(path);
    if (!answer.headers.get("Content-Type")?.startsWith("text/html")) continue;
    const html = await answer.text();
    show(path, answer.status, html);
    if (path.endsWith("/crear")) {
      const refused = await browser.post(path, { formToken: hiddenFields(html, path).formToken ?? "" });
      show(`${path}, vacío`, refused.status, await refused.text());
    }
    for (const [, link = ""] of html.matchAll(/<a [^>]*?href="(\/[^"]*)"/g)) {
      const real = link.replaceAll("&amp;", "&");
      const kind = real.replace(/[\da-f-]{36}/g, "id");
      const count = kinds.get(kind) ?? 0;
      if (seen.has(real) || passed.test(real) || count >= ofOneKind) continue;
      kinds.set(kind, count + 1);
      seen.add(real);
      open.push(real);
    }
  }
  return pages.join("\n");
}

const lists = ["/admin/message?status=failed", "/admin/user?q=bruno&marcar=1", "/admin/chat?col=title&sort=title"];
const searches = ["/conversation/chat?q=habas", "/conversation/chat?q=nada+de+eso"];

it.each([
  ["a-visitor", undefined, ["/", "/auth/signin", "/conversation/chat", "/no-existe"]],
  ["an-administrator", people.all[0], ["/user", "/conversation/chat", "/admin", ...searches, ...lists]],
  ["a-person-with-a-plan", people.all[1], ["/user", "/conversation/chat", "/admin"]],
  ["an-inactive-account", people.all[2], ["/user", "/conversation/chat"]],
])("what %s finds says what it said", { timeout: 120_000 }, async (name, person, starts) => {
  const browser = new Browser(server.url);
  if (person) await browser.signIn(person.email);
  await expect(await walk(browser, starts)).toMatchFileSnapshot(`outlines/${name}.txt`);
});

type Audited = { action?: string; resourceId?: string };

/** Reads of one page are recorded at once: nothing says which of them comes first. */
function inOrder(answer: { items?: Audited[] } | null): object | null {
  const isRead = ({ action }: Audited) => action === "read";
  const reads = answer?.items?.filter(isRead).sort((a, b) => (a.resourceId ?? "").localeCompare(b.resourceId ?? ""));
  return reads?.length
    ? { ...answer, items: answer?.items?.map((item) => (isRead(item) ? reads.pop() : item)) }
    : answer;
}

it("what the API answers is what it answered", async () => {
  const [{ email = "" } = {}] = people.all;
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ email, password: people.password });
  const token = await (await fetch(`${server.url}/v1/auth/signin`, { method: "POST", headers, body })).text();
  const get = (path: string) => fetch(`${server.url}/v1${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const { paths } = (await (await get("/api/openapi.json")).json()) as { paths: Record<string, object> };
  const ids = new Map<string, number>();
  const answers: string[] = [];
  for (const path of Object.keys(paths).filter(
    (path) => "get" in (paths[path] ?? {}) && !/system|figures/.test(path),
  )) {
    const list = path.replace(/\/\{.*/, "");
    const first = path.includes("{")
      ? ((await (await get(list)).json()) as { items?: { id: string }[] }).items?.[0]
      : {};
    const answer = await get(path.replace(/\{\w+\}/, (first as { id?: string } | undefined)?.id ?? "nadie"));
    const json = answer.headers.get("Content-Type")?.includes("json");
    const said = json
      ? JSON.stringify(inOrder(await answer.json()), null, 1)
      : `${(await answer.arrayBuffer()).byteLength > 0}`;
    // Longer than any id.
    const refused = path.includes("{") ? `, ${(await get(path.replace(/\{\w+\}/g, "x".repeat(300)))).status}` : "";
    answers.push(
      `== GET ${path}\n${answer.status}${refused} ${answer.headers.get("Content-Type")}\n${steady(said, ids)}\n`,
    );
  }
  await expect(answers.join("\n")).toMatchFileSnapshot("outlines/the-api.txt");
});
