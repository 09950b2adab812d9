import type { LLMock } from "@copilotkit/aimock";
import { test as base, expect } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { memoryProgram, startEverything, startScriptedModel, steps } from "../support/tool-servers.ts";
import { startWebServices } from "../support/web-services.ts";

type Tools = {
  model: LLMock;
  memory: ReturnType<typeof memoryProgram>;
  todo: string;
  server: TestServer;
  admin: Browser;
};

/** An installation with a server of tools and a program, and an admin whose model uses them. */
const test = base.extend<object, { tools: Tools }>({
  tools: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern
    async ({}, use) => {
      const [model, everything] = await Promise.all([startScriptedModel(), startEverything()]);
      const memory = memoryProgram();
      const web = await startWebServices();
      const server = await startServer({
        MCP_SERVERS: JSON.stringify({ memoria: memory.program }),
        SEARXNG_URL: web.url,
      });
      // The first account is the admin.
      const admin = new Browser(server.url);
      await admin.signUp("Admin");
      await use({ model, memory, todo: everything.url, server, admin });
      await server.stop();
      await Promise.all([model.stop(), everything.stop()]);
      memory.stop();
      web.stop();
    },
    { scope: "worker" },
  ],
  baseURL: ({ tools }, use) => use(tools.server.url),
});

test("shows the web search's query, results and cited sources", async ({ page, tools: { server } }) => {
  const browser = new Browser(server.url);
  await browser.signUp("Ana");
  await page.context().addCookies([...browser.cookies].map(([name, value]) => ({ name, value, url: server.url })));
  await page.goto("/conversation/chat");
  await page.locator("#modelo").selectOption({ label: "Asistente local" });
  await page.locator("#mensaje").fill("Busca en la web: precio del pan");
  await page.getByRole("button", { name: "Enviar" }).click();
  const talk = page.locator("#contenido");
  await expect(talk.getByText("Buscar en la web: «precio del pan»")).toBeVisible();
  await expect(talk.getByText("Esto es lo que ha encontrado el buscador:")).toBeVisible();
  await talk.getByText("Resultado").click();
  await expect(talk.locator("pre", { hasText: "A 1,20 la barra" })).toBeVisible();
  const source = talk.getByRole("complementary").getByRole("link", { name: "El pan, hoy (pan.example)" });
  await expect(source).toHaveAttribute("href", "https://pan.example/hoy");
  await expect(source).toHaveAttribute("rel", "noopener noreferrer nofollow");
  await expect(talk.locator('a.ref[aria-label="Fuente 1"]')).toBeVisible();
  // A place that nobody may be led to is no source.
  await expect(talk.getByText("Trampa")).toHaveCount(0);
});

const entity = (name: string) => ({ entities: [{ name, entityType: "cosa", observations: ["una"] }] });

test("an administrator adds a tool server, whose calls need approval", async ({ page, tools, javaScriptEnabled }) => {
  const { server, model, memory, todo, admin } = tools;
  await page.context().addCookies([...admin.cookies].map(([name, value]) => ({ name, value, url: server.url })));

  await page.goto("/admin/tool");
  await page.getByRole("link", { name: "Crear", exact: true }).click();
  await page.getByRole("textbox", { name: "Nombre" }).fill("todo");
  await page.getByRole("textbox", { name: "Dirección" }).fill(todo);
  await page.getByRole("button", { name: "Guardar" }).click();
  await page.getByRole("link", { name: "todo", exact: true }).click();
  await expect(page.getByRole("row", { name: /Echo Tool/ })).toContainText("Solo lee");
  await expect(page.getByLabel("Cómo se usa Echo Tool")).toHaveValue("free");

  await page.goto("/admin/tool");
  await page.getByRole("link", { name: "memoria", exact: true }).click();
  await page.getByRole("button", { name: "Preguntarle" }).click();
  await expect(page.getByLabel("Cómo se usa Create Entities")).toHaveValue("ask");

  await page.goto("/admin/model/crear");
  await page.getByRole("textbox", { name: "Nombre" }).fill("Con herramientas");
  await page.getByRole("textbox", { name: "Identificador del proveedor" }).fill("x");
  await page.getByRole("textbox", { name: "Dirección" }).fill(`${model.url}/v1`);
  await page.getByRole("checkbox", { name: "Predeterminado" }).first().check();
  await expect(page.getByRole("checkbox", { name: "Usa herramientas" })).toBeChecked();
  await page.getByRole("button", { name: "Guardar" }).click();

  await expect(page.getByRole("link", { name: "Con herramientas", exact: true })).toBeVisible();

  await page.goto("/conversation/chat");
  const echo = { name: "todo_echo", input: { message: "hola, Eco" } };
  const write = { name: "memoria_create_entities", input: entity("Pan") };
  await page.locator("#mensaje").fill(steps([[echo], [write]], "Está **apuntado**."));
  await page.getByRole("button", { name: "Enviar" }).click();
  const talk = page.locator("#contenido");
  await expect(talk.getByText("Echo Tool (todo): «hola, Eco»")).toBeVisible();

  const asked = page.getByRole("form", { name: "¿Permitir «Create Entities» en memoria?" });
  await expect(asked).toContainText("name: Pan");
  await talk.getByText("Resultado").first().click();
  await expect(talk.getByText("Echo: hola, Eco")).toBeVisible();
  expect(memory.written()).toEqual([]);
  // Nothing holds it: another page, another time.
  const chat = page.url();
  await page.goto("/user");
  await page.goto(chat);
  await asked.getByRole("button", { name: "Permitir una vez" }).click();
  await expect(talk.locator("strong", { hasText: "apuntado" })).toBeVisible();
  expect(memory.written()).toHaveLength(1);
  await expect(asked).toHaveCount(0);

  // Of two calls at once, deciding about one leaves what is typed about the other.
  const both = ["Vino", "Queso"].map((name) => ({ name: "memoria_create_entities", input: entity(name) }));
  await page.locator("#mensaje").fill(steps([both], "Las dos."));
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(asked).toHaveCount(2);
  if (javaScriptEnabled) await asked.last().getByLabel("No permitir, porque…").fill("Ya está");
  await asked.first().getByRole("button", { name: "Permitir una vez" }).click();
  await expect(asked).toHaveCount(1);
  if (javaScriptEnabled) await expect(asked.getByLabel("No permitir, porque…")).toHaveValue("Ya está");
  await asked.getByRole("button", { name: "No permitir" }).click();
  await expect(talk.getByText("Las dos.", { exact: true })).toBeVisible();
  await expect.poll(() => memory.written()).toHaveLength(2);

  // The form shows the typed text again after an error.
  const sum = { name: "todo_get-sum", input: { a: 1, b: 2 } };
  await page.locator("#mensaje").fill(steps([[sum]], "Van {resultado}"));
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(talk.getByText("The sum of 1 and 2 is 3").last()).toBeVisible();
  await page.goto("/admin/tool");
  await page.getByRole("link", { name: "todo", exact: true }).click();
  await page.getByLabel("Cómo se usa Get Sum Tool").selectOption("ask");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(page.getByText("Guardado.")).toBeVisible();
  await page.goto("/conversation/chat");
  await page.locator("#mensaje").fill(steps([[sum]], "Van {resultado}"));
  await page.getByRole("button", { name: "Enviar" }).click();
  await page.getByLabel("a", { exact: true }).fill("cuatro");
  await page.getByRole("button", { name: "Permitir una vez" }).click();
  await expect(page.getByText("«a» tiene que ser un número.")).toBeVisible();
  await expect(page.getByLabel("a", { exact: true })).toHaveValue("cuatro");
  await page.getByLabel("a", { exact: true }).fill("40");
  await page.getByRole("button", { name: "Permitir una vez" }).click();
  await expect(talk.getByText("The sum of 40 and 2 is 42").last()).toBeVisible();
  await expect(talk.getByText("(lo has cambiado)")).toBeVisible();

  await page.locator("#mensaje").fill(steps([[sum]], "Oído: {resultado}"));
  await page.getByRole("button", { name: "Enviar" }).click();
  await page.getByLabel("No permitir, porque…").fill("hoy no");
  await page.getByRole("button", { name: "No permitir" }).click();
  await expect(talk.getByText(/Oído: .*Dice: «hoy no»/)).toBeVisible();
});
