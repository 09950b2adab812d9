import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, refreshOf } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { startMailServer } from "../support/mail-server.ts";
import { password } from "../support/password.ts";

const minute = 60_000;

for (const engine of await queryEngines()) {
  describe(`the house's rules for sessions on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let mails: Awaited<ReturnType<typeof startMailServer>>;
    beforeAll(async () => {
      mails = await startMailServer();
      api = await openApi(engine, {
        mail: { smtpUrl: mails.url, mailTo: "casa@ejemplo.es", mailFrom: undefined },
      });
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
    });
    afterAll(async () => {
      await api.close();
      await mails.stop();
    });

    const rule = async (json: object) => {
      const answer = await api.call("PATCH", "/api/house", { token: admin.token, json });
      expect(answer.status).toBe(200);
    };
    const session = async ({ token }: Pick<Account, "token">) => api.call("GET", "/auth/session", { token });
    const refreshed = ({ refresh }: Account) =>
      api.call("POST", "/auth/refresh", { headers: { Cookie: `refresh=${refresh}` } });
    const setBack = (account: Account, times: { lastSeenAt?: number; createdAt?: number }) =>
      api.db.updateTable("sessions").set(times).where("userId", "=", account.id).execute();

    it("requires a second step from people signed in by password", async () => {
      await rule({ secondStep: "admins" });
      expect((await api.call("GET", "/api/chat", { token: ana.token })).status).toBe(200);
      for (const path of ["/api/chat", "/api/group", "/api/system", "/api/house"]) {
        const refused = await api.call("GET", path, { token: admin.token });
        expect([path, refused.status]).toEqual([path, 403]);
        expect(refused.text).toContain("hay que activar la verificación en dos pasos");
      }
      const others = `/api/user/${ana.id}`;
      expect((await api.call("GET", others, { token: admin.token })).status).toBe(404);
      const changed = await api.call("PATCH", others, { token: admin.token, json: { password: "otra frase larga" } });
      expect(changed.status).toBe(403);
      expect((await api.call("DELETE", others, { token: admin.token })).status).toBe(403);
      expect((await session(admin)).body).toMatchObject({ owesSecondStep: true });
      const begun = await api.call("POST", "/auth/authenticator", { token: admin.token });
      const { secret } = begun.body as { secret: string };
      const code = new TOTP({ secret }).generate();
      const json = { secret, code, currentPassword: password };
      expect((await api.call("PUT", "/auth/authenticator", { token: admin.token, json })).status).toBe(200);
      await rule({ secondStep: "all" });
      expect((await api.call("GET", "/api/chat", { token: ana.token })).status).toBe(403);
      // A password alone takes nothing along, and no second step in the place of the one that there is.
      expect((await api.call("GET", `/api/user/${ana.id}/export`, { token: ana.token })).status).toBe(403);
      expect(
        (await api.call("PATCH", `/api/user/${ana.id}`, { token: ana.token, json: { name: "Otra" } })).status,
      ).toBe(403);
      const now = Date.now();
      const passkey = { id: crypto.randomUUID(), createdAt: now, updatedAt: now, userId: ana.id, name: "Móvil" };
      const key = {
        credentialId: "c",
        publicKey: "p",
        counter: 0,
        transports: "[]",
        lastUsedAt: null,
        challengedAt: 0,
      };
      await api.db
        .insertInto("passkeys")
        .values({ ...passkey, ...key })
        .execute();
      const own = ((await api.call("POST", "/auth/authenticator", { token: ana.token })).body as { secret: string })
        .secret;
      const forged = { secret: own, code: new TOTP({ secret: own }).generate(), currentPassword: password };
      const taken = await api.call("PUT", "/auth/authenticator", { token: ana.token, json: forged });
      expect([taken.status, taken.text]).toEqual([403, expect.stringContaining("Ya tienes una llave de acceso")]);
      await api.db.updateTable("sessions").set({ byPasskey: 1 }).where("userId", "=", ana.id).execute();
      expect((await api.call("GET", "/api/chat", { token: ana.token })).status).toBe(200);
      await rule({ secondStep: "optional" });
    });

    it("ends an idle session, even one older than the rule", async () => {
      const eva = await api.signUp("Eva");
      await rule({ idleMinutes: 10 });
      expect((await session(eva)).status).toBe(200);
      await setBack(eva, { lastSeenAt: Date.now() - 14 * minute });
      expect((await session(eva)).status).toBe(200);
      await setBack(eva, { lastSeenAt: Date.now() - 16 * minute });
      expect((await session(eva)).status).toBe(401);
      expect((await refreshed(eva)).status).toBe(401);
      await rule({ idleMinutes: null });
      expect((await refreshed(eva)).status).toBe(401);
    });

    it("ends a session after the set hours despite use", async () => {
      const eva = await api.signUp("Eva");
      await rule({ sessionHours: 2 });
      await setBack(eva, { createdAt: Date.now() - 119 * minute });
      const first = await refreshed(eva);
      expect(first.status).toBe(200);
      await setBack(eva, { createdAt: Date.now() - 121 * minute });
      expect((await refreshed({ ...eva, refresh: refreshOf(first.headers) })).status).toBe(401);
      const signedIn = await api.call("POST", "/auth/signin", { json: { email: eva.email, password } });
      const { expiresAt } = (await session({ token: signedIn.text })).body as { expiresAt: string };
      expect(Math.abs(Date.parse(expiresAt) - Date.now() - 120 * minute)).toBeLessThan(minute);
      await rule({ sessionHours: null });
    });

    it("refuses rules that nobody could live by", async () => {
      for (const json of [{ idleMinutes: 1 }, { sessionHours: 0 }, { secondStep: "nunca" }, { sessionHours: 1.5 }]) {
        expect((await api.call("PATCH", "/api/house", { token: admin.token, json })).status).toBe(422);
      }
    });

    it("tells whose account is locked, once, and the audit", async () => {
      const eva = await api.signUp("Eva");
      const wrong = () => api.call("POST", "/auth/signin", { json: { email: eva.email, password: "no es esta" } });
      let tried = 0;
      // With PostgreSQL some are counted in the process, while all connections are in use.
      while ((await wrong()).status === 401) tried++;
      expect(tried).toBeGreaterThanOrEqual(10);
      for (let more = 0; more < 3; more++) await wrong();
      const mail = await mails.nextTo(eva.email);
      expect(mail).toContain("Subject: Demasiados intentos de entrar en tu cuenta");
      expect(mail).toContain("127.0.0.1");
      const locks = api.db.selectFrom("audit").where("action", "=", "signin-locked").where("resourceId", "=", eva.id);
      expect(await locks.select("id").execute()).toHaveLength(1);
    });
  });
}
