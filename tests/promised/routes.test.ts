import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

type Layout = "default" | "dashboard";
type Access = "public" | "guest" | "auth" | "active" | "admin";

/** Every page, and whom it lets in. `id` stands for a chat or project of the person's. */
const routes: [path: string, layout: Layout, access: Access][] = [
  ["/", "default", "public"],
  ["/soporte", "default", "public"],
  ["/contacto", "default", "public"],
  ["/servicios", "default", "public"],
  ["/sobre-nosotros", "default", "public"],
  ["/auth/signin", "default", "guest"],
  ["/auth/signup", "default", "guest"],
  ["/user", "dashboard", "auth"],
  ["/user/file", "dashboard", "auth"],
  ["/user/datos", "dashboard", "auth"],
  ["/conversation/chat", "dashboard", "active"],
  ["/conversation/chat/id", "dashboard", "active"],
  ["/conversation/project", "dashboard", "active"],
  ["/conversation/project/id", "dashboard", "active"],
  ["/admin", "dashboard", "admin"],
  ...["chat", "page", "user", "model", "message", "project", "summary", "training", "subscription"].map(
    (resource): [string, Layout, Access] => [`/admin/${resource}`, "dashboard", "admin"],
  ),
];

let server: TestServer;
let admin: Browser;
let chat: string;
let project: string;
beforeAll(async () => {
  server = await startServer();
  admin = new Browser(server.url);
  await admin.signUp("Admin");
  chat = await admin.say("Hola");
  const page = "/conversation/project/crear";
  project = (await admin.submit(page, page, { name: "Tesis" })).headers.get("Location") ?? "";
});
afterAll(() => server.stop());

const real = (path: string) => path.replace("/conversation/chat/id", chat).replace("/conversation/project/id", project);

describe("routes", () => {
  it.each(routes)("%s stands in the %s layout", async (path, layout, access) => {
    const html = await (access === "guest" ? new Browser(server.url) : admin).html(real(path));
    expect(html.includes('aria-label="Conversaciones"')).toBe(layout === "dashboard");
  });

  it.each(routes)("%s (%s) lets in whom the %s rule lets in", async (path, _layout, access) => {
    const visitor = await new Browser(server.url).fetch(real(path));
    const person = await admin.fetch(real(path));
    if (access === "public") expect([visitor.status, person.status]).toEqual([200, 200]);
    else if (access === "guest") {
      expect([visitor.status, person.status]).toEqual([200, 302]);
      expect(person.headers.get("Location")).toBe("/user");
    } else {
      expect([visitor.status, person.status]).toEqual([302, 200]);
      expect(visitor.headers.get("Location")).toBe(`/auth/signin?volver=${encodeURIComponent(real(path))}`);
    }
  });

  it.each(routes.filter(([, , access]) => access === "admin"))("%s is not there for who is no admin", async (path) => {
    const person = new Browser(server.url);
    await person.signUp();
    expect((await person.fetch(path)).status).toBe(404);
  });
});

describe("ways", () => {
  it("lead to the account after sign-up, to sign-in after sign-out", async () => {
    const browser = new Browser(server.url);
    // signUp throws unless it ends on /user.
    await browser.signUp();
    const out = await browser.submit("/user", "/auth/signout", {});
    expect(out.headers.get("Location")).toBe("/auth/signin");
  });

  it("of an unknown path answer 404 «Page Not Found: {path}»", async () => {
    for (const path of ["/nada", "/nada/de/nada"]) {
      const answer = await admin.fetch(path);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain(`Page Not Found: ${path}`);
    }
  });

  it("of a failed refresh end on sign-in", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const elsewhere = new Browser(server.url);
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
    await elsewhere.submit("/user", "/auth/signout", {});
    const answer = await browser.fetch("/user");
    expect(answer.headers.get("Location")).toBe("/auth/signin?volver=%2Fuser");
    expect(await (await browser.follow(answer)).text()).toContain(
      "Session expirada, por favor inicia sesión nuevamente.",
    );
  });

  it("leave the sidebar open unless somebody folds it", async () => {
    expect(await admin.html("/user")).toContain('class="shell"');
  });
});
