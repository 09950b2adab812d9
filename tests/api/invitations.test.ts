import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { password } from "../support/password.ts";

for (const engine of await ruleEngines()) {
  describe(`invitations on ${engine.name}`, () => {
    let api: Api;
    let mails: MailServer;
    let admin: Account;
    beforeAll(async () => {
      mails = await startMailServer();
      const mail = { smtpUrl: mails.url, mailTo: "casa@ejemplo.es", mailFrom: undefined };
      api = await openApi(engine, { signup: "closed", mail });
      admin = await api.signUp("Admin");
    });
    afterAll(async () => {
      await Promise.all([api.close(), mails.stop()]);
    });

    const made = async (path: string, json: object) => {
      const answer = await api.call("POST", path, { token: admin.token, json });
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.body as { id: string }).id;
    };
    const linkOf = async (id: string) => {
      const answer = await api.call("GET", `/api/invitation/${id}/link`, { token: admin.token });
      return (answer.body as { path: string }).path.replace("/auth/invitacion/", "");
    };
    const accept = (token: string, json: object) => api.call("POST", `/auth/invitation/${token}`, { json });
    const detail = (answer: { body: never }) => (answer.body as { detail: string }).detail;
    const gone = "Esta invitación ya no vale: se usa una vez y dura siete días. Pide otra.";

    it("creates one account with its role and groups", async () => {
      const legal = await made("/api/group", { name: "Legal" });
      const id = await made("/api/invitation", { email: "Nueva@ejemplo.es", role: "admin", groupIds: [legal] });
      const token = await linkOf(id);
      const mailed = await mails.nextTo("Nueva@ejemplo.es");
      expect(mailed).toContain(`https://tertulia.example/auth/invitacion/${token}`);
      expect((await api.call("GET", `/auth/invitation/${token}`)).body).toEqual({ email: "Nueva@ejemplo.es" });
      const twice = await Promise.all(
        ["Uno", "Dos"].map((name) => accept(token, { name, email: "otra@ejemplo.es", password })),
      );
      expect(twice.map(({ status }) => status).sort()).toEqual([201, 422]);
      const opened = twice.find(({ status }) => status === 201);
      const session = (await api.call("GET", "/auth/session", { token: opened?.text ?? "" })).body as object;
      expect(session).toMatchObject({
        user: { email: "Nueva@ejemplo.es", role: "admin" },
        groups: [{ name: "Legal" }],
      });
      expect(detail(await api.call("GET", `/auth/invitation/${token}`))).toBe(gone);
      expect((await api.call("GET", `/api/invitation/${id}`, { token: admin.token })).body).toMatchObject({
        usedAt: expect.any(String),
        userId: expect.any(String),
      });
    });

    it("is worth nothing once who made it administers no more", async () => {
      const other = await linkOf(await made("/api/invitation", { role: "admin" }));
      const { id: userId } = admin;
      const rank = (role: "admin" | "user") =>
        api.db.updateTable("users").set({ role }).where("id", "=", userId).execute();
      await rank("user");
      const refused = await accept(other, { name: "Eva", email: "eva@ejemplo.es", password });
      expect([refused.status, detail(refused)]).toEqual([422, expect.stringContaining("ya no administra")]);
      await rank("admin");
      expect((await accept(other, { name: "Eva", email: "eva@ejemplo.es", password })).status).toBe(201);
    });

    it("without an address accepts a new one after failed attempts", async () => {
      const token = await linkOf(await made("/api/invitation", {}));
      expect((await accept(token, { name: "Ana", password })).status).toBe(422);
      const taken = await accept(token, { name: "Ana", email: admin.email, password });
      expect([taken.status, detail(taken)]).toEqual([409, "Ese correo ya lo usa otra cuenta."]);
      expect((await accept(token, { name: "Ana", email: "ana@ejemplo.es", password })).status).toBe(201);
    });

    it("refuses another's proof, an expired invitation and a deleted one", async () => {
      const [first, second] = [await made("/api/invitation", {}), await made("/api/invitation", {})];
      const [, proof] = (await linkOf(first)).split(".");
      expect(detail(await accept(`${second}.${proof}`, { name: "X", email: "x@ejemplo.es", password }))).toBe(gone);
      const token = await linkOf(second);
      await api.db
        .updateTable("invitations")
        .set({ expiresAt: Date.now() - 1 })
        .where("id", "=", second)
        .execute();
      expect(detail(await accept(token, { name: "X", email: "x@ejemplo.es", password }))).toBe(gone);
      const third = await linkOf(first);
      await api.call("DELETE", `/api/invitation/${first}`, { token: admin.token });
      expect(detail(await accept(third, { name: "X", email: "x@ejemplo.es", password }))).toBe(gone);
    });
  });
}
