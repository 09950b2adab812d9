import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { field, option, pressable, type Tab } from "./tab.ts";

const executablePath = "/usr/bin/firefox-esr";
export const hasFirefox = existsSync(executablePath);

// Parts of Puppeteer that are used; only the long tests install it.
type Element = {
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  select(value: string): Promise<string[]>;
  $(selector: string): Promise<Element | null>;
  evaluate<Value>(read: (element: never) => Value): Promise<Value>;
};
type Ready = { waitUntil: "domcontentloaded" };
type Page = {
  goto(url: string, options: Ready): Promise<unknown>;
  reload(options: Ready): Promise<unknown>;
  setViewport(size: { width: number; height: number }): Promise<void>;
  url(): string;
  evaluate<Value>(read: string | (() => Value)): Promise<Value>;
  $(selector: string): Promise<Element | null>;
};
type Puppeteer = { launch(options: object): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }> };

export async function openFirefox({ javaScript }: { javaScript: boolean }): Promise<Tab> {
  const { default: puppeteer } = createRequire(join(import.meta.dirname, "../tools/package.json"))(
    "puppeteer-core",
  ) as { default: Puppeteer };
  const prefs = { "javascript.enabled": javaScript };
  const browser = await puppeteer.launch({ browser: "firefox", executablePath, extraPrefsFirefox: prefs });
  const page = await browser.newPage();
  async function find(xpath: string): Promise<Element> {
    const element = await page.$(`xpath/.${xpath}`);
    if (!element) throw new Error(`there is no ${xpath} on ${page.url()}`);
    return element;
  }
  const ready: Ready = { waitUntil: "domcontentloaded" };
  return {
    async go(url) {
      await page.goto(url, ready);
    },
    // Puppeteer waits for an event that a page kept in memory does not send.
    back: () => page.evaluate("void history.back()"),
    async reload() {
      await page.reload(ready);
    },
    resize: (width, height) => page.setViewport({ width, height }),
    evaluate: (expression) => page.evaluate(expression),
    url: async () => page.url(),
    isLoaded: () => page.evaluate(() => document.readyState === "complete"),
    title: () => page.evaluate(() => document.title),
    text: () => page.evaluate(() => document.body.innerText),
    async fill(label, text) {
      const element = await find(field(label));
      await element.evaluate((input: HTMLInputElement) => input.select());
      await element.type(text);
    },
    async choose(label, text) {
      const list = await find(field(label));
      const chosen = await list.$(`xpath/${option(text)}`);
      await list.select((await chosen?.evaluate(({ value }: HTMLOptionElement) => value)) ?? "");
    },
    // By key: to click, Puppeteer looks by a script of the page whether the element is in sight.
    press: async (name) => (await find(pressable(name))).press("Enter"),
    close: () => browser.close(),
  };
}
