import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let admin: Browser;
beforeAll(async () => {
  server = await startServer();
  admin = new Browser(server.url);
  await admin.signUp("Admin");
});
afterAll(() => server.stop());

const begin = async (headers: Record<string, string> = {}) => {
  const page = "/admin/sistema/diagnostico";
  return (await admin.submit(page, page, {}, headers)).headers.get("Location") ?? "";
};

describe("the diagnosis", () => {
  it("streams line by line and reports that nothing delays pages", async () => {
    const run = await begin();
    const { body } = await admin.fetch(run);
    let html = "";
    let seen = 0;
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      html += chunk;
      const pictures = [...html.matchAll(/<img src="([^"]+\/acuse\/\d+)"/g)].map(([, path = ""]) => path);
      for (const path of pictures.slice(seen)) await (await admin.fetch(path)).arrayBuffer();
      seen = pictures.length;
    }
    expect(seen).toBe(10);
    expect(readable(html)).toContain("Nada retiene las páginas");
    expect(readable(await admin.html(run))).toContain("Nada retiene las páginas");
  });

  it("detects a proxy that holds pages back until their end", async () => {
    const run = await begin();
    const html = await admin.html(run);
    expect(readable(html)).toContain("El navegador no ha dicho cuándo vio cada línea.");
    for (const [, path = ""] of html.matchAll(/<img src="([^"]+\/acuse\/\d+)"/g)) await admin.fetch(path);
    expect(readable(await admin.html(run))).toContain("Un proxy retiene la página hasta el final.");
  });

  it.each([
    [{ "X-Forwarded-Proto": "https" }, "este servidor no le cree: pon TRUST_PROXY=1."],
    [{ "X-Forwarded-For": "203.0.113.9" }, "Todas las visitas parecen venir de 127.0.0.1"],
    [{ "X-Forwarded-Host": "casa.example" }, "El proxy dice que la dirección es casa.example"],
    [{ "Sec-Fetch-Site": "same-origin" }, "Algo quita la cabecera Origin"],
  ])("tells from %j what stands in front", async (headers, sentence) => {
    const run = await begin(headers);
    // Its head is enough: the rest comes line by line.
    const reader = (await admin.fetch(run)).body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    await reader?.cancel();
    expect(readable(new TextDecoder().decode(value))).toContain(sentence);
  });

  it("is hidden from others, and unknown runs are not found", async () => {
    const ana = new Browser(server.url);
    await ana.signUp("Ana");
    for (const path of ["/admin/sistema", "/admin/sistema/diagnostico", await begin(), "/admin/sistema/copias/x.db"]) {
      expect([path, (await ana.fetch(path)).status]).toEqual([path, 404]);
    }
    expect((await admin.fetch("/admin/sistema/diagnostico/nada")).status).toBe(404);
    expect((await admin.fetch("/admin/sistema/copias/nada.db")).status).toBe(404);
  });
});

describe("what a plan leaves", () => {
  it("is shown in the composer, down to no messages left", async () => {
    const ana = new Browser(server.url);
    const email = await ana.signUp("Berta");
    const person = /href="\/admin\/user\/([\w-]{36})"/.exec(await admin.html(`/admin/user?q=${email}`))?.[1];
    const theirs = await admin.html(`/admin/subscription?userId=${person}`);
    const [edit = ""] = /\/admin\/subscription\/[\w-]{36}\/editar/.exec(theirs) ?? [];
    expect((await admin.change(edit, { messagesPerDay: "2" })).status).toBe(303);
    const left = async (page: string) => readable(await ana.html(page));
    expect(await left("/conversation/chat")).toContain("Te quedan 2 mensajes de hoy.");
    const chat = await ana.say("Uno");
    expect(await left(chat)).toContain("Te queda 1 mensaje de hoy.");
    await ana.say("Dos", chat);
    expect(await left(chat)).toContain("Has usado los mensajes de hoy.");
  });
});

describe("hours", () => {
  it("use the time zone of the browser, or else UTC", async () => {
    const page = "/admin/subscription/crear";
    const email = await new Browser(server.url).signUp("Carla");
    admin.cookies.set("zona", encodeURIComponent("Europe/Madrid"));
    expect(readable(await admin.html(page))).toContain("Desde (hora de Madrid)");
    const plan = { userId: email, plan: "pro", status: "active", startsAt: "2026-07-01T12:00", messagesPerDay: "77" };
    expect((await admin.submit(page, page, plan)).status).toBe(303);
    const inMadrid = readable(await admin.html("/admin/subscription"));
    expect(inMadrid).toContain("1/7/26, 12:00");
    admin.cookies.set("zona", "Nada/Ninguna");
    const inUtc = readable(await admin.html("/admin/subscription"));
    expect(inUtc).toContain("1/7/26, 10:00");
    // An untouched moment stays, whichever zone it is shown in.
    const [edit = ""] = /\/admin\/subscription\/[\w-]{36}\/editar/.exec(await admin.html("/admin/subscription")) ?? [];
    const before = await admin.html(edit);
    const at = /name="at.startsAt" value="([^"]+)"/.exec(before)?.[1];
    admin.cookies.delete("zona");
    expect((await admin.change(edit, { messagesPerDay: "78" })).status).toBe(303);
    expect(/name="at.startsAt" value="([^"]+)"/.exec(await admin.html(edit))?.[1]).toBe(at);
  });
});

describe("a list", () => {
  it("shows everything, with a warning, when a filter is invalid", async () => {
    for (const wrong of ["cursor=nada", "userId=%00", "orden=nada.asc&cursor=eyJ9"]) {
      const answer = await admin.follow(await admin.fetch(`/admin/message?${wrong}`));
      expect([wrong, answer.status]).toEqual([wrong, 200]);
      expect(readable(await answer.text())).toContain("Esta lista no entiende ese filtro o esa página");
    }
  });
});
