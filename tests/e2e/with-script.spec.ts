import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { longReply } from "../support/model-server.ts";
import { begin, expect, hydrated, lastReply, say, test } from "./fixtures.ts";

test.describe("what a script adds", () => {
  test("Enter sends, Shift+Enter breaks the line, without a page load", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Charla de prueba");
    await page.evaluate(() => Object.assign(window, { same: true }));
    const field = page.getByLabel("Mensaje", { exact: true });
    await field.click();
    await page.keyboard.type("Primera línea");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("segunda línea");
    await page.keyboard.press("Enter");
    await expect(page.locator('article[data-role="user"]').last()).toHaveText(/Primera línea\nsegunda línea/);
    await expect(field).toHaveValue("");
    await expect(field).toBeFocused();
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    expect(await page.evaluate(() => "same" in window)).toBe(true);
  });

  test("a file that is sent by a form says how much has arrived", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await page.goto("/conversation/chat/importar");
    await hydrated(page);
    // On a fast line it is said for a moment only.
    await page.evaluate(() => {
      const seen: string[] = Object.assign(window, { seen: [] }).seen;
      const look = () => seen.push(document.querySelector(".busy")?.textContent ?? "");
      new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });
    });
    const file = { name: "conversations.json", mimeType: "application/json", buffer: Buffer.alloc(30_000_000, " ") };
    await page.getByLabel("Archivo de la exportación").setInputFiles(file);
    await page.getByRole("button", { name: "Importar" }).click();
    await expect(page.getByRole("alert")).not.toBeEmpty();
    const seen = await page.evaluate(() => Object(window).seen as string[]);
    expect(seen.filter((words) => /^Subiendo: \d+ %$/.test(words))).not.toEqual([]);
  });

  test("attaches pasted and dropped files, and waits for unfinished uploads", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await page.goto("/conversation/chat");
    await hydrated(page);
    const give = (kind: "paste" | "drop", name: string) =>
      page.getByLabel("Mensaje", { exact: true }).evaluate(
        (field, [type, fileName]) => {
          const carried = new DataTransfer();
          carried.items.add(new File(["Apuntes"], fileName, { type: "text/plain" }));
          // macOS gives the name of a copied file as text.
          carried.setData("text/plain", fileName);
          const options = { bubbles: true, cancelable: true };
          field.dispatchEvent(
            type === "paste"
              ? new ClipboardEvent("paste", { ...options, clipboardData: carried })
              : new DragEvent("drop", { ...options, dataTransfer: carried }),
          );
        },
        [kind, name] as const,
      );
    const held = Promise.withResolvers<void>();
    await page.route("**/conversation/adjuntar", async (route) => {
      await held.promise;
      await route.continue();
    });
    await give("paste", "pegado.txt");
    await expect(page.getByRole("progressbar", { name: "Subiendo pegado.txt" })).toBeVisible();
    await say(page, "Con su archivo");
    held.resolve();
    await expect(page.locator('article[data-role="user"]').last()).toContainText("pegado.txt");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await give("drop", "soltado.txt");
    await expect(page.locator("#composer .attachment")).toContainText("soltado.txt");
  });

  test("attaches dropped files and names a dropped folder", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    const folder = mkdtempSync(join(tmpdir(), "carpeta-"));
    writeFileSync(join(folder, "acta.txt"), "El acta");
    await page.goto("/conversation/chat");
    await hydrated(page);
    const box = await page.getByLabel("Mensaje", { exact: true }).boundingBox();
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder, join(folder, "acta.txt")], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"] as const)
      await session.send("Input.dispatchDragEvent", { type, x: (box?.x ?? 0) + 9, y: (box?.y ?? 0) + 9, data });
    await expect(page.locator("#composer .attachment")).toContainText("acta.txt");
    await expect(page.locator("#composer")).toContainText(`«${basename(folder)}» es una carpeta, o un archivo que`);
    // Beside the composer a browser would leave the page to show the file.
    writeFileSync(join(folder, "anexo.txt"), "El anexo");
    const beside = { items: [], files: [join(folder, "anexo.txt")], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"] as const)
      await session.send("Input.dispatchDragEvent", { type, x: (box?.x ?? 0) + 9, y: 150, data: beside });
    await expect(page.locator("#composer .attachment")).toContainText(["acta.txt", "anexo.txt"]);
    rmSync(folder, { recursive: true });
  });

  test("says to load the page again when the module that uploads is of an older build", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await page.goto("/conversation/chat");
    await hydrated(page);
    await page.route("**/assets/upload-*.js", (route) =>
      route.fulfill({ status: 302, headers: { Location: "/stale.js" } }),
    );
    await page.getByLabel("Mensaje", { exact: true }).fill("Con lo escrito no se recarga sola");
    await page.locator("#composer input[type=file]").setInputFiles({
      name: "acta.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("El acta"),
    });
    await expect(page.locator("#composer")).toContainText("No se ha podido subir: recarga la página.");
    await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("Con lo escrito no se recarga sola");
  });

  test("what is being typed waits on the server", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await page.goto("/conversation/chat");
    const saved = page.waitForResponse((response) => response.url().includes("/conversation/draft"));
    await page.getByLabel("Mensaje", { exact: true }).fill("A medio escribir");
    await saved;
    await page.reload();
    await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("A medio escribir");
  });

  test("shows a reply's formatting while the reply is being written", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await say(page, "Una respuesta con formato");
    await expect(page.locator('[data-role="assistant"][data-status="streaming"] h3')).toHaveText("Un título");
    await expect(lastReply(page).locator("table")).toContainText("Pera");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await expect(lastReply(page).locator("math")).toBeVisible();
  });

  test("resumes a reply after a connection loss without repeating text", async ({ page, person, context }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await say(page, "Una respuesta lenta");
    await expect(lastReply(page)).toContainText("Frase número 5");
    await context.setOffline(true);
    await context.setOffline(false);
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
    const text = await lastReply(page).locator(".prose").innerText();
    expect(text.match(/Frase número \d+/g)).toHaveLength(40);
  });

  test("keeps a message that fails to send, showing an error", async ({ page, person, context }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await page.getByLabel("Mensaje", { exact: true }).fill("Sin conexión");
    await context.setOffline(true);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("alert")).toContainText("No se ha podido conectar con el servidor.");
    await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("Sin conexión");
    await context.setOffline(false);
    await page.getByRole("button", { name: "Enviar" }).click();
    await expect(page.locator('article[data-role="user"]').last()).toContainText("Sin conexión");
  });

  test("a page stays usable when later code fails to load", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await page.route(/attached-list-/, (route) => route.abort("internetdisconnected"));
    await page.goto("/conversation/chat");
    await page.getByLabel("Mensaje", { exact: true }).fill("Con un archivo");
    await page.getByLabel("Adjuntar archivos").setInputFiles({
      name: "nota.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("una nota"),
    });
    await expect(page.getByText("nota.txt")).toBeVisible();
    await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("Con un archivo");
    await page.getByRole("button", { name: "Enviar" }).click();
    await expect(page.locator('article[data-role="user"]').last()).toContainText("nota.txt");
  });

  test("light pages still hydrate where a page needs its script", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await page.goto("/paginas-ligeras");
    await page.getByRole("button", { name: "siempre" }).click();
    await expect(page.getByRole("button", { name: "siempre" })).toHaveAttribute("aria-pressed", "true");
    await page.goto("/user/seguridad/llaves/crear");
    await hydrated(page);
    // React would have rendered the document anew; what is wrong with a page fails each test.
    await expect(page.locator('link[rel="icon"]')).toHaveCount(1);
  });

  test("dialogs are modal, focus the first field, close by Escape", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await page.getByRole("button", { name: "Opciones de la conversación" }).click();
    await page.getByRole("link", { name: "Cambiar el título" }).click();
    await expect(page.locator("dialog:modal")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.locator("dialog")).toHaveCount(0);
    await page.goto("/conversation/project/crear");
    await expect(page.locator("dialog:modal").getByLabel("Nombre")).toBeFocused();
  });

  test("stores the dark colour mode in local storage", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await page.goto("/conversation/chat");
    await expect.poll(() => page.evaluate(() => localStorage.getItem("nuxt-color-mode"))).toBe("dark");
  });

  test("a deleted conversation can be taken back for ten seconds", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Que no se borre", "Asistente local");
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
    const chat = page.url();
    await page.clock.install();
    await page.reload();
    await hydrated(page);
    const remove = async () => {
      await page.getByRole("button", { name: "Opciones de la conversación" }).click();
      await page.getByRole("link", { name: "Eliminar" }).click();
      await expect(page.getByText("Conversación eliminada.")).toBeVisible();
      await expect(page.getByRole("navigation").getByRole("link", { name: "Que no se borre" })).toBeHidden();
    };
    await remove();
    await page.getByRole("button", { name: "Deshacer" }).click();
    await page.waitForURL(chat);
    await page.clock.runFor(1_000);
    await expect(page.getByText("Conversación eliminada.")).toHaveCount(0);
    await expect(page.getByRole("navigation").getByRole("link", { name: "Que no se borre" })).toBeVisible();
    await remove();
    const gone = page.waitForRequest(`${chat}/eliminar`);
    await page.clock.runFor(11_000);
    await (await gone).response();
    expect((await page.request.get(chat)).status()).toBe(404);
  });

  test("deletes a conversation even when its page reloads meanwhile", async ({ page, person }) => {
    expect(person.email).toBeTruthy();
    await begin(page, "Que se borre", "Asistente local");
    await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
    await page.reload();
    await hydrated(page);
    const held = Promise.withResolvers<void>();
    let asked = 0;
    await page.route(/\/conversation\/chat\.data/, async (route) => {
      asked++;
      await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Opciones de la conversación" }).click();
    await page.getByRole("link", { name: "Eliminar" }).click();
    await expect.poll(() => asked).toBeGreaterThan(0);
    // As a reply that ends at this moment, or news that comes before React has shown that somebody leaves.
    await page.evaluate(() => {
      const { __reactRouterDataRouter: router } = window as unknown as {
        __reactRouterDataRouter: { revalidate(): void };
      };
      router.revalidate();
    });
    held.resolve();
    await expect(page.getByText("Conversación eliminada.")).toBeVisible();
  });
});

test("announces a reply to screen readers in whole sentences, once", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await page.addInitScript(() => {
    const told: string[] = [];
    Object.assign(window, { told });
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        if ((target as HTMLElement).ariaLive !== "polite") continue;
        for (const node of addedNodes) if (node.textContent) told.push(node.textContent);
      }
    }).observe(document, { childList: true, subtree: true });
  });
  await begin(page, "Una respuesta lenta", "gpt-4o");
  await expect(lastReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  const told = await page.evaluate(() => (window as unknown as { told: string[] }).told);
  const sentences = told.filter((text) => text.startsWith("Frase"));
  expect(sentences.join(" ")).toBe(longReply);
  expect(sentences.length).toBeGreaterThan(10);
  for (const text of sentences) expect(text).toMatch(/\.$/);
});

test("keeps what is selected in a reply while it grows and when it ends", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await begin(page, "Una respuesta lenta", "gpt-4o");
  await expect(lastReply(page)).toContainText("Frase número 3");
  const selected = await page.evaluate(() => {
    const prose = document.querySelector(".live .prose:not(:empty)");
    const walker = document.createTreeWalker(prose ?? document.body, NodeFilter.SHOW_TEXT);
    const text = walker.nextNode();
    if (text) getSelection()?.setBaseAndExtent(text, 2, text, 14);
    return String(getSelection());
  });
  expect(selected).toHaveLength(12);
  await expect(lastReply(page)).toHaveAttribute("data-status", "complete", { timeout: 20_000 });
  await expect.poll(() => page.evaluate(() => String(getSelection()))).toBe(selected);
  expect(await page.evaluate(() => getSelection()?.anchorNode?.parentElement?.closest(".live"))).toBeFalsy();
});
