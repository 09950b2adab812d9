import { expect, test } from "./fixtures.ts";

test("creates and uses an assistant, and fills in a template", async ({ page, person, javaScriptEnabled }) => {
  expect(person.email).toContain("@");
  await page.goto("/conversation/assistant");
  await expect(page.getByText("Aún no hay ninguno.")).toBeVisible();
  await page.getByRole("link", { name: "Crear asistente" }).click();
  await page.getByLabel("Nombre").fill("Corrector de estilo");
  await page.getByLabel("Para qué es").fill("Deja los textos limpios.");
  await page.getByLabel("Instrucciones").fill("Corrige y di por qué.");
  await page.getByLabel("Comienzos").fill("Corrige esto: uno\nCorrige esto: dos\nTres\nCuatro\nCinco");
  await page.getByRole("button", { name: "Guardar" }).click();
  await expect(page.locator(".error").filter({ hasText: "Son 4 comienzos como mucho." }).first()).toBeVisible();
  await expect(page.getByLabel("Nombre")).toHaveValue("Corrector de estilo");
  await page.getByLabel("Comienzos").fill("Corrige esto: uno\nCorrige esto: dos");
  await page.getByRole("button", { name: "Guardar" }).click();

  await expect(page.getByRole("heading", { name: "Corrector de estilo", level: 1 })).toBeVisible();
  await page.getByRole("link", { name: "Corrige esto: uno" }).click();
  await expect(page.locator("#mensaje")).toHaveValue("Corrige esto: uno");
  const chosen = page.locator("#modelo option:checked");
  await expect(chosen).toHaveText("Corrector de estilo");
  await page.getByRole("button", { name: "Enviar" }).click();
  await expect(page.getByText("Una respuesta breve. Con dos frases.").first()).toBeVisible();
  await page.reload();
  await expect(chosen).toHaveText("Corrector de estilo");
  await page.getByRole("button", { name: "Más acciones" }).last().click();
  await page.getByRole("link", { name: "Qué se envió al modelo" }).last().click();
  await expect(page.getByText("Instrucciones del asistente «Corrector de estilo», versión 1")).toBeVisible();

  await page.goto("/conversation/template");
  await page.getByRole("link", { name: "Crear plantilla" }).click();
  await page.getByLabel("Título").fill("Carta");
  await page.getByLabel("Texto").fill("Escribe a {{nombre}} sobre {{tema}}, y saluda a {{nombre}}.");
  await page.getByRole("button", { name: "Guardar" }).click();
  await page.getByRole("link", { name: "Carta", exact: true }).click();
  await page.getByLabel("nombre").fill("Berta & Luis");
  await page.getByLabel("tema").fill("la <barca>");
  await page.getByRole("button", { name: "Ponerla en el mensaje" }).click();
  await expect(page.locator("#mensaje")).toHaveValue(
    "Escribe a Berta & Luis sobre la <barca>, y saluda a Berta & Luis.",
  );

  if (javaScriptEnabled) {
    await page.goto("/conversation/chat");
    await page.locator("#mensaje").fill("");
    await page.locator("#mensaje").press("/");
    await expect(page.getByRole("list", { name: "Plantillas" }).getByRole("button", { name: "Carta" })).toBeVisible();
    await page.locator("#mensaje").press("Enter");
    await expect(page.locator("#mensaje")).toHaveValue(/^Escribe a \{\{nombre\}\}/);
    await page.keyboard.type("Ana");
    await expect(page.locator("#mensaje")).toHaveValue(/^Escribe a Ana sobre/);
  }

  await page.goto("/conversation/assistant");
  await page.getByRole("link", { name: "Eliminar Corrector de estilo" }).click();
  await page.getByRole("button", { name: "Confirmar" }).click();
  await expect(page.getByText("Aún no hay ninguno.")).toBeVisible();
});
