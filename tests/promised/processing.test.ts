import { expect, it } from "vitest";
import { measures } from "../../app/routes/admin/processing/in-words.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

type House = { api: Api; admin: Account; ana: Account; chatId: string };
const [engine] = await ruleEngines();
if (!engine) throw new Error("no engine");

const branch = ({ api, admin, chatId }: House) =>
  api.call("GET", `/api/chat/${chatId}/messages`, { token: admin.token });
const readings = async ({ api, ana }: House) =>
  ((await api.call("GET", "/api/inspection", { token: ana.token })).body as { items: { purpose: string }[] }).items;

/** Each sentence of «Medidas de seguridad», and what has to happen where it stands. */
const kept: [sentence: RegExp, holds: (house: House) => Promise<void>][] = [
  [/^Las conexiones van cifradas/, async ({ api }) => expect(api.services.config.publicUrl).toMatch(/^https:/)],
  [
    /^Se entra con contraseña, guardada con argon2id; 0 cuentas/,
    async ({ api, ana }) => {
      const rows = await api.db.selectFrom("users").select("passwordHash").execute();
      expect(rows.every(({ passwordHash }) => passwordHash.startsWith("$argon2id$"))).toBe(true);
      const json = { email: ana.email, password };
      expect((await api.call("POST", "/auth/signin", { json })).status).toBe(200);
    },
  ],
  [
    /^Administra una persona\.$/,
    async ({ api }) => {
      const admins = await api.db.selectFrom("users").where("role", "=", "admin").select("id").execute();
      expect(admins).toHaveLength(1);
    },
  ],
  [
    /^Quien administra puede leer lo que escriben los demás, salvo lo temporal; cada lectura queda/,
    async (house) => {
      expect((await branch(house)).status).toBe(200);
      expect(await readings(house)).toHaveLength(1);
    },
  ],
  [
    /^Quien administra puede leer lo que escriben los demás, salvo lo temporal, si antes dice para qué/,
    async (house) => {
      const { api, admin, ana, chatId } = house;
      expect((await branch(house)).status).toBe(403);
      expect((await api.inspect(admin.token, "chat", chatId)).status).toBe(201);
      expect((await branch(house)).status).toBe(200);
      expect((await readings(house))[0]?.purpose).toBe("Para una prueba");
      const { notices } = (await api.call("GET", "/api/dashboard/initialize", { token: ana.token })).body as {
        notices: { text: string }[];
      };
      expect(notices[0]?.text).toContain("Para una prueba");
    },
  ],
  [
    /^Quien administra puede gestionar las cuentas y borrar, pero no leer/,
    async (house) => {
      const { api, admin, chatId } = house;
      expect((await branch(house)).status).toBe(403);
      expect((await api.inspect(admin.token, "chat", chatId)).status).toBe(403);
      expect((await api.call("DELETE", `/api/chat/${chatId}`, { token: admin.token })).status).toBe(204);
    },
  ],
  [
    /^Lo que cambia quien administra queda en la auditoría, que es una cadena sellada/,
    async ({ api, admin }) => {
      const json = { name: `Grupo ${crypto.randomUUID()}` };
      await api.call("POST", "/api/group", { token: admin.token, json });
      const { body } = await api.call("POST", "/api/audit/check", { token: admin.token });
      expect(body).toMatchObject({ problems: [] });
      expect((await api.call("GET", "/api/audit", { token: admin.token })).text).toContain(json.name);
    },
  ],
  [
    /^Las claves de modelos, herramientas y accesos se guardan cifradas/,
    async ({ api, admin }) => {
      const json = { provider: "openai", name: "M", externalId: "m", apiKey: "clave-de-verdad" };
      expect((await api.call("POST", "/api/model", { token: admin.token, json })).status).toBe(201);
      const rows = await api.db.selectFrom("models").select("apiKey").execute();
      expect(rows.some(({ apiKey }) => apiKey)).toBe(true);
      expect(JSON.stringify(rows)).not.toContain("clave-de-verdad");
    },
  ],
  [
    /^Quien administra puede abrir salas, en las que otras hablan con un asistente sin cuenta/,
    async ({ api, admin, ana }) => {
      const room = async ({ token }: Account) => {
        const made = await api.call("POST", "/api/assistant", { token, json: { name: "Ayuda" } });
        const endsAt = new Date(Date.now() + 3_600_000).toISOString();
        const json = { name: "Sala", assistantId: (made.body as { id: string }).id, endsAt };
        return api.call("POST", "/api/room", { token, json });
      };
      expect((await room(ana)).status).toBe(403);
      const { code } = (await room(admin)).body as { code: string };
      expect((await api.call("POST", `/api/guest/room/${code}`, { json: {} })).status).toBe(201);
      const [guest] = await api.db.selectFrom("sessions").where("roomId", "is not", null).selectAll().execute();
      expect(Number(guest?.refreshExpiresAt) - Date.now()).toBeLessThan(26 * 3_600_000);
    },
  ],
  [
    /^Cada persona descarga lo suyo y elimina su cuenta por sí misma, salvo que haya una suspensión/,
    async ({ api, admin }) => {
      const berta = await api.signUp("Berta");
      expect((await api.fetch(`/api/user/${berta.id}/export`, berta.token)).status).toBe(200);
      const held = { userId: berta.id, reason: "Un pleito" };
      const { body } = await api.call("POST", "/api/hold", { token: admin.token, json: held });
      const end = () =>
        api.call("DELETE", `/api/user/${berta.id}`, { token: berta.token, json: { currentPassword: password } });
      expect((await end()).status).toBe(409);
      await api.call("DELETE", `/api/hold/${(body as { id: string }).id}`, { token: admin.token });
      expect((await end()).status).toBe(204);
    },
  ],
  [
    /^Todas las personas han de aceptar: Condiciones\.$/,
    async ({ api }) => {
      const carla = await api.signUp("Carla");
      expect((await api.call("GET", "/api/chat", { token: carla.token })).status).toBe(403);
    },
  ],
  [
    /^No hay páginas que las personas tengan que aceptar/,
    async ({ api }) => {
      const carla = await api.signUp("Carla");
      expect((await api.call("GET", "/api/chat", { token: carla.token })).status).toBe(200);
    },
  ],
];

it.each([
  { adminReads: "open" as const, mustAccept: false },
  { adminReads: "reason" as const, mustAccept: false },
  { adminReads: "never" as const, mustAccept: true },
])("what /admin/tratamiento says of protecting data is what happens: %j", async ({ mustAccept, ...settings }) => {
  const api = await openApi(engine, settings);
  try {
    const admin = await api.signUp("Admin");
    const ana = await api.signUp("Ana");
    const [start] = await api.converse(ana.token, { content: "Lo mío" });
    const chatId = start?.type === "start" ? start.chatId : "";
    if (mustAccept) {
      const json = { slug: "condiciones", title: "Condiciones", body: "Sé amable.", published: true, mustAccept: true };
      expect((await api.call("POST", "/api/page", { token: admin.token, json })).status).toBe(201);
      const { body } = await api.call("GET", "/api/terms", { token: admin.token });
      const { version } = body as { version: number };
      await api.call("POST", "/api/terms", { token: admin.token, json: { version } });
    }
    const { body } = await api.call("GET", "/api/system/processing", { token: admin.token });
    const said = measures((body as { security: Parameters<typeof measures>[0] }).security);
    for (const sentence of said) {
      const found = kept.filter(([pattern]) => pattern.test(sentence));
      expect([sentence, found.length]).toEqual([sentence, 1]);
      await found[0]?.[1]({ api, admin, ana, chatId });
    }
  } finally {
    await api.close();
  }
});

it("refuses sign-in by password where passwords are turned off", async () => {
  const api = await openApi(engine);
  try {
    const admin = await api.signUp("Admin");
    api.services.config.passwordSignin = false;
    const { body } = await api.call("GET", "/api/system/processing", { token: admin.token });
    const said = measures((body as { security: Parameters<typeof measures>[0] }).security);
    expect(said).toContain("No hay contraseñas: se entra con los accesos de la organización.");
    const json = { email: admin.email, password };
    expect((await api.call("POST", "/auth/signin", { json })).status).toBeGreaterThanOrEqual(400);
  } finally {
    await api.close();
  }
});
