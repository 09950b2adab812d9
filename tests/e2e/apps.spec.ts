import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { test as base, expect } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { startScriptedModel, steps } from "../support/tool-servers.ts";

/** An installation with a server of tools that has a page, and an admin whose model uses it. */
const test = base.extend<object, { house: { server: TestServer; model: LLMock; admin: Browser } }>({
  house: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
    async ({}, use) => {
      const model = await startScriptedModel();
      const args = [join(import.meta.dirname, "..", "support", "app-server.ts")];
      const server = await startServer({
        MCP_SERVERS: JSON.stringify({ urna: { command: process.execPath, args } }),
      });
      const admin = new Browser(server.url);
      await admin.signUp("Admin");
      const own = { provider: "openai-compatible", externalId: "x", baseUrl: `${model.url}/v1` };
      await admin.change("/admin/model/crear", { name: "Con manos", ...own, usesTools: "true", isDefault: "true" });
      await use({ server, model, admin });
      await server.stop();
      await model.stop();
    },
    { scope: "worker" },
  ],
  baseURL: ({ house }, use) => use(house.server.url),
});

test("shows a tool's app sandboxed, or as text without script", async ({ page, house: { server, admin } }, {
  project,
}) => {
  const withScript = project.name === "js";
  await page.context().addCookies([...admin.cookies].map(([name, value]) => ({ name, value, url: server.url })));
  const chat = await admin.say(steps([[{ name: "urna_recuento", input: { asunto: "El frontón" } }]]));
  await expect
    .poll(async () => (await admin.html(chat)).includes("Abrir la aplicación"), { timeout: 20_000 })
    .toBe(true);
  await page.goto(chat);
  await page.getByRole("link", { name: "Abrir la aplicación" }).click();
  await expect(page.getByRole("heading", { name: "Recuento" })).toBeVisible();
  await expect(page.getByText("síes y")).toBeVisible();

  if (withScript) {
    const frame = page.frameLocator("iframe.app-frame");
    await expect(frame.getByText(/^Síes: \d+, noes: 1$/)).toBeVisible();
    await expect(frame.getByText("sin galletas, sin padre, sin red")).toBeVisible();
    const before = Number(/\d+/.exec(await frame.locator("#cuenta").innerText())?.[0]);
    page.once("dialog", (dialog) => dialog.dismiss());
    await frame.getByRole("button").click();
    await expect(frame.getByText("No: La persona no ha querido.")).toBeVisible();
    page.once("dialog", (dialog) => {
      expect(dialog.message()).toContain("quiere usar «votar»");
      return dialog.accept();
    });
    await frame.getByRole("button").click();
    await expect(frame.getByText(`Síes: ${before + 1}, noes: 1`)).toBeVisible();
  } else {
    await expect(page.locator("iframe")).toHaveCount(0);
  }

  await page.getByLabel("asunto").fill("El frontón otra vez");
  await page.getByRole("button", { name: "Usar" }).click();
  await expect(page.getByRole("heading", { name: "Lo que contesta ahora" })).toBeVisible();
  await expect(page.getByLabel("asunto")).toHaveValue("El frontón otra vez");
});
