import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { says, startWritingModel } from "../support/writing-model.ts";
import { hasFirefox, openFirefox } from "./firefox.ts";
import type { Tab } from "./tab.ts";
import { hasWebKit, openWebKit } from "./webkit.ts";

const browsers = [
  { name: "Firefox", has: hasFirefox, open: openFirefox },
  { name: "WebKit", has: hasWebKit, open: openWebKit },
];
const ways = browsers.flatMap((browser) => [true, false].map((javaScript) => ({ ...browser, javaScript })));
const paragraphs = Array.from({ length: 12 }, (_, n) => `Párrafo ${n + 1} de una respuesta que ocupa bastante.`);

describe.each(ways)("reading in $name, JavaScript $javaScript", ({ name, has, open, javaScript }) => {
  let server: TestServer;
  let model: Awaited<ReturnType<typeof startWritingModel>>;
  let tab: Tab;
  let person: Browser;
  beforeAll(async () => {
    if (!has) return;
    model = await startWritingModel();
    server = await startServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "clave" });
    tab = await open({ javaScript });
    await opens("/auth/signup", "Crear cuenta");
    await tab.fill("Nombre", "Ana Gil");
    await tab.fill("Correo electrónico", "ana@ejemplo.es");
    await tab.fill("Contraseña", password);
    await tab.press("Crear cuenta");
    await shows("Mensajes de hoy");
    person = new Browser(server.url);
    await person.signIn("ana@ejemplo.es");
  });
  afterAll(async () => {
    try {
      await tab?.close();
    } finally {
      await server?.stop();
      model?.stop();
    }
  });

  // Between two pages there is nothing to read.
  const becomes = <Value>(read: () => Promise<Value>, wanted: (value: Value) => boolean) =>
    vi.waitFor(async () => expect(await read()).toSatisfy(wanted), { timeout: 20_000, interval: 50 });
  const shows = (text: string) => becomes(tab.text, (shown) => shown.includes(text));
  /** A chat with so many long replies, sent as a page without script sends. */
  async function chatOf(first: string, replies = 1): Promise<string> {
    const [chat = ""] = (await person.say(`${first}. ${says(paragraphs.join("\n\n"))}`)).split("?");
    await person.html(chat);
    for (let n = 1; n < replies; n++) {
      await person.say(says(paragraphs.join("\n\n")), chat);
      await person.html(chat);
    }
    return chat;
  }
  /** Waits until another page is there: WebKit tells the address of the next one while the last one is still shown. */
  async function leaving(go: () => Promise<void>): Promise<void> {
    await tab.evaluate("(document.documentElement.dataset.before = '1')");
    await go();
    await becomes(
      () => tab.evaluate<boolean>("document.documentElement.dataset.before === undefined"),
      (isNew) => isNew,
    );
  }
  /** Opens a page, which shows `text` when it is there. */
  async function opens(path: string, text: string): Promise<void> {
    await leaving(() => tab.go(`${server.url}${path}`));
    await shows(text);
    await becomes(tab.isLoaded, Boolean);
  }
  const box = (selector: string) =>
    tab.evaluate<{ top: number; bottom: number; height: number }>(
      `(({ top, bottom, height }) => ({ top, bottom, height }))([...document.querySelectorAll(${JSON.stringify(selector)})].at(-1).getBoundingClientRect())`,
    );
  const height = () => tab.evaluate<number>("innerHeight");
  const place = () => tab.evaluate<number>("document.querySelector('.reader').scrollTop");

  it.runIf(has)("keeps composer and end of the text in a low window", async () => {
    const chat = await chatOf("Una ventana baja");
    await tab.resize(740, 360);
    await opens(chat, "Regenerar");
    await becomes(
      async () => ({ composer: await box(".composer"), end: await box(".reader .prose p"), height: await height() }),
      ({
        composer,
        end,
        height,
      }: Record<"composer" | "end", { top: number; bottom: number; height: number }> & { height: number }) =>
        composer.bottom <= height && composer.height < height / 3 && end.bottom <= composer.top && end.top > 0,
    );
  });

  it.runIf(has)("writes code inside its box while it grows", async () => {
    await tab.resize(1000, 800);
    await opens("/conversation/chat", "Enviar");
    const letGo = model.hold();
    const code = Array.from({ length: 9 }, (_, n) => `linea_${n} = ${n}`).join("\n");
    try {
      await tab.fill("Mensaje", says(`Mira:\n\n\`\`\`python\n${code}\n\`\`\`\n\nYa está.`));
      await tab.press("Enviar");
      const written = "[...document.querySelectorAll('.reader pre')].map((box) => box.innerText).join()";
      await becomes(
        () => tab.evaluate<string>(written),
        (text) => text.includes("linea_3 = 3"),
      );
    } finally {
      letGo();
    }
    await shows("Ya está.");
  });

  it.runIf(has)("leads back to the end once scrolled away", async () => {
    const chat = await chatOf("Una vuelta al final", 3);
    await tab.resize(600, 700);
    await opens(chat, "Regenerar");
    await tab.evaluate("document.querySelector('.reader').scrollBy(0, -600)");
    await becomes(place, (at) => at < 0);
    // Animated by the scrolling, which WebKit's driver does not see in its text.
    await becomes(
      () => tab.evaluate("getComputedStyle(document.querySelector('.to-end')).visibility"),
      (visibility) => visibility === "visible",
    );
    await tab.press("Ir al final");
    await becomes(
      async () => [(await box(".reader .prose p")).bottom, (await box(".composer")).top],
      ([end = 0, composer = 0]) => end <= composer,
    );
  });

  // Without a script the browser keeps the place of a scrolled element; WebKit keeps only the page's own.
  it.runIf(has && (javaScript || name === "Firefox"))("keeps the place on reload and on the way back", async () => {
    const chat = await chatOf("Un sitio que se guarda", 3);
    await tab.resize(600, 700);
    await opens(chat, "Regenerar");
    await tab.evaluate("document.querySelector('.reader').scrollBy(0, -500)");
    await becomes(place, (at) => at === -500);
    if (javaScript)
      await becomes(
        () => tab.evaluate("document.querySelector('.to-end').dataset.end"),
        (end) => end === "away",
      );
    await leaving(tab.reload);
    await becomes(place, (at) => at === -500);
    await opens("/conversation/project", "Crear proyecto");
    await tab.back();
    await becomes(place, (at) => at === -500);
  });

  it.runIf(has)("puts a found message below the bar, in the upper part", async () => {
    await chatOf("Un faro de señales en la costa", 5);
    for (const [width, tall] of [
      [1280, 800],
      [600, 800],
    ] as const) {
      await tab.resize(width, tall);
      await opens("/conversation/chat?q=faro", "de «faro»");
      await tab.evaluate(`document.querySelector('main a[href*="?mensaje="]').click()`);
      await becomes(
        async () => [(await box("[data-found] .said")).top, await height()],
        ([top = 0, height = 0]) => top > 44 && top < height * 0.6,
      );
    }
  });
});
