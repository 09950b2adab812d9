import type { LLMock } from "@copilotkit/aimock";
import { test as base, expect, type Page } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { freePort, startPair, startServer, type TestServer } from "../support/server.ts";

type Worker = { models: LLMock; mails: MailServer; server: TestServer & { adminEmail: string } };
type Each = { person: { email: string }; problems: string[] };

/** A server of its own for each worker, with models of both kinds; each test signs up somebody new. */
export const test = base.extend<Each, Worker>({
  models: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
    async ({}, use) => {
      const models = await startModelServer();
      await use(models);
      await models.stop();
    },
    { scope: "worker" },
  ],
  mails: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
    async ({}, use) => {
      const mails = await startMailServer();
      await use(mails);
      await mails.stop();
    },
    { scope: "worker" },
  ],
  server: [
    async ({ models, mails }, use) => {
      const port = await freePort();
      // The same suite for both shapes that an installation may have: `npm run test:largo`.
      const start = process.env.TEST_PAIR ? startPair : startServer;
      const server = await start({
        PORT: String(port),
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        SMTP_URL: mails.url,
        MAIL_TO: "casa@ejemplo.es",
        OPENAI_BASE_URL: `${models.url}/v1`,
        OPENAI_API_KEY: "clave",
        ANTHROPIC_BASE_URL: `${models.url}/v1`,
        ANTHROPIC_API_KEY: "clave",
      });
      // The first account is the admin, and the last admin can't leave; each test's person is somebody like any other.
      const adminEmail = await new Browser(server.url).signUp("Admin");
      await use({ ...server, adminEmail });
      await server.stop();
    },
    { scope: "worker" },
  ],
  baseURL: ({ server }, use) => use(server.url),
  /** Problems of the page behind the test's back: errors, refused requests, warnings of the policy. */
  problems: [
    async ({ page, javaScriptEnabled }, use) => {
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
      await use(problems);
      // Chromium reports each script that scripting off keeps out.
      if (javaScriptEnabled)
        expect(
          problems.filter((text) => !/status of (401|403|404|409|422|429)|ERR_INTERNET_DISCONNECTED/.test(text)),
        ).toEqual([]);
    },
    { auto: true },
  ],
  /** Somebody who has just signed up. The form itself is tried by the main flow; here its request is enough, and much faster. */
  person: async ({ page, server }, use) => {
    const browser = new Browser(server.url);
    const email = await browser.signUp("Ana Gil");
    await page.context().addCookies([...browser.cookies].map(([name, value]) => ({ name, value, url: server.url })));
    await page.goto("/user");
    await use({ email });
  },
});

/** Signs in as the installation's admin. */
export async function signInAsAdmin(page: Page, email: string): Promise<void> {
  await page.goto("/auth/signin");
  await page.getByLabel("Correo electrónico").fill(email);
  await page.getByLabel("Contraseña").fill(password);
  await page.getByRole("button", { name: "Iniciar sesión" }).click();
  await page.waitForURL("**/user");
}

export { expect };

/** Writes a message in the composer of the page and sends it. */
export async function say(page: Page, content: string): Promise<void> {
  await page.getByLabel("Mensaje", { exact: true }).fill(content);
  // Without a script the answer is the page that streams: it is there long before it has loaded.
  await page.getByRole("button", { name: "Enviar" }).click({ noWaitAfter: true });
}

/** Opens a new conversation, with the model of that name where one is given, and sends its first message. */
export async function begin(page: Page, content: string, model?: string): Promise<void> {
  await page.goto("/conversation/chat");
  if (model) await page.getByLabel("Modelo").selectOption({ label: model });
  await say(page, content);
}

export const lastReply = (page: Page) => page.locator('article[data-role="assistant"]').last();

/** The text of the last reply keeps growing: seen three times, each longer than before. */
export async function expectGrowing(page: Page): Promise<void> {
  let before = 0;
  for (let step = 0; step < 3; step++) {
    await expect
      .poll(async () => (await lastReply(page).innerText()).length, { intervals: [20] })
      .toBeGreaterThan(before + 10);
    before = (await lastReply(page).innerText()).length;
  }
}

/** React has taken over the page that the server sent. */
export async function hydrated(page: Page): Promise<void> {
  await page.waitForFunction(() => Object.keys(document.body).some((key) => key.startsWith("__reactProps")));
}

/** Keeps a page from hearing of what happens elsewhere: the connection is never answered. */
export const withoutRealtime = (page: Page) => page.routeWebSocket(/\/engine\.io\//, () => {});
