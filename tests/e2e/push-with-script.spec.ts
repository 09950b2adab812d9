import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@playwright/test";
import { Browser } from "../support/browser.ts";
import { freePort, startServer } from "../support/server.ts";

test.use({ serviceWorkers: "allow" });

/** Parts of the worker that the test replaces. */
type Scope = {
  asked: unknown[];
  registration: {
    showNotification(title: string, options: object): Promise<void>;
    pushManager: { getSubscription(): Promise<{ unsubscribe(): Promise<void> }> };
  };
  clients: { openWindow(path: string): Promise<null> };
};

// Chromium without Google's keys has no push service; the server's side of one is in tests/api/devices.test.ts.
const service = {
  endpoint: "https://avisos.example/1",
  p256dh: "BB4YUy_UdUwC8wQdnHXOszuD_9gax85P6ILMscmLxYlupGwxHE4v9A3ZajZT5uRURdMt_khuztdcepDGoYiBwKM",
  auth: "A".repeat(22),
};

test("notifies a device of a reply and opens its conversation", async ({ page, context }) => {
  const PORT = String(await freePort());
  const server = await startServer({ PORT });
  const browser = new Browser(server.url);
  await browser.signUp();
  await context.addCookies([...browser.cookies].map(([name, value]) => ({ name, value, url: server.url })));
  await context.addInitScript(({ endpoint, ...keys }) => {
    PushManager.prototype.subscribe = async () =>
      ({ toJSON: () => ({ endpoint, keys }) }) as unknown as PushSubscription;
  }, service);
  await page.goto(`${server.url}/user/avisos`);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);

  // The permission is denied, as by the person or by their browser.
  const news = page.getByRole("region", { name: "Respuestas que esperas" });
  await news.getByRole("button", { name: "Avisar en este dispositivo" }).click();
  await expect(news.getByRole("status")).toContainText("El navegador no deja que este sitio avise.");

  await context.grantPermissions(["notifications"], { origin: server.url });
  await news.getByRole("button", { name: "Avisar en este dispositivo" }).click();
  await expect(news).toContainText("En este dispositivo se avisa");
  const chat = await browser.say("Hola");

  // Without a desktop there is nothing that shows notices and windows: what the worker asks for is written down.
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await worker.evaluate(() => {
    const scope = globalThis as unknown as Scope;
    scope.asked = [];
    scope.registration.showNotification = async (title, options) => {
      scope.asked.push({ title, ...options });
    };
    scope.registration.pushManager.getSubscription = async () => ({
      unsubscribe: async () => void scope.asked.push("unsubscribed"),
    });
    scope.clients.openWindow = async (path) => {
      scope.asked.push(path);
      return null;
    };
  });
  const asked = () => worker.evaluate(() => (globalThis as unknown as Scope).asked);

  const devtools = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [first] }) => {
      if (first) resolve(first.registrationId);
    });
  });
  await devtools.send("ServiceWorker.enable");
  const registrationId = await registered;
  const notice = { to: "somebody", title: "«Hola»: la respuesta ya está", body: "Ya está.", path: chat, tag: "1" };
  const deliver = (data: string) =>
    devtools.send("ServiceWorker.deliverPushMessage", { origin: server.url, registrationId, data });
  await deliver(JSON.stringify(notice));
  const shown = {
    title: notice.title,
    body: notice.body,
    tag: "1",
    lang: "es",
    icon: "/marca/icono-grande",
    data: chat,
  };
  await expect.poll(asked).toEqual([shown]);

  const press = () =>
    worker.evaluate((path) => {
      const pressed = new Event("notificationclick");
      const notification = { data: path, close() {} };
      dispatchEvent(
        Object.assign(pressed, { notification, waitUntil: (done: Promise<unknown>) => done.catch(() => {}) }),
      );
    }, chat);
  await press();
  await expect.poll(asked).toEqual([shown, chat]);
  await page.goto(server.url + chat);
  await press();
  // It is open already. The answer of another call comes after what the press has asked for.
  await page.evaluate(() => fetch("/sin-conexion/pendientes"));
  expect(await asked()).toEqual([shown, chat]);

  // From here on the worker knows whose browser it is: of somebody else's replies it says nothing, nor of what it can't read.
  await expect
    .poll(() => page.evaluate(async () => (await (await fetch("/sin-conexion/copias")).json()).length))
    .toBe(1);
  await deliver(JSON.stringify(notice));
  await deliver("no es JSON");
  const neutral = { title: "Hay una respuesta nueva", body: "", tag: undefined, data: "/conversation/chat" };
  const told = { lang: "es", icon: "/marca/icono-grande", ...neutral };
  await expect.poll(asked).toEqual([shown, chat, told, told]);

  // The browser changes its address by itself: the server has the new one, and nothing is said of it.
  const devices = () => {
    const database = new DatabaseSync(join(server.dataDir, "tertulia.db"), { readOnly: true });
    const rows = database.prepare("select endpoint from devices").all();
    database.close();
    return rows.map(({ endpoint }) => endpoint);
  };
  const renew = (endpoint: string) =>
    worker.evaluate(
      async ({ endpoint, ...keys }) => {
        const changed = new Event("pushsubscriptionchange");
        const newSubscription = { toJSON: () => ({ endpoint, keys }) };
        let done: Promise<unknown> | undefined;
        const waitUntil = (work: Promise<unknown>) => {
          done = work;
        };
        dispatchEvent(Object.assign(changed, { newSubscription, waitUntil }));
        await done;
      },
      { ...service, endpoint },
    );
  expect(devices()).toEqual([service.endpoint]);
  await renew("https://avisos.example/2");
  expect(devices()).toEqual(["https://avisos.example/2"]);
  await page.goto(`${server.url}/user/avisos`);
  await expect(page.getByRole("region", { name: "Avisos", exact: true })).not.toContainText("se avisará");
  await news.getByRole("button", { name: "No avisar en este dispositivo" }).click();
  await expect(news.getByRole("button", { name: "Avisar en este dispositivo" })).toBeVisible();
  await renew("https://avisos.example/3");
  expect(devices()).toEqual([]);

  // Signing out takes the notices along, also those that a push service still has.
  await browser.submit("/user", "/auth/signout", {});
  await page.goto(`${server.url}/user`);
  await expect(page).toHaveURL(/\/auth\/signin/);
  await expect.poll(asked).toContain("unsubscribed");
  await server.stop();
});
