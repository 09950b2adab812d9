import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measuresOfEns } from "../../app/routes/admin/processing/ens.server.ts";
import { Browser, readable } from "../support/browser.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let admin: Browser;
beforeAll(async () => {
  server = await startServer({ ACCESS_LOG: "on", PUBLIC_URL: "" });
  admin = new Browser(server.url);
  await admin.signUp("Admin");
});
afterAll(() => server.stop());

const security: Parameters<typeof measuresOfEns>[0] = {
  ...{ https: true, passwords: true, withSecondStep: 1, administrators: 1, metrics: true, terms: [] },
  ...{ sessionHours: 8, idleMinutes: 30, accesses: 0, openAccesses: 0, events: true, accessLog: true },
  adminReads: "reason",
  secondStep: "all",
  signup: "closed",
  rooms: "admins",
  nightlyCopies: "encrypted",
  ...{ lastCopyAt: new Date().toISOString(), mails: true, embedded: true, minorGroups: [] },
};
const missing = (changed: object) =>
  measuresOfEns({ ...security, ...changed })
    .filter(({ coverage }) => coverage === "missing")
    .map(({ code }) => code);

describe("the measures of the ENS", () => {
  it("are 73, each once, none missing when everything is configured", () => {
    const codes = measuresOfEns(security).map(({ code }) => code);
    expect([new Set(codes).size, codes.length]).toEqual([73, 73]);
    expect(missing({})).toEqual([]);
  });

  it.each([
    [{ https: false }, ["mp.com.1", "mp.com.2", "mp.com.3"]],
    [{ secondStep: "admins" }, ["op.acc.5", "op.acc.6"]],
    [{ sessionHours: null, idleMinutes: null }, ["op.acc.6"]],
    [{ signup: "domains" }, ["op.acc.4"]],
    [{ passwords: false, secondStep: "optional", signup: "open" }, []],
    [{ passwords: false, openAccesses: 1 }, ["op.acc.4"]],
    [{ metrics: false }, ["op.mon.2"]],
    [{ lastCopyAt: "2026-01-01T00:00:00.000Z" }, ["mp.info.6", "op.cont.2", "op.cont.3"]],
    [{ adminReads: "open" }, ["op.acc.3"]],
    [{ events: false }, ["op.exp.7", "op.mon.1", "op.mon.3"]],
    [{ accessLog: false }, ["op.exp.8", "op.mon.3"]],
    [{ nightlyCopies: "none", lastCopyAt: null }, ["mp.info.6", "mp.si.2", "op.cont.2", "op.cont.3"]],
    [{ nightlyCopies: "plain" }, ["mp.si.2"]],
  ])("%j: these are missing", (changed, codes) => expect(missing(changed).sort()).toEqual(codes));

  it("name the way by which anybody gets an account", () => {
    const said = (changed: object) =>
      measuresOfEns({ ...security, ...changed }).find(({ code }) => code === "op.acc.4")?.text;
    const own = "Cualquiera puede crear una cuenta (que su correo sea suyo no se comprueba): SIGNUP=closed.";
    const access = "Un acceso da cuenta a cualquiera que entre por él: pon sus dominios en Accesos.";
    expect(said({ signup: "open" })).toBe(own);
    expect(said({ openAccesses: 1 })).toBe(access);
    expect(said({ signup: "open", passwords: false, openAccesses: 1 })).toBe(access);
    expect(said({ signup: "open", openAccesses: 1 })).toBe(`${own} ${access}`);
  });

  it("are on a page with what is set here", async () => {
    const text = readable(await admin.html("/admin/tratamiento/ens"));
    const today = new Intl.DateTimeFormat("es", { dateStyle: "long" }).format(new Date());
    expect(text).toContain(`Sistema de ________________, con sus ajustes a ${today}:`);
    expect(text).toContain("op.exp.8 Registro de la actividad Cubierta Auditoría sellada");
    expect(text).toContain("mp.com.2 Protección de la confidencialidad Falta PUBLIC_URL no empieza por https.");
    const visitor = new Browser(server.url);
    await visitor.signUp("Ana");
    expect((await visitor.fetch("/admin/tratamiento/ens")).status).toBe(404);
    expect((await visitor.fetch("/admin/tratamiento/impacto")).status).toBe(404);
  });
});

it("the impact assessment shows configured processors, risks and blank fields", async () => {
  const fields = {
    name: "De fuera",
    provider: "openai-compatible",
    externalId: "x",
    baseUrl: "https://api.mistral.ai/v1",
  };
  await admin.change("/admin/model/crear", { ...fields, enabled: "on" });
  const text = readable(await admin.html("/admin/tratamiento/impacto"));
  expect(text).toContain("De fuera Mistral AI (Francia), api.mistral.ai ____");
  expect(text).toContain("Van fuera un modelo: De fuera. Sin seudónimos: De fuera.");
  expect(text).toContain("No hay copias en otro sitio: BACKUP_URL.");
  expect(text).toMatch(/Base jurídica _+/);
  expect(readable(await admin.html("/admin/tratamiento"))).toContain("api.mistral.ai · Mistral AI (Francia)");
});

it("the letter to families says where what is written goes", async () => {
  const text = readable(await admin.html("/admin/tratamiento/familias"));
  expect(text).toContain("De fuera, en api.mistral.ai");
  expect((await admin.fetch("/admin/tratamiento/otra")).status).toBe(404);
});
