import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

let mails: MailServer;
let server: TestServer;
let admin: Browser;
beforeAll(async () => {
  mails = await startMailServer();
  const port = await freePort();
  server = await startServer({
    SMTP_URL: mails.url,
    MAIL_TO: "casa@ejemplo.es",
    MAIL_FROM: "no-responder@ejemplo.es",
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    PORT: String(port),
  });
  admin = new Browser(server.url);
  await admin.signUp("Admin");
});
afterAll(async () => {
  await server.stop();
  await mails.stop();
});

const page = "/admin/casa";
const settings = {
  name: "Ayuntamiento de Ejemplo",
  accent: "#7fb4e6",
  timeZone: "America/Mexico_City",
  foot: "Plaza Mayor, 1 · 900 000 000",
  mailName: "",
  signupDomains: "",
  mailFoot: "",
  secondStep: "optional",
  opensRooms: "admins",
  sessionHours: "",
  idleMinutes: "",
};
/** The fields of the settings alone: two more forms of the page post to the same address. */
const save = async (fields: Record<string, string>) => {
  const html = await admin.html(page);
  const [, version = ""] = /name="version" value="([^"]*)"/.exec(html) ?? [];
  const { formToken = "" } = hiddenFields(html, page);
  return admin.post(page, { formToken, version, ...settings, ...fields });
};
async function picture(kind: string, content: string, more: Record<string, string> = {}) {
  const body = new FormData();
  const { formToken = "" } = hiddenFields(await admin.html(page), page);
  for (const [name, value] of Object.entries({ formToken, picture: kind, ...more })) body.append(name, value);
  if (content) body.append("files", new File([content], "logo.svg"));
  return admin.fetch(page, { method: "POST", body });
}
const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 10"><path d="M0 0h40v10H0z" fill="#fff"/></svg>';

describe("a house of one's own", () => {
  it("appears on every page, in the manifest and in e-mails", async () => {
    expect((await save({})).headers.get("Location")).toBe(page);
    expect((await picture("logo", logo)).status).toBe(303);
    expect((await picture("icon", logo)).status).toBe(303);
    const visitor = new Browser(server.url);
    for (const path of ["/servicios", "/auth/signin", "/no-existe", "/accesibilidad", "/sin-conexion"]) {
      const html = await visitor.html(path);
      expect(html, path).toMatch(/<title>[^<]+ · Ayuntamiento de Ejemplo<\/title>/);
      expect(html, path).toMatch(
        /<a class="wordmark"[^>]*><img src="\/marca\/logotipo\?v=\w+" alt="Ayuntamiento de Ejemplo"\/>/,
      );
      expect(html, path).toMatch(/<link rel="icon" href="\/marca\/icono\?v=\w+"\/>/);
    }
    expect(await visitor.html("/")).toContain("<title>Ayuntamiento de Ejemplo: ");
    expect(readable(await visitor.html("/contacto"))).toContain("Plaza Mayor, 1 · 900 000 000");
    const manifest = (await (await visitor.fetch("/manifest.webmanifest")).json()) as {
      name: string;
      icons: { src: string }[];
    };
    expect(manifest.name).toBe("Ayuntamiento de Ejemplo");
    expect(manifest.icons.map(({ src }) => src)).toEqual([expect.stringMatching(/^\/marca\/icono-grande\?v=/)]);
    const large = await visitor.fetch(manifest.icons[0]?.src ?? "");
    expect([large.headers.get("Content-Type"), large.headers.get("Cache-Control")]).toEqual([
      "image/png",
      "public, max-age=31536000, immutable",
    ]);
    const address = await new Browser(server.url).signUp("Eva");
    const [, formToken = ""] = /name="formToken" value="([^"]*)"/.exec(await visitor.html("/auth/reset")) ?? [];
    expect((await visitor.post("/auth/reset", { formToken, email: address })).status).toBe(200);
    const mail = await mails.nextTo(address);
    expect(mail).toContain("From: Ayuntamiento de Ejemplo <no-responder@ejemplo.es>");
    expect(mail.trimEnd()).toMatch(/\r\n--(?: |=20)\r\nAyuntamiento de Ejemplo$/);
  });

  it("applies its colour by stylesheet, or inline on light pages", async () => {
    const visitor = new Browser(server.url);
    const scripted = await admin.html("/conversation/chat");
    expect(scripted).toContain('<link rel="stylesheet" href="/marca/estilo/7fb4e6"/>');
    const sheet = await visitor.fetch("/marca/estilo/7fb4e6");
    expect(await sheet.text()).toContain("--color-accent:#7fb4e6");
    expect((await visitor.fetch("/marca/estilo/}*{}")).status).toBe(404);
    const saved = await visitor.fetch("/auth/signin", { headers: { "Save-Data": "on" } });
    const light = await saved.text();
    expect(light).not.toContain("/marca/estilo");
    expect(light).toMatch(/<style nonce="[^"]+">[^<]*:root\{--color-accent:#7fb4e6/);
  });

  it("tells those whose time zone is not known its own", async () => {
    const html = await admin.html("/conversation/schedule/crear");
    expect(html).toContain('value="America/Mexico_City"');
  });

  it("keeps typed values and explains why a form is refused", async () => {
    const refused = await save({ accent: "#003876", foot: "Otro pie" });
    expect(refused.status).toBe(422);
    const html = await refused.text();
    expect(readable(html)).toContain("Ese color casi no se lee sobre el fondo");
    expect(html).toContain('value="Otro pie"');
    expect(html).toContain('value="#003876"');
    const bad = await picture("logo", logo.replace("<path", "<script/><path"));
    expect(bad.status).toBe(422);
    expect(readable(await bad.text())).toContain("La imagen lleva <script>, que un dibujo no necesita.");
    expect(readable(await (await picture("icon", "")).text())).toContain("Elige una imagen.");
    const stale = await save({ version: "2020-01-01T00:00:00.000Z", name: "Otra", foot: settings.foot });
    expect(stale.status).toBe(409);
    expect(readable(await stale.text())).toMatch(/Lo guardado: « ?Ayuntamiento de Ejemplo ?»/);
  });

  it("goes back to what it was", async () => {
    await picture("logo", "", { remove: "1" });
    await picture("icon", "", { remove: "1" });
    expect((await save({ name: "Tertulia", accent: "", timeZone: "", foot: "" })).status).toBe(303);
    const html = await new Browser(server.url).html("/auth/signin");
    expect(html).toContain("<title>Iniciar sesión · Tertulia</title>");
    expect(html).not.toContain("/marca/");
  });

  it("requires two-step verification before showing any other page", async () => {
    const ana = new Browser(server.url);
    await ana.signUp("Ana");
    await ana.say("Un secreto de Ana");
    expect((await save({ secondStep: "all" })).status).toBe(303);
    const answer = await ana.fetch("/conversation/chat");
    expect(answer.headers.get("Location")).toBe("/user/seguridad?volver=%2Fconversation%2Fchat");
    const page = readable(await (await ana.follow(answer)).text());
    expect(page).toContain("Aquí hace falta la verificación en dos pasos.");
    expect(page).toMatch(/Verificación en dos pasos .*Activar/);
    expect(page).not.toContain("Un secreto de Ana");
    expect((await admin.fetch("/admin/casa")).headers.get("Location")).toContain("/user/seguridad");
  });
});
