import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { appendAudit } from "../../app/db/audit/append.server.ts";
import { checkAudit } from "../../app/db/audit/check.server.ts";
import { sealAudit } from "../../app/db/audit/seal.server.ts";
import { reencrypt, secretKeys } from "../../app/db/stored-secrets.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

type Check = { sealed: number; last: { seq: number; hash: string }; problems: string[] };

for (const engine of await queryEngines()) {
  describe(`the chain of the audit trail on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
    });
    afterAll(() => api.close());
    beforeEach(async () => {
      await api.db.deleteFrom("audit").execute();
      for (const name of ["Uno", "Dos", "Tres", "Cuatro"]) {
        const json = { name: `${name} ${randomBytes(4).toString("hex")}` };
        await api.call("POST", "/api/group", { token: admin.token, json });
      }
    });

    const check = async () => (await api.call("POST", "/api/audit/check", { token: admin.token })).body as Check;
    const row = (seq: number) => api.db.updateTable("audit").where("seq", "=", seq);

    it("is as it was sealed, and says its last seal", async () => {
      const { sealed, problems, last } = await check();
      expect([sealed, problems, last.seq]).toEqual([4, [], 4]);
      const { items } = (await api.call("GET", "/api/audit", { token: admin.token })).body as {
        items: { seq: number; hash: string }[];
      };
      expect(items.map(({ seq }) => seq).sort()).toEqual([1, 2, 3, 4]);
      expect(items.find(({ seq }) => seq === 4)?.hash).toBe(last.hash);
      expect(JSON.stringify(items)).not.toContain("sealKeyId");
    });

    it("shows a row that was changed, in each of its columns", async () => {
      await check();
      await row(2).set({ actorId: null }).execute();
      expect((await check()).problems).toEqual(["El apunte 2 no es el que se selló."]);
      await row(2).set({ actorId: admin.id }).execute();
      expect((await check()).problems).toEqual([]);
      await row(3).set({ changes: "{}" }).execute();
      await row(4).set({ ip: "10.0.0.1" }).execute();
      expect((await check()).problems).toEqual([
        "Los detalles del apunte 3 no son los que se sellaron.",
        "Los detalles del apunte 4 no son los que se sellaron.",
      ]);
    });

    it("shows rows that are gone: in between, at the beginning, and at the end by a seal that was noted", async () => {
      const { last } = await check();
      await api.db.deleteFrom("audit").where("seq", "=", 3).execute();
      expect((await check()).problems).toEqual(["Faltan los apuntes del 3 al 3."]);
      await api.db.deleteFrom("audit").where("seq", "=", 1).execute();
      expect((await check()).problems[0]).toMatch(/^Faltan los apuntes del 1 al 1, sin que conste/);
      await api.db.deleteFrom("audit").where("seq", "in", [2, 4]).execute();
      const { problems } = await checkAudit(api.db, api.services.auditKey, last);
      expect(problems).toEqual(["El apunte 4, que se anotó, ya no está: faltan los últimos."]);
    });

    it("fits while retention is deleting its beginning", async () => {
      const { last } = await check();
      const before = { through: { seq: 3, hash: "x" } };
      await appendAudit(api.db, { action: "retention", resource: "audit", changes: { before } });
      await api.db.deleteFrom("audit").where("seq", "<=", 2).execute();
      expect((await check()).problems).toEqual([]);
      expect(last.seq).toBe(4);
    });

    it("can't be sealed anew without the secret", async () => {
      await check();
      await row(2).set({ actorId: null }).execute();
      await api.db.updateTable("audit").set({ seq: null, hash: null, details: null, sealKeyId: null }).execute();
      const stranger = secretKeys("otro secreto".repeat(4)).auditKey;
      await sealAudit(api.db, api.services.engine, stranger);
      expect((await check()).problems[0]).toBe("El apunte 1 se selló con otro secreto, y no se puede comprobar.");
      await api.db.deleteFrom("sealKeys").execute();
    });

    it("keeps fitting when an account is deleted, whose details go with it", async () => {
      const ana = await api.signUp("Ana");
      await api.call("POST", "/auth/signin", { json: { email: ana.email, password } });
      await check();
      const deleted = await api.call("DELETE", `/api/user/${ana.id}`, { token: admin.token });
      expect(deleted.status).toBe(204);
      const rows = await api.db.selectFrom("audit").where("actorId", "=", ana.id).select(["changes", "ip"]).execute();
      expect(rows.every(({ changes, ip }) => changes === "{}" && ip === "")).toBe(true);
      expect((await check()).problems).toEqual([]);
    });

    it("has one order where several processes seal at once", async () => {
      const sealers = Array.from({ length: 4 }, () => sealAudit(api.db, api.services.engine, api.services.auditKey));
      await Promise.all(sealers);
      const rows = await api.db.selectFrom("audit").orderBy("seq").select("seq").execute();
      expect(rows.map(({ seq }) => Number(seq))).toEqual([1, 2, 3, 4]);
      expect((await checkAudit(api.db, api.services.auditKey)).problems).toEqual([]);
    });

    it("can be checked after the master secret was changed", async () => {
      await check();
      const [from, to] = [secretKeys("s".repeat(32)), secretKeys("n".repeat(32))];
      await reencrypt(api.db, from, to);
      expect((await checkAudit(api.db, to.auditKey)).problems).toEqual([]);
      expect((await checkAudit(api.db, from.auditKey)).problems).not.toEqual([]);
    });
  });
}
