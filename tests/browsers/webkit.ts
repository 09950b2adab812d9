import { spawn } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { vi } from "vitest";
import { freePort } from "../support/server.ts";
import { field, option, pressable, type Tab } from "./tab.ts";

const binary = globSync("/usr/lib/*/webkit2gtk-4.1/MiniBrowser")[0];
export const hasWebKit =
  binary !== undefined && ["WebKitWebDriver", "Xvfb"].every((name) => existsSync(`/usr/bin/${name}`));

// The name of an element's id in JSON (W3C WebDriver §12).
const elementKey = "element-6066-11e4-a52e-4f735466cecf";
const patience = { timeout: 30_000 };
// In ms. A command whose page is replaced meanwhile is now and then never answered (one in some hundreds, WebKitGTK 2.50); asked again
// of the new page, it is.
const lostAfter = 4_000;
type Element = { [elementKey]: string };

/** WebKit's own small browser on a screen that nobody sees, spoken to by W3C WebDriver. */
export async function openWebKit({ javaScript }: { javaScript: boolean }): Promise<Tab> {
  const port = await freePort();
  const display = `:${port}`;
  const screen = spawn("Xvfb", [display, "-screen", "0", "1280x900x24"], { stdio: "ignore" });
  const env = { ...process.env, DISPLAY: display };
  const driver = spawn("WebKitWebDriver", [`--port=${port}`], { env, stdio: "ignore" });
  const end = () => {
    driver.kill();
    screen.kill();
  };
  process.once("exit", end);

  async function send<Value>(method: string, path: string, body?: object, within = lostAfter): Promise<Value> {
    const init = { method, signal: AbortSignal.timeout(within), ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`http://127.0.0.1:${port}/session${path}`, init);
    const { value } = (await answer.json()) as { value: Value & { error?: string; message?: string } };
    if (!answer.ok) throw new Error(`${value.error}: ${value.message} (${path})`);
    return value;
  }
  const args = ["--automation", `--enable-javascript=${javaScript}`];
  const alwaysMatch = { pageLoadStrategy: "none", "webkitgtk:browserOptions": { binary, args } };
  await vi.waitUntil(() => existsSync(`/tmp/.X11-unix/X${port}`), patience);
  await vi.waitUntil(
    () =>
      fetch(`http://127.0.0.1:${port}/status`).then(
        ({ ok }) => ok,
        () => false,
      ),
    patience,
  );
  const capabilities = { capabilities: { alwaysMatch } };
  const { sessionId } = await send<{ sessionId: string }>("POST", "", capabilities, patience.timeout);
  const tab = `/${sessionId}`;
  async function find(xpath: string, within = tab): Promise<string> {
    const found = await send<Element[]>("POST", `${within}/elements`, { using: "xpath", value: xpath });
    for (const { [elementKey]: id } of found) {
      if (await send<boolean>("GET", `${tab}/element/${id}/displayed`)) return `${tab}/element/${id}`;
    }
    throw new Error(`there is no ${xpath}`);
  }
  const evaluate = <Value>(expression: string) =>
    send<Value>("POST", `${tab}/execute/sync`, { script: `return ${expression}`, args: [] });
  const read = async () => send<string>("GET", `${await find("//body")}/text`);
  return {
    go: (url) => send("POST", `${tab}/url`, { url }),
    url: () => send("GET", `${tab}/url`),
    isLoaded: () => evaluate("document.readyState === 'complete'"),
    evaluate,
    back: () => send("POST", `${tab}/back`, {}),
    reload: () => send("POST", `${tab}/refresh`, {}),
    async resize(width, height) {
      // A window has a bar and borders beside its page.
      const [around, above] = await evaluate<[number, number]>("[outerWidth - innerWidth, outerHeight - innerHeight]");
      await send("POST", `${tab}/window/rect`, { width: width + around, height: height + above });
    },
    title: () => send("GET", `${tab}/title`),
    // The driver of WebKitGTK 2.50 fails on some pages as it looks for what is displayed.
    text: () => read().catch(() => evaluate<string>("document.body.innerText")),
    async fill(label, text) {
      const element = await find(field(label));
      // The driver does not scroll to what is seen by half.
      const args = [{ [elementKey]: element.split("/").at(-1) }];
      await send("POST", `${tab}/execute/sync`, { script: "arguments[0].scrollIntoView({ block: 'center' })", args });
      await send("POST", `${element}/clear`, {});
      await send("POST", `${element}/value`, { text });
    },
    choose: async (label, text) => send("POST", `${await find(option(text), await find(field(label)))}/click`, {}),
    press: async (name) => send("POST", `${await find(pressable(name))}/click`, {}),
    close: () => send("DELETE", tab).finally(end) as Promise<void>,
  };
}
