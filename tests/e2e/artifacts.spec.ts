import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test as base, expect } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { makes, startWritingModel } from "../support/writing-model.ts";

type House = { server: TestServer; models: Awaited<ReturnType<typeof startWritingModel>>; admin: Browser };

/** An installation with a model that writes artifacts. */
const test = base.extend<object, { house: House }>({
  house: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
    async ({}, use) => {
      const models = await startWritingModel();
      const server = await startServer();
      const admin = new Browser(server.url);
      await admin.signUp("Admin");
      const own = { provider: "openai-compatible", externalId: "x", baseUrl: models.url };
      await admin.change("/admin/model/crear", { name: "Escribano", ...own, usesTools: "true", isDefault: "true" });
      await use({ server, models, admin });
      await server.stop();
      models.stop();
    },
    { scope: "worker" },
  ],
  baseURL: ({ house }, use) => use(house.server.url),
});

test("an artifact grows beside its chat and can be edited", async ({ page, house: { server, models, admin } }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.context().addCookies([...admin.cookies].map(([name, value]) => ({ name, value, url: server.url })));
  const texto = "# Acta de la reunión\n\nSe acuerda pintar el portal.\n\nSe levanta la sesión a las nueve.";
  await page.goto("/conversation/chat");
  await page.locator("#mensaje").fill(makes("escribir", { titulo: "Acta", texto }));
  const letGo = models.hold();
  await page.getByRole("button", { name: "Enviar" }).click();
  const sheet = page.frameLocator("iframe");
  await expect(sheet.getByText("Se acuerda pintar")).toBeVisible();
  await expect(sheet.getByText("a las nueve")).toHaveCount(0);
  letGo();
  await expect(sheet.getByText("a las nueve")).toBeVisible();
  const talk = page.locator("#contenido");
  await expect(talk.getByText("Hecho.")).toBeVisible();

  // Below that width it is a link only.
  await page.setViewportSize({ width: 768, height: 900 });
  await expect(page.locator("iframe")).toBeHidden();
  await talk.getByRole("link", { name: "Acta" }).first().click();
  await expect(page.getByRole("heading", { name: "Acta", exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Editar" }).click();
  await page.getByRole("textbox", { name: "Texto" }).fill(texto.replace("nueve", "diez"));
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByText("Versión 2")).toBeVisible();

  await page.getByRole("link", { name: "Pedir un cambio", exact: true }).click();
  await page
    .locator(".passage", { hasText: "pintar el portal" })
    .getByRole("link", { name: /^Pedir un cambio aquí/ })
    .click();
  await page.getByRole("textbox").fill("Que sea el ascensor");
  await page.getByRole("button", { name: "Pedir" }).click();
  await expect(page.getByText("Que sea el ascensor")).toBeVisible();
  await expect(page.getByText("Se acuerda pintar el portal.").first()).toBeVisible();
});

test("isolates a written page; its scripts run only when allowed", async ({ page, house: { server, admin } }, {
  project,
}) => {
  const reached: string[] = [];
  const elsewhere = createServer((request, response) => {
    reached.push(request.url ?? "");
    response.end();
  }).listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  const other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  await page.context().addCookies([...admin.cookies].map(([name, value]) => ({ name, value, url: server.url })));
  const text = `<!doctype html><h1>Folleto</h1><p id="dice">quieto</p><img src="${other}/imagen" alt="">
    <form id="propio"><button>Añadir</button></form><form id="ajeno" action="${other}/formulario"></form>
    <script>
      const says = (text) => { document.getElementById("dice").textContent += " " + text; };
      says(document.cookie === "" ? "sin galletas" : "galletas");
      localStorage.setItem("pan", 2);
      localStorage.sal = 1;
      says(localStorage.getItem("pan") + localStorage.sal + localStorage.length + Object.keys(localStorage));
      document.getElementById("propio").addEventListener("submit", (event) => {
        event.preventDefault();
        says("añadido");
        document.getElementById("ajeno").submit();
      });
      propio.requestSubmit();
      says(document.compatMode);
      try { parent.document.title; says("padre"); } catch { says("sin padre"); }
      fetch("${other}/red").then(() => says("red"), () => says("sin red"));
    </script><a href="#" onclick="says('pulsado')">Botón</a><a href="${other}/enlace">Enlace</a>
    <button onclick="location = '${other}/lugar'">Fuera</button>`;
  const fields = { title: "Folleto", kind: "code", language: "html", text };
  const place = (await admin.change("/conversation/escrito/crear", fields)).headers.get("Location") ?? "";
  await page.goto(place);
  await page.getByRole("link", { name: "Ver como página" }).click();
  const frame = page.frameLocator("iframe.written-page");
  await expect(frame.getByRole("heading", { name: "Folleto" })).toBeVisible();
  await expect(frame.locator("#dice")).toHaveText("quieto");
  if (project.name === "js") {
    const refused = page.waitForEvent("console", (message) => message.text().includes("frame-src"));
    await page.getByRole("link", { name: "Permitir sus programas" }).click();
    await expect(frame.locator("#dice")).toHaveText(
      "quieto sin galletas 212pan,sal añadido CSS1Compat sin padre sin red",
    );
    await frame.getByRole("link", { name: "Botón" }).click();
    await expect(frame.locator("#dice")).toContainText("sin red pulsado");
    await expect(frame.locator("output")).toHaveCount(0);
    await frame.getByRole("link", { name: "Enlace" }).click();
    await expect(frame.getByText(`Desde aquí no se sale. El enlace lleva a ${other}/enlace`)).toBeVisible();
    await frame.getByRole("button", { name: "Fuera" }).click();
    await refused;
    await expect(page.getByRole("link", { name: "Quitar sus programas" })).toBeVisible();
  }
  expect(reached).toEqual([]);
  elsewhere.close();
});
