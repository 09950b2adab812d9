import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { HtmlValidate } from "html-validate";
import { rules } from "../support/html-rules.ts";
import { begin, expect, hydrated, lastReply, signInAsAdmin, test } from "./fixtures.ts";
import { toldToScreenReaders } from "./screen-reader.ts";

// High enough that nothing is cut by the edge of a list that scrolls: what is would count as a small target.
const wide = { width: 1280, height: 1800 };
// A dialog that is still fading in has too little contrast.
const reducedMotion = "reduce";
test.use({ contextOptions: { reducedMotion } });

const validator = new HtmlValidate(rules);
const kept: { path: string; text: string }[] = [];
const vnu = "tests/tools/node_modules/vnu-jar/build/dist/vnu.jar";
const hasJava = spawnSync("java", ["-version"]).status === 0;

/** Findings of the W3C's checker in all pages that were kept; it needs Java. */
function checked(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-html-"));
  const files = kept.splice(0).map(({ path, text }, index) => {
    const file = join(folder, `${index}.html`);
    writeFileSync(file, text);
    return { path, file };
  });
  const { stderr } = spawnSync(
    "java",
    ["-jar", vnu, "--errors-only", "--format", "json", ...files.map(({ file }) => file)],
    {
      encoding: "utf8",
      maxBuffer: 50_000_000,
    },
  );
  rmSync(folder, { recursive: true });
  type Message = { url: string; message: string; extract?: string };
  const { messages } = JSON.parse(stderr) as { messages: Message[] };
  return messages.map(({ url, message, extract }) => {
    const page = files.find(({ file }) => url.endsWith(file))?.path;
    return `${page}: vnu: ${message} ${extract?.slice(0, 120)}`;
  });
}

/** Pages that links lead to, one of each kind: a new page that is linked anywhere is looked at without being named here. */
async function* everyPage(page: Page, from: string[], scripts: boolean): AsyncGenerator<string> {
  const kindOf = (path: string) => path.replace(/[\w-]{36}/g, ":id").replace(/\?.*|#.*/, "");
  const seen = new Set<string>();
  const waiting = [...from];
  // Links that save a file or end the session, and endless ones.
  const leftOut =
    /\/(text|descargar|contenido|datos|signout|csv|lineas)\b|\/copias\/[^/]+$|\/v1\/|\.(xml|txt)$|\/acuse\//;
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path);
    if (seen.has(kind) || leftOut.test(path)) continue;
    seen.add(kind);
    await page.goto(path, { waitUntil: "load" });
    if (scripts && (await page.locator("script[type=module]").count()) > 0) await hydrated(page);
    yield path;
    const links = await page.locator("a[href^='/']").evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
    waiting.push(...links);
  }
}

async function axe(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode(true)
    .options({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })
    .analyze();
  const where = (nodes: { html: string }[]) => nodes.map(({ html }) => html.slice(0, 160)).join(" | ");
  return violations.map(({ id, nodes }) => `axe ${id}: ${where(nodes)}`);
}

/** A page at 320 pixels, or at 1280 enlarged four times, which is the same, is read without scrolling sideways. */
async function sideways(page: Page): Promise<string[]> {
  const width = await page.evaluate(() => document.scrollingElement?.scrollWidth ?? 0);
  return width > 320 ? [`it is ${width} px wide`] : [];
}

/** Tab alone reaches all that can be used, in a circle, and shows where it is. */
async function keyboard(page: Page): Promise<string[]> {
  const wanted = await page.evaluate(() => {
    const usable = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
    const dialog = document.querySelector("dialog:modal");
    const all = [...(dialog ?? document).querySelectorAll<HTMLElement>(usable)].filter(
      (one) =>
        one.checkVisibility({ visibilityProperty: true }) &&
        !one.closest("[inert]") &&
        !(one as HTMLButtonElement).disabled &&
        one.tabIndex >= 0 &&
        // Of the choices of a group, Tab reaches the one that is chosen; the arrows reach the others.
        !(one instanceof HTMLInputElement && one.type === "radio"),
    );
    for (const [index, one] of all.entries()) one.dataset.walk = String(index);
    (document.activeElement as HTMLElement | null)?.blur();
    return all.map((one) => one.outerHTML.slice(0, 120));
  });
  const reached = new Set<number>();
  const faint: string[] = [];
  for (let step = 0; step < wanted.length * 2 + 10 && reached.size < wanted.length; step++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const one = document.activeElement as HTMLElement | null;
      if (!one || one === document.body) return;
      const shown = (element: Element | null) => {
        if (!element) return false;
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
        return (outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
      };
      const visible = shown(one) || shown(one.parentElement) || shown(one.closest(".composer, label"));
      return { index: Number(one.dataset.walk ?? -1), visible, html: one.outerHTML.slice(0, 120) };
    });
    if (!at) continue;
    if (at.index >= 0) reached.add(at.index);
    if (!at.visible) faint.push(`the focus does not show on ${at.html}`);
  }
  const missed = wanted.filter((_, index) => !reached.has(index)).map((html) => `Tab does not reach ${html}`);
  return [...missed, ...new Set(faint)];
}

async function html(page: Page): Promise<string[]> {
  const text = await (await page.request.get(page.url())).text();
  kept.push({ path: new URL(page.url()).pathname, text });
  const { results } = await validator.validateString(text);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} ${selector}`),
  );
}

async function lookAt(page: Page, from: string[], scripts: boolean): Promise<[pages: number, problems: string[]]> {
  const problems: string[] = [];
  let pages = 0;
  await page.setViewportSize(wide);
  for await (const path of everyPage(page, from, scripts)) {
    pages++;
    const found = [
      ...(await axe(page)),
      ...(await toldToScreenReaders(page)),
      ...(await keyboard(page)),
      ...(await html(page)),
    ];
    await page.setViewportSize({ width: 320, height: 640 });
    found.push(...(await sideways(page)), ...(await axe(page)).map((one) => `at 320: ${one}`));
    await page.setViewportSize(wide);
    problems.push(...found.map((one) => `${path}: ${one}`));
  }
  return [pages, problems];
}

test.describe.configure({ timeout: 900_000 });

for (const who of ["visitor", "admin"] as const) {
  const place = test.extend<{ ready: string[] }>({
    ready: async ({ page, server }, use) => {
      if (who === "visitor") return use(["/", "/auth/reset/x", "/nada"]);
      await signInAsAdmin(page, server.adminEmail);
      await begin(page, "Una respuesta con formato", "gpt-4o");
      await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
      const chat = new URL(page.url()).pathname;
      await begin(page, "Un error 500", "gpt-4o");
      // Without a script the page that was there for its end says so below it.
      await expect(lastReply(page)).toContainText("El proveedor del modelo tiene un problema (500).", {
        timeout: 20_000,
      });
      const failed = new URL(page.url()).pathname;
      await page.goto("/conversation/project/crear");
      await page.getByLabel("Nombre").fill("Una tesis sobre construcciones antiguas");
      await page.getByRole("button", { name: "Guardar" }).click();
      await page.waitForURL(/\/conversation\/project\/[\w-]{36}$/);
      const project = new URL(page.url()).pathname;
      await page.goto("/user/file");
      await page.getByLabel("Archivos").setInputFiles("tests/documents/informe.pdf");
      await page.getByRole("button", { name: "Subir" }).click();
      await expect(page.getByRole("link", { name: "informe.pdf", exact: true })).toBeVisible();
      await page.goto("/admin/sistema");
      await page.getByRole("button", { name: "Hacer una copia ahora" }).click();
      await expect(page.getByText("La copia está hecha.")).toBeVisible();
      await use([
        "/admin",
        "/user",
        "/user/seguridad/claves/crear",
        "/user/datos",
        "/conversation/chat",
        chat,
        `${chat}/eliminar`,
        `${chat}/mover`,
        failed,
        project,
        "/conversation/chat?q=formato",
        "/",
      ]);
    },
  });
  const both = place.extend<{ looked: Page }>({
    looked: async ({ page, browser, javaScriptEnabled, baseURL, ready }, use) => {
      expect(ready.length).toBeGreaterThan(0);
      if (javaScriptEnabled) return use(page);
      // axe and the walk are scripts themselves: where scripts are off they look at the same page, of which none has been loaded.
      const storageState = await page.context().storageState();
      const context = await browser.newContext({ storageState, baseURL, reducedMotion, javaScriptEnabled: true });
      const bare = await context.newPage();
      await bare.route(/\.js$/, (route) => route.abort());
      await use(bare);
      await context.close();
    },
  });
  both(`every page that a ${who} gets to is for everyone`, async ({ looked, ready, javaScriptEnabled }) => {
    const [pages, problems] = await lookAt(looked, ready, javaScriptEnabled ?? true);
    if (hasJava) problems.push(...checked());
    expect(problems).toEqual([]);
    expect(pages).toBeGreaterThan(who === "visitor" ? 8 : 60);
  });
}
