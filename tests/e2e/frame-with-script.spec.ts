import { AxeBuilder } from "@axe-core/playwright";
import type { Page, Route } from "@playwright/test";
import { password } from "../support/password.ts";
import { begin, expect, hydrated, lastReply, test, withoutRealtime } from "./fixtures.ts";

/** From here on time goes only as far as it is told to. */
async function stopTime(page: Page) {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1000);
}

/** Holds the requests that match until they are let go, and counts them. */
async function hold(page: Page, matches: RegExp, method = "GET") {
  const held: Route[] = [];
  let open = false;
  await page.route(matches, (route) => {
    if (open || route.request().method() !== method) return route.continue();
    held.push(route);
  });
  return {
    held,
    async release() {
      open = true;
      await Promise.all(held.splice(0).map((route) => route.continue()));
    },
  };
}

test.beforeEach(async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  await hydrated(page);
});

test.describe("dialogs", () => {
  test("close one by one with Escape and restore the focus", async ({ page, person, context }) => {
    await page.goto("/user/seguridad");
    await hydrated(page);
    const opener = page.getByRole("link", { name: "Cambiar contraseña" });
    await opener.click();
    const form = page.getByRole("dialog", { name: "Cambiar contraseña" });
    await form.getByLabel("Contraseña actual").fill(password);
    await form.getByLabel("Contraseña nueva").fill("otra frase bien larga");
    await context.clearCookies();
    await form.getByRole("button", { name: "Guardar" }).click();
    const signIn = page.getByRole("dialog", { name: "Iniciar sesión" });
    await expect(signIn).toBeVisible();
    await expect(page.locator("dialog:modal")).toHaveCount(2);
    await page.keyboard.press("Escape");
    await expect(signIn).toHaveCount(0);
    await expect(form).toBeVisible();
    await expect(form.getByLabel("Contraseña nueva")).toHaveValue("otra frase bien larga");
    await form.getByRole("button", { name: "Guardar" }).click();
    await signIn.getByLabel("Correo electrónico").fill(person.email);
    await signIn.getByLabel("Contraseña").fill(password);
    await page.keyboard.press("Enter");
    await expect(page.locator("dialog")).toHaveCount(0);
    await expect(page.getByText("Contraseña cambiada.")).toBeVisible();
    await expect(opener).toBeFocused();
  });

  test("freeze the page and put it back where it was", async ({ page }) => {
    await page.setViewportSize({ width: 800, height: 300 });
    await page.goto("/user/datos");
    await hydrated(page);
    await page.getByRole("link", { name: "Eliminar mi cuenta" }).scrollIntoViewIfNeeded();
    const before = await page.evaluate(() => scrollY);
    expect(before).toBeGreaterThan(200);
    await page.getByRole("link", { name: "Eliminar mi cuenta" }).click();
    await expect(page.locator("dialog:modal")).toBeVisible();
    expect(await page.evaluate(() => localStorage.getItem("tertulia-scroll"))).toBe(String(before));
    await page.mouse.wheel(0, -400);
    await page.keyboard.press("Escape");
    await expect(page.locator("dialog")).toHaveCount(0);
    expect(await page.evaluate(() => scrollY)).toBe(before);
  });

  test("Enter confirms an alert, and submits a form from anywhere", async ({ page }) => {
    await page.goto("/user/seguridad/contrasena");
    await expect(page.locator("dialog:modal")).toBeVisible();
    await page.getByRole("heading", { name: "Cambiar contraseña" }).click();
    await page.locator("dialog").evaluate((dialog) => {
      dialog.tabIndex = -1;
      dialog.focus();
    });
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog").getByRole("alert")).toContainText("Falta rellenar «Contraseña actual».");

    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await page.goto(`${page.url()}/eliminar`);
    await expect(page.locator("dialog:modal")).toBeVisible();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/conversation/chat");
    await expect(page.getByRole("region", { name: "Avisos" })).toContainText("Conversación eliminada.");
  });
});

test("what one person has written is never sent as another's", async ({ page, context, browser, baseURL }) => {
  const other = await (await browser.newContext({ baseURL })).newPage();
  await other.goto("/auth/signup");
  await other.getByLabel("Nombre").fill("Berta");
  const email = `berta-${crypto.randomUUID()}@ejemplo.es`;
  await other.getByLabel("Correo electrónico").fill(email);
  await other.getByLabel("Contraseña").fill(password);
  await other.getByRole("button", { name: "Crear cuenta" }).click();
  await other.waitForURL("**/user");
  await page.getByLabel("Nombre").fill("Solo de Ana");
  // Somebody else has signed in meanwhile, in another tab of this browser.
  await context.clearCookies();
  await context.addCookies(await other.context().cookies());
  await page.getByRole("button", { name: "Guardar perfil" }).click();
  await expect(page.getByRole("alertdialog", { name: "Has entrado con otra cuenta" })).toBeVisible();
  await other.reload();
  await expect(other.getByLabel("Nombre")).toHaveValue("Berta");
  await page.keyboard.press("Escape");
  await expect(page.getByLabel("Nombre")).toHaveValue("Solo de Ana");
  await other.context().close();
});

test("the way back leads past dialogs, not into them", async ({ page }) => {
  await page.getByRole("navigation").getByRole("link", { name: "Nueva conversación" }).click();
  await page.waitForURL("**/conversation/chat");
  await page.getByRole("button", { name: "Ana Gil" }).click();
  await page.getByRole("link", { name: "Tu cuenta" }).click();
  await page.waitForURL("**/user");
  await page.getByRole("link", { name: "Seguridad" }).click();
  await page.getByRole("link", { name: "Cambiar contraseña" }).click();
  await expect(page.locator("dialog:modal")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator("dialog")).toHaveCount(0);
  await page.goBack();
  await expect(page.locator("dialog")).toHaveCount(0);
});

test("closes a toast above a dialog without closing the dialog", async ({ page }) => {
  await page.getByRole("button", { name: "Guardar perfil" }).click();
  await expect(page.getByText("Perfil guardado.")).toBeVisible();
  await page.getByRole("link", { name: "Seguridad" }).click();
  await page.getByRole("link", { name: "Cambiar contraseña" }).click();
  await expect(page.locator("dialog:modal")).toBeVisible();
  const cross = await page.locator(".toast button").boundingBox();
  await page.mouse.click((cross?.x ?? 0) + 8, (cross?.y ?? 0) + 8);
  await expect(page.locator(".toast")).toHaveCount(0);
  await expect(page.locator("dialog:modal")).toBeVisible();
});

test("keeps a message to a deleted chat in the composer", async ({ page }) => {
  await withoutRealtime(page);
  await begin(page, "Hola", "gpt-4o");
  await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
  const other = await page.context().newPage();
  await other.goto(`${page.url()}/eliminar`);
  await other.getByRole("button", { name: "Confirmar" }).click();
  await other.waitForURL("**/conversation/chat");
  await page.getByLabel("Mensaje", { exact: true }).fill("Esto no se pierde");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Esa conversación ya no existe.")).toBeVisible();
  await expect(page.getByLabel("Mensaje", { exact: true })).toHaveValue("Esto no se pierde");
});

test.describe("toasts", () => {
  const toast = (page: Page) => page.locator(".toast");
  const left = (page: Page) =>
    page.locator(".toast .left").evaluate((bar) => Number((bar as HTMLElement).style.scale.split(" ")[0] || 1));

  async function show(page: Page) {
    await stopTime(page);
    await page.getByRole("button", { name: "Guardar perfil" }).click();
    await expect(toast(page)).toContainText("Perfil guardado.");
    await page.mouse.move(0, 0);
  }

  test("count down for 5 s and leave in 300 ms", async ({ page }) => {
    await show(page);
    expect(await page.locator(".toast .left").evaluate((bar) => (bar as HTMLElement).offsetHeight)).toBe(4);
    const [before] = [await left(page)];
    await page.clock.runFor(1000);
    expect(before - (await left(page))).toBeCloseTo(0.2, 1);
    await page.clock.runFor(4000);
    await expect(toast(page)).toHaveAttribute("data-leaving", "true");
    await page.clock.runFor(300);
    await expect(toast(page)).toHaveCount(0);
  });

  test("pause while hovered or focused, then continue", async ({ page }) => {
    await show(page);
    await page.clock.runFor(1000);
    await toast(page).hover();
    const stopped = await left(page);
    await page.clock.runFor(20_000);
    expect(await left(page)).toBe(stopped);
    await page.mouse.move(0, 0);
    await page.clock.runFor(1000);
    expect(await left(page)).toBeLessThan(stopped);
    await page.getByRole("button", { name: "Cerrar aviso" }).focus();
    const again = await left(page);
    await page.clock.runFor(20_000);
    expect(await left(page)).toBe(again);
    await page.keyboard.press("Enter");
    await page.clock.runFor(300);
    await expect(toast(page)).toHaveCount(0);
  });

  test("of something that failed stay, and interrupt whoever listens", async ({ page }) => {
    await withoutRealtime(page);
    await begin(page, "Hola", "gpt-4o");
    const again = lastReply(page).getByRole("button", { name: "Regenerar" });
    await expect(again).toBeVisible();
    // Somebody else has begun another reply meanwhile.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByLabel("Mensaje", { exact: true }).fill("Una respuesta lenta");
    await other.keyboard.press("Enter");
    await expect(lastReply(other)).toHaveAttribute("data-status", "streaming");
    await again.click();
    const failed = page.locator('[aria-live="assertive"] .toast');
    await expect(failed).toBeVisible();
    await expect(failed.locator(".left")).toHaveCount(0);
  });
});

test.describe("while something is on its way", () => {
  test("a bar appears after 200 ms and fades when done", async ({ page }) => {
    const bar = page.locator(".loading-bar");
    const answers = await hold(page, /chat\.data/);
    await expect(bar).toHaveCSS("opacity", "0");
    await page.getByRole("link", { name: "Nueva conversación" }).first().click();
    await expect.poll(() => answers.held.length).toBeGreaterThan(0);
    await expect(bar).toHaveCSS("opacity", "1");
    const timing = () =>
      bar.evaluate((element) => {
        const { transitionDelay, transitionDuration, animationDelay, animationDuration } = getComputedStyle(element);
        return { shown: [transitionDelay, transitionDuration], grown: [animationDelay, animationDuration] };
      });
    expect(await timing()).toEqual({ shown: ["0.2s", "0s"], grown: ["0.2s", "2s"] });
    await expect.poll(() => bar.evaluate((element) => Number(getComputedStyle(element).scale.split(" ")[0]))).toBe(0.9);
    await answers.release();
    await expect(bar).not.toHaveAttribute("data-loading");
    expect((await timing()).shown).toEqual(["0.5s", "0.4s"]);
    await expect(bar).toHaveCSS("scale", "none");
    await expect(bar).toHaveCSS("opacity", "0");
  });

  test("a form covers the page, and nobody leaves by mistake", async ({ page }) => {
    await page.goto("/conversation/chat");
    await page.getByRole("button", { name: "Ana Gil" }).click();
    await page.getByRole("link", { name: "Tu cuenta" }).click();
    await page.waitForURL("**/user");
    const answers = await hold(page, /user\.data/, "POST");
    await page.getByRole("button", { name: "Guardar perfil" }).click();
    await expect(page.getByText("Un momento…")).toBeVisible();
    const said: string[] = [];
    page.on("dialog", (dialog) => {
      said.push(dialog.message());
      void dialog.accept();
    });
    await page.evaluate(() => history.back());
    await expect.poll(() => said).toEqual(["No puedes salir mientras esta procesando."]);
    await expect(page).toHaveURL(/\/user$/);
    const stays = await page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    expect(stays).toBe(true);
    await answers.release();
    await expect(page.getByText("Perfil guardado.")).toBeVisible();
    await expect(page.getByText("Un momento…")).toBeHidden();
    expect(await page.evaluate(() => dispatchEvent(new Event("beforeunload", { cancelable: true })))).toBe(true);
    await page.evaluate(() => history.back());
    await page.waitForURL("**/conversation/chat");
  });

  test("a message covers nothing", async ({ page }) => {
    await page.goto("/conversation/chat");
    const answers = await hold(page, /chat\.data/, "POST");
    await stopTime(page);
    await page.getByLabel("Mensaje", { exact: true }).fill("Hola");
    await page.keyboard.press("Enter");
    await expect.poll(() => answers.held.length).toBe(1);
    await page.clock.runFor(1000);
    await expect(page.getByText("Un momento…")).toBeHidden();
    await answers.release();
    await expect(lastReply(page)).toBeVisible();
  });
});

test.describe("forms", () => {
  test("with something to mend are as accessible as before", async ({ page }) => {
    await page.getByLabel("Nombre").fill("");
    await page.getByLabel("Correo electrónico").fill("x");
    await page.getByRole("button", { name: "Guardar perfil" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
  });

  test("show field errors on leaving, and all errors on sending", async ({ page }) => {
    const email = page.getByLabel("Correo electrónico");
    await email.fill("");
    await email.pressSequentially("ana@");
    await expect(page.getByText("El correo electrónico no está completo.")).toHaveCount(0);
    await page.getByLabel("Nombre").focus();
    await expect(page.getByText("El correo electrónico no está completo.")).toHaveCount(1);
    await email.fill("ana@ejemplo.es");
    await page.getByLabel("Nombre").focus();
    await expect(page.getByText("El correo electrónico no está completo.")).toHaveCount(0);

    await email.fill("");
    await page.getByLabel("Nombre").fill("");
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await page.getByRole("button", { name: "Guardar perfil" }).click();
    const summary = page.getByRole("alert");
    await expect(summary.getByRole("link")).toHaveText([
      "Falta rellenar «Nombre».",
      "Falta rellenar «Correo electrónico».",
    ]);
    await expect(page.locator(".summary")).toBeFocused();
    await expect(page.getByLabel("Nombre")).toHaveAttribute("aria-invalid", "true");
    await summary.getByRole("link").last().click();
    await expect(email).toBeFocused();
    expect(sent).toEqual([]);
  });

  test("keep typed input and show an error when offline", async ({ page, context }) => {
    await page.getByLabel("Nombre").fill("Sin conexión");
    await context.setOffline(true);
    await page.getByRole("button", { name: "Guardar perfil" }).click();
    await expect(page.getByRole("alert")).toContainText("No se ha podido conectar con el servidor.");
    await expect(page.getByLabel("Nombre")).toHaveValue("Sin conexión");
    await context.setOffline(false);
    await page.getByRole("button", { name: "Guardar perfil" }).click();
    await expect(page.getByText("Perfil guardado.")).toBeVisible();
  });
});

test("opens the realtime connection after its code failed to load", async ({ page, person }) => {
  expect(person.email).toBeTruthy();
  const lost = page.waitForEvent("requestfailed");
  await page.route("**/assets/socket-*.js", (route) => route.abort("internetdisconnected"));
  await page.reload();
  await lost;
  const told = page.waitForEvent("websocket");
  await page.unrouteAll();
  await told;
});

test.describe("pages seen", () => {
  const visit = async (page: Page, name: string, url: string) => {
    await page.getByRole("navigation").getByRole("link", { name }).click();
    await page.waitForURL(url);
  };

  test("show at once, refresh in background, expire after a change", async ({ page }) => {
    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Charla de prueba");
    await visit(page, "Nueva conversación", "**/conversation/chat");
    await page.clock.install();
    // Both have been seen by now; what was fetched a moment ago would not be fetched again.
    await visit(page, "Charla de prueba", "**/conversation/chat/*");
    await page.clock.setFixedTime(Date.now() + 60_000);
    const answers = await hold(page, /\.data/);
    await visit(page, "Nueva conversación", "**/conversation/chat");
    await expect(page.getByLabel("Mensaje", { exact: true })).toBeVisible();
    await expect.poll(() => answers.held.length).toBeGreaterThan(0);
    await answers.release();

    await visit(page, "Charla de prueba", "**/conversation/chat/*");
    await page.getByRole("button", { name: "Opciones de la conversación" }).click();
    await page.getByRole("button", { name: "Fijar" }).click();
    await expect(page.getByRole("navigation")).toContainText("Fijados");
    await page.unrouteAll();
    const again = await hold(page, /chat\.data/);
    await page.getByRole("navigation").getByRole("link", { name: "Nueva conversación" }).click();
    await expect.poll(() => again.held.length).toBeGreaterThan(0);
    await expect(page).toHaveURL(/\/conversation\/chat\/.+/);
    await again.release();
    await page.waitForURL("**/conversation/chat");
  });

  test("are not shown five minutes after their last use", async ({ page }) => {
    await visit(page, "Nueva conversación", "**/conversation/chat");
    await page.goto("/user");
    await page.clock.install();
    await visit(page, "Nueva conversación", "**/conversation/chat");
    await expect(page.getByLabel("Mensaje", { exact: true })).toBeVisible();
    // React says that the page was left after it has painted the next one.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    await page.clock.setFixedTime(Date.now() + 6 * 60_000);
    const answers = await hold(page, /user\.data/);
    await page.getByRole("button", { name: "Ana Gil" }).click();
    await page.getByRole("link", { name: "Tu cuenta" }).click();
    await expect.poll(() => answers.held.length).toBeGreaterThan(0);
    await expect(page).toHaveURL(/\/conversation\/chat$/);
    await answers.release();
    await page.waitForURL("**/user");
  });

  test("are prefetched on hover, four at a time, opening instantly", async ({ page }) => {
    // The title of the last conversation may be told at any moment, and everything fetched is forgotten then.
    await withoutRealtime(page);
    for (const text of ["Uno", "Dos", "Tres", "Cuatro", "Cinco", "Seis"]) {
      await begin(page, text, "Asistente local");
      await expect(lastReply(page).getByRole("button", { name: "Regenerar" })).toBeVisible();
    }
    await page.goto("/user");
    await hydrated(page);
    // However slow the machine is, what is fetched ahead is of this moment.
    await page.clock.setFixedTime(Date.now());
    const answers = await hold(page, /chat\/[^/]+\.data/);
    const answered = new Set<string>();
    page.on("response", (response) => response.url().includes(".data") && answered.add(response.url()));
    const links = page.getByRole("navigation").locator('a.item[href^="/conversation/chat/"]');
    await expect(links).toHaveCount(6);
    for (const link of await links.all()) await link.hover();
    await expect.poll(() => answers.held.length).toBe(4);
    const [first] = answers.held.splice(0, 1);
    if (!first) throw new Error("Nothing was asked for.");
    await first.continue();
    await expect.poll(() => answers.held.length).toBe(4);
    await answers.release();
    // The sixth is asked for when one of the others is here.
    await expect.poll(() => answered.size).toBe(6);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    // For half a minute after its reply, an open page waits for the title of its chat and then asks for its data anew.
    await hold(page, /conversation\/stream/);
    // The first answer has been read, since its place was taken by the fifth; the others may have come only in part.
    await links.and(page.locator(`[href="${new URL(first.request().url()).pathname.replace(".data", "")}"]`)).click();
    await page.waitForURL("**/conversation/chat/*");
    await expect(page.locator('article[data-role="user"]')).toBeVisible();
    expect(asked.filter((url) => url.includes(".data"))).toEqual([]);
  });

  test("on intent of somebody whose session has ended move nobody", async ({ page, context }) => {
    await withoutRealtime(page);
    await begin(page, "Hola", "gpt-4o");
    await expect(lastReply(page)).toHaveAttribute("data-status", "complete");
    await page.goto("/user");
    await context.clearCookies();
    const answered = page.waitForResponse((response) => response.url().includes(".data"));
    await page.getByRole("navigation").locator('a.item[href^="/conversation/chat/"]').first().hover();
    await answered;
    await expect(page).toHaveURL(/\/user$/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tu cuenta");
  });
});

test("an outdated page still navigates but discards no typed text", async ({ page }) => {
  await page.goto("/conversation/chat");
  const gone = (times: number) =>
    page.route(
      /assets\/user-[^/]+\.js$/,
      (route) =>
        route.continue({
          url: route
            .request()
            .url()
            .replace(/user-[^/]+\.js/, "gone-123.js"),
        }),
      { times },
    );
  const go = async () => {
    await page.getByRole("button", { name: "Ana Gil" }).click();
    await page.getByRole("link", { name: "Tu cuenta" }).click();
  };
  await gone(1);
  await go();
  await expect(page.getByRole("heading", { level: 1, name: "Tu cuenta" })).toBeVisible();
  await page.goto("/conversation/chat");
  await page.getByLabel("Mensaje", { exact: true }).fill("A medias");
  await gone(2);
  await go();
  await expect(page.getByText("Este sitio se ha actualizado mientras esta página estaba abierta.")).toBeVisible();
});

test("a new page starts at top; going back restores scrolling", async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 400 });
  await page.evaluate(() => scrollTo(0, 600));
  await page.getByRole("navigation").getByRole("link", { name: "Nueva conversación" }).click();
  await page.waitForURL("**/conversation/chat");
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
  await page.goBack();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(600);
});

test("announces the title of a page opened by a link", async ({ page }) => {
  await page.getByRole("navigation").getByRole("link", { name: "Proyectos" }).click();
  await expect(page.locator("body > p[aria-live=polite]")).toHaveText("Proyectos · Tertulia");
});

test("the width of the window is kept in a cookie", async ({ page, context }) => {
  const viewport = async () => (await context.cookies()).find(({ name }) => name === "viewport");
  await page.setViewportSize({ width: 1300, height: 600 });
  await expect.poll(async () => (await viewport())?.value).toBe("xl");
  await page.setViewportSize({ width: 700, height: 600 });
  await expect.poll(async () => (await viewport())?.value).toBe("sm");
  const cookie = await viewport();
  expect(cookie).toMatchObject({ path: "/", sameSite: "Strict", secure: true });
  expect((cookie?.expires ?? 0) - Date.now() / 1000).toBeGreaterThan(364 * 24 * 60 * 60);
});
