import { AxeBuilder } from "@axe-core/playwright";
import { expect, signInAsAdmin, test } from "./fixtures.ts";

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 28"><path d="M0 0h120v28H0z" fill="#fff"/></svg>';

test("an administrator sets the site's name, colour and logo", async ({ page, server, javaScriptEnabled }) => {
  await signInAsAdmin(page, server.adminEmail);
  await page.goto("/admin");
  await page.getByRole("link", { name: "La casa" }).click();
  await expect(page.getByRole("heading", { name: "La casa", level: 1 })).toBeVisible();
  const name = page.getByLabel("Nombre", { exact: true });
  const color = page.getByLabel("Color del botón principal");
  const save = page.getByRole("button", { name: "Guardar", exact: true });
  await name.fill("Ayuntamiento de Ejemplo");
  await color.fill("#003876");
  await save.click();
  const refused = page.getByText("Ese color casi no se lee sobre el fondo").first();
  await expect(refused).toBeVisible();
  const nearest = /El más parecido que se lee es (#[0-9a-f]{6})/.exec((await refused.textContent()) ?? "")?.[1] ?? "";
  await color.fill(nearest);
  await save.click();
  try {
    await expect(page).toHaveTitle("La casa · Ayuntamiento de Ejemplo");
    const picture = page.locator("form", { has: page.locator('[name=picture][value="logo"]') });
    await picture
      .locator("[type=file]")
      .setInputFiles({ name: "logo.svg", mimeType: "image/svg+xml", buffer: Buffer.from(logo) });
    await picture.getByRole("button", { name: "Poner logotipo" }).click();
    await expect(page.getByRole("img", { name: "Logotipo de ahora" })).toBeVisible();
    await expect(page.locator(".sidebar .wordmark img")).toHaveAttribute("alt", "Ayuntamiento de Ejemplo");

    await page.goto("/admin/page/crear");
    const button = page.getByRole("dialog").getByRole("button", { name: "Guardar", exact: true }).last();
    const rgb = [1, 3, 5].map((at) => Number.parseInt(nearest.slice(at, at + 2), 16)).join(", ");
    await expect(button).toHaveCSS("background-color", `rgb(${rgb})`);
    for (const path of ["/admin/page/crear", "/conversation/chat", "/", "/auth/signin"]) {
      await page.goto(path);
      if (javaScriptEnabled) {
        const { violations } = await new AxeBuilder({ page }).withRules(["color-contrast", "image-alt"]).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      }
    }
    if (javaScriptEnabled) {
      await page.goto("/conversation/chat");
      await page.getByRole("link", { name: "Proyectos" }).click();
      await expect(page).toHaveTitle("Proyectos · Ayuntamiento de Ejemplo");
      await expect(
        page
          .getByRole("button", { name: "Crear" })
          .or(page.getByRole("link", { name: "Crear" }))
          .first(),
      ).toBeVisible();
    }
  } finally {
    // The server is shared with other tests.
    await page.goto("/admin/casa");
    const picture = page.locator("form", { has: page.locator('[name=picture][value="logo"]') });
    await picture.getByRole("button", { name: "Quitar logotipo" }).click();
    await expect(page.getByRole("img", { name: "Logotipo de ahora" })).toBeHidden();
    await name.fill("Tertulia");
    await color.fill("");
    await save.click();
    await expect(page).toHaveTitle("La casa · Tertulia");
  }
});
