import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

describe("guards", () => {
  it.each(["/user", "/conversation/chat", "/conversation/chat/nada?version=x"])(
    "send a visitor of %s to sign in and back",
    async (path) => {
      const answer = await new Browser(server.url).fetch(path);
      expect(answer.status).toBe(302);
      expect(answer.headers.get("Location")).toBe(`/auth/signin?volver=${encodeURIComponent(path)}`);
    },
  );

  it("send who has signed in away from sign-in and sign-up", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    for (const path of ["/auth/signin", "/auth/signup"]) {
      expect((await browser.fetch(path)).headers.get("Location")).toBe("/user");
    }
  });

  it("let links from e-mails arrive by reloading the page", async () => {
    const answer = await new Browser(server.url).fetch("/user", { headers: { "Sec-Fetch-Site": "cross-site" } });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('http-equiv="refresh" content="0"');
  });

  it("hide what is not there and what is another's alike", async () => {
    const [ana, bea] = [new Browser(server.url), new Browser(server.url)];
    await ana.signUp();
    const chat = await ana.say("Hola");
    await bea.signUp();
    for (const path of [
      chat,
      "/conversation/chat/nada",
      "/conversation/stream/nada",
      "/conversation/text/nada",
      `${chat}/descargar`,
      `${chat}/imprimir`,
      `${chat}/exportar`,
    ]) {
      expect((await bea.fetch(path)).status).toBe(404);
    }
    expect((await bea.fetch(`${chat}.data`)).status).toBe(404);
    const missing = await bea.fetch("/no/existe");
    expect(missing.status).toBe(404);
    expect(readable(await missing.text())).toContain("Page Not Found: /no/existe");
  });
});

it.each([
  ["of this site, from behind a proxy that forbids referrers", "same-origin", 302],
  ["of another site", "cross-site", 403],
  ["of nobody knows where", "", 403],
])("a form %s without an origin answers as it should", async (_from, site, status) => {
  const browser = new Browser(server.url);
  const fields = { name: "Ana", email: `${crypto.randomUUID()}@ejemplo.es`, password };
  const headers = { Origin: "null", ...(site && { "Sec-Fetch-Site": site }) };
  expect((await browser.submit("/auth/signup", "/auth/signup", fields, headers)).status).toBe(status);
});

it.each(["{", "null", '{"id":7}', '{"id":"x"}', '{"id":"x","response":{"clientDataJSON":"!"}}'])(
  "refuses %s in place of what a passkey signs",
  async (response) => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const path = "/user/seguridad/llaves/crear";
    const made = await browser.submit(path, path, { name: "Móvil", currentPassword: password, ticket: "x", response });
    expect(made.status).toBe(422);
    const visitor = new Browser(server.url);
    const form = hiddenFields(await visitor.html("/auth/signin"), "/auth/signin");
    const entered = await visitor.post("/auth/llave/entrar", { ...form, ticket: "x", response });
    expect(entered.status).toBeGreaterThanOrEqual(400);
    expect(entered.status).toBeLessThan(500);
    expect(await entered.json()).toEqual({ message: expect.stringContaining(".") });
  },
);

it("public pages stay available with a session that has ended", async () => {
  const browser = new Browser(server.url);
  const email = await browser.signUp();
  const elsewhere = new Browser(server.url);
  await elsewhere.signIn(email);
  await elsewhere.submit("/user/seguridad", "/user/sesiones", {});
  const ended = new Map(browser.cookies);
  for (const [path, status] of [
    ["/", 200],
    ["/accesibilidad", 200],
    ["/no-existe", 404],
    ["/auth/signin", 200],
  ] as const) {
    for (const [name, value] of ended) browser.cookies.set(name, value);
    const answer = await browser.fetch(path);
    expect([path, answer.status]).toEqual([path, status]);
    expect(readable(await answer.text())).not.toContain("Algo ha fallado");
  }
});

describe("sign-in", () => {
  it.each([
    ["/conversation/chat", "/conversation/chat"],
    ["/conversation/chat/x?version=1", "/conversation/chat/x?version=1"],
    ["//e", "/user"],
    ["/\\e", "/user"],
    ["\\e", "/user"],
    ["/%2f%2fe", "/user"],
    ["/\t/e", "/user"],
    ["/\n/e", "/user"],
    ["javascript:alert(1)", "/user"],
    ["/@e", "/user"],
    ["https://e", "/user"],
    ["/user?x=€", "/user"],
    ["", "/user"],
  ])("with volver %j ends on %s", async (volver, end) => {
    const browser = new Browser(server.url);
    const email = await browser.signUp();
    const other = new Browser(server.url);
    const path = `/auth/signin?volver=${encodeURIComponent(volver)}`;
    const fields = hiddenFields(await other.html(path), "/auth/signin");
    const answer = await other.post(path, { ...fields, email, password });
    expect(answer.headers.get("Location")).toBe(end);
  });

  it("keeps the e-mail but not the password when refused", async () => {
    const answer = await new Browser(server.url).submit("/auth/signin", "/auth/signin", {
      email: "nadie@ejemplo.es",
      password: "secretísima",
    });
    const html = await answer.text();
    expect(answer.status).toBe(401);
    expect(html).toContain('value="nadie@ejemplo.es"');
    expect(readable(html)).toContain("El correo o la contraseña no son correctos.");
    expect(html).not.toContain("secretísima");
  });

  it("replaces the form token of the visitor", async () => {
    const browser = new Browser(server.url);
    const before = hiddenFields(await browser.html("/auth/signup"), "/auth/signup").formToken;
    await browser.signUp();
    const after = hiddenFields(await browser.html("/user"), "/auth/signout").formToken;
    expect(after).not.toBe(before);
  });

  it("sets a cookie that is HttpOnly and SameSite=Strict", async () => {
    const answer = await new Browser(server.url).fetch("/auth/signin");
    expect(answer.headers.get("Set-Cookie")).toMatch(/^tertulia=.*Path=\/; HttpOnly; SameSite=Strict/);
  });

  it("after a session ended elsewhere keeps the text being sent", async () => {
    const browser = new Browser(server.url);
    const email = await browser.signUp();
    const chat = await browser.say("Hola");
    const elsewhere = new Browser(server.url);
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
    const stale = hiddenFields(await browser.html(chat), chat);
    await elsewhere.submit("/user", "/auth/signout", {});

    const long = `Un texto larguísimo. ${"Con mucho dentro. ".repeat(500)}`;
    const refused = await browser.post(chat, { ...stale, content: long });
    const html = await refused.text();
    expect(refused.status).toBe(401);
    expect(readable(html)).toContain("Session expirada, por favor inicia sesión nuevamente.");
    expect(readable(html)).toContain("Lo que has escrito te espera al otro lado.");
    const back = await browser.post(`/auth/signin?volver=${encodeURIComponent(chat)}`, {
      ...hiddenFields(html, "/auth/signin"),
      email,
      password,
    });
    expect(back.headers.get("Location")).toBe(chat);
    expect(await browser.html(chat)).toContain(long.trim());
  });
});

describe("a text held behind a sign-in form", () => {
  it("arrives although its person signed in meanwhile in another tab", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const html = await browser.html("/user");
    const { formToken = "" } = hiddenFields(html, "/auth/signout");
    const answer = await browser.post("/auth/signin?volver=%2Fconversation%2Fchat", {
      formToken,
      "held.action": "/conversation/chat",
      "held.content": "Guardado de antes",
      "held.fileIds": "",
    });
    expect(answer.headers.get("Location")).toBe("/conversation/chat");
    expect(await browser.html("/conversation/chat")).toContain(">Guardado de antes</textarea>");
  });

  it("omits the password from the page that asks to resend", async () => {
    const answer = await new Browser(server.url).post("/auth/signin", {
      formToken: "x",
      email: "a@b.es",
      password: "secretísima",
    });
    expect(answer.status).toBe(403);
    expect(await answer.text()).not.toContain("secretísima");
  });
});

describe("a form", () => {
  const send = async (headers: Record<string, string>) => {
    const browser = new Browser(server.url);
    await browser.signUp();
    return browser.submit("/conversation/chat", "/conversation/chat", { content: "Hola" }, headers);
  };

  it.each([
    ["without Origin, as text browsers send it", {}, 303],
    ["from this site", { Origin: "SELF" }, 303],
    ["from another site", { Origin: "https://malo.example" }, 403],
    ["from nowhere", { Origin: "null" }, 403],
  ])("%s is answered %s", async (_name, headers, status) => {
    const origin = (headers as { Origin?: string }).Origin === "SELF" ? { Origin: server.url } : headers;
    expect((await send(origin as Record<string, string>)).status).toBe(status);
  });

  it.each([{ formToken: "" }, { formToken: "x".repeat(24) }, { formToken: "ñ" }])(
    "with the token %j sends nothing, keeps the text and offers to send it again",
    async (change) => {
      const browser = new Browser(server.url);
      await browser.signUp();
      const fields = { content: "Hola", ...change };
      const answer = await browser.submit("/conversation/chat", "/conversation/chat", fields);
      const html = await answer.text();
      expect(answer.status).toBe(403);
      expect(hiddenFields(html, "/conversation/chat").content).toBe("Hola");
      expect(readable(html)).toContain("Enviar otra vez");
      const again = await browser.post("/conversation/chat", hiddenFields(html, "/conversation/chat"));
      expect(again.status).toBe(303);
    },
  );

  it("is checked on resource routes and .data requests too", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    for (const path of [
      "/conversation/reply/x",
      "/conversation/draft",
      "/auth/signout",
      "/conversation/chat.data",
      "/auth/signout.data",
      "/no/existe",
    ]) {
      expect(`${path} ${(await browser.post(path, { content: "x" })).status}`).toBe(`${path} 403`);
    }
    expect((await browser.fetch("/user")).status).toBe(200);
  });

  it.each([
    ["nothing", { method: "POST" }, 400],
    ["no form", { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } }, 400],
    [
      "half a form",
      { method: "POST", body: "--x\r\nContent", headers: { "Content-Type": "multipart/form-data; boundary=x" } },
      400,
    ],
    ["a hundred thousand fields", { method: "POST", body: new URLSearchParams("b=1&".repeat(100_000)) }, 400],
    ["three megabytes", { method: "POST", body: new URLSearchParams({ content: "x".repeat(3_000_000) }) }, 413],
  ])("of %s is refused with a sentence", async (_name, init, status) => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const answer = await browser.fetch("/conversation/chat", init);
    expect(answer.status).toBe(status);
    expect(readable(await answer.text())).toMatch(/no ha llegado entero|demasiado grande/);
  });
});

describe("a form's fields", () => {
  it.each([
    ["a name as deep as a well", `a${".a".repeat(20_000)}`, "1"],
    ["a list without end", `a${"[0]".repeat(20_000)}`, "1"],
    ["a prototype", "__proto__[role]", "admin"],
    ["a field sent twice", "email", "otra@ejemplo.es"],
  ])("with %s are read as if it were not there", async (_name, name, value) => {
    const browser = new Browser(server.url);
    const fields = hiddenFields(await browser.html("/auth/signin"), "/auth/signin");
    const body = new URLSearchParams({ ...fields, email: "nadie@ejemplo.es", password: "x" });
    body.append(name, value);
    const answer = await browser.fetch("/auth/signin", { method: "POST", body });
    expect(answer.status).toBe(401);
    expect(readable(await answer.text())).toContain("El correo o la contraseña no son correctos.");
  });

  it("never return with secret values when a form is refused", async () => {
    const browser = new Browser(server.url);
    const secrets = {
      password: "s3creto-a",
      currentPassword: "s3creto-b",
      code: "s3creto-c",
      secret: "s3creto-d",
      ticket: "s3creto-e",
      "held.code": "s3creto-f",
    };
    const { formToken = "" } = hiddenFields(await browser.html("/auth/signin"), "/auth/signin");
    for (const token of [formToken, "x"]) {
      for (const path of ["/user/seguridad/verificacion/crear", "/auth/signin", "/user"]) {
        const answer = await browser.post(path, { formToken: token, email: "a@b.es", ...secrets });
        expect(await answer.text()).not.toContain("s3creto");
      }
    }
  });
});

describe("behind a proxy", () => {
  it("terminating TLS keeps forms working and sets a __Host- cookie", async () => {
    const behind = await startServer({ TRUST_PROXY: "1" });
    const browser = new Browser(behind.url);
    const proxy = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "tertulia.example" };
    const page = await browser.fetch("/auth/signup", { headers: proxy });
    expect(page.headers.get("Set-Cookie")).toMatch(/^__Host-tertulia=.*Secure/);
    expect(page.headers.get("Strict-Transport-Security")).toBeTruthy();
    const fields = {
      ...hiddenFields(await page.text(), "/auth/signup"),
      name: "Ana",
      email: "ana@ejemplo.es",
      password,
    };
    const answer = await browser.post("/auth/signup", fields, { ...proxy, Origin: "https://tertulia.example" });
    expect(answer.headers.get("Location")).toBe("/user");
    await behind.stop();
  });

  it("unless told so, believes no forwarded header", async () => {
    const answer = await new Browser(server.url).fetch("/auth/signin", { headers: { "X-Forwarded-Proto": "https" } });
    expect(answer.headers.get("Set-Cookie")).toMatch(/^tertulia=/);
  });
});

describe("headers", () => {
  it("of every page forbid what a page does not need", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    for (const path of ["/", "/auth/signin", "/user", "/conversation/chat", "/no/existe", "/v1/api/chat"]) {
      const { headers } = await browser.fetch(path);
      expect(headers.get("Content-Security-Policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(headers.get("Content-Security-Policy")).not.toContain("unsafe");
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Referrer-Policy")).toBe("same-origin");
      expect(headers.get("Cache-Control")).toBe("no-store");
    }
  });

  it("and no page carries a style attribute", async () => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const chat = await browser.say("| a | b |\n|--:|---|\n| 1 | 2 |");
    for (const path of ["/", "/user", "/conversation/chat", chat])
      expect(await browser.html(path)).not.toMatch(/<[^>]* style="/);
  });

  it("a page that needs no script has none", async () => {
    for (const path of ["/", "/auth/signin", "/auth/signup"])
      expect(await new Browser(server.url).html(path)).not.toContain("<script");
  });
});
