import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type AuditEvent, appendAudit } from "../../app/db/audit/append.server.ts";
import { checkAudit } from "../../app/db/audit/check.server.ts";
import { openKeys } from "../../app/db/audit/keys.server.ts";
import { allowCut, detailsOf, sealAudit, sealOf } from "../../app/db/audit/seal.server.ts";
import { reencrypt, secretKeys } from "../../app/db/stored-secrets.server.ts";
import { encrypt } from "../../app/process/crypto.server.ts";
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
      for (const table of ["audit", "sealKeys", "erasures"] as const) await api.db.deleteFrom(table).execute();
      for (const name of ["Uno", "Dos", "Tres", "Cuatro"]) {
        const json = { name: `${name} ${randomBytes(4).toString("hex")}` };
        await api.call("POST", "/api/group", { token: admin.token, json });
      }
    });

    const append = (event: AuditEvent) => api.db.transaction().execute((trx) => appendAudit(trx, event));
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

    it("detects a changed row, including its details and address", async () => {
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

    it("detects missing rows in the middle, beginning and end", async () => {
      const { last } = await check();
      await api.db.deleteFrom("audit").where("seq", "=", 3).execute();
      expect((await check()).problems).toEqual(["Faltan los apuntes del 3 al 3."]);
      await api.db.deleteFrom("audit").where("seq", "=", 1).execute();
      expect((await check()).problems[0]).toMatch(/^Faltan los apuntes del 1 al 1, sin que conste/);
      await api.db.deleteFrom("audit").where("seq", "in", [2, 4]).execute();
      const { problems } = await checkAudit(api.db, api.services.auditKey, last);
      expect(problems).toContain("El apunte 4, que se anotó, ya no está: faltan los últimos.");
    });

    it("detects missing last rows without a noted seal", async () => {
      await check();
      await api.db.deleteFrom("audit").where("seq", ">=", 3).execute();
      const gone = "Faltan los últimos: se selló hasta el apunte 4, y acaba en el 2.";
      expect((await check()).problems).toEqual([gone]);
      for (let n = 0; n < 4; n++) await append({ action: "create", resource: "group" });
      expect((await check()).problems).toEqual(["Faltan los apuntes del 3 al 4."]);
    });

    it("detects an emptied trail or a removed last-row signature", async () => {
      await check();
      const rows = await api.db.selectFrom("audit").selectAll().execute();
      await api.db.deleteFrom("audit").execute();
      expect((await check()).problems).toEqual(["Faltan los últimos: se selló hasta el apunte 4, y acaba en el 0."]);
      await api.db.insertInto("audit").values(rows).execute();
      expect((await check()).problems).toEqual([]);
      await api.db.deleteFrom("audit").where("seq", "=", 4).execute();
      for (const head of [null, `3 ${rows.find(({ seq }) => Number(seq) === 3)?.hash} firma`]) {
        await api.db.updateTable("sealKeys").set({ head }).execute();
        await append({ action: "create", resource: "group" });
        expect((await check()).problems).toEqual(["La firma del último apunte no es la que se puso."]);
      }
    });

    it("detects a signing key removed and restored around a cut", async () => {
      await check();
      const { id, key } = await api.db.selectFrom("sealKeys").selectAll().executeTakeFirstOrThrow();
      const setKey = (key: string) => api.db.updateTable("sealKeys").set({ key }).where("id", "=", id).execute();
      await setKey("x");
      await api.db.deleteFrom("audit").where("seq", ">=", 3).execute();
      await append({ action: "create", resource: "group" });
      await check();
      await setKey(key);
      expect((await check()).problems).toEqual([
        "Hay más de una clave que firma: alguien ha quitado y vuelto a poner la de antes.",
        "Faltan los últimos: se selló hasta el apunte 4, y acaba en el 3.",
      ]);
    });

    it("detects rows with an impossible sequence number", async () => {
      await check();
      await append({ action: "delete", resource: "user", resourceId: admin.id });
      await api.db.updateTable("audit").set({ seq: 0, hash: "x" }).where("seq", "is", null).execute();
      expect((await check()).problems).toEqual(["Hay apuntes con un número que no se da."]);
    });

    it("detects a cut justified only by a forged retention entry", async () => {
      const { last } = await check();
      const through = await api.db.selectFrom("audit").where("seq", "=", 3).select("hash").executeTakeFirstOrThrow();
      const before = { through: { seq: 3, hash: through.hash } };
      await append({ action: "retention", resource: "audit", changes: { before } });
      await check();
      await api.db.deleteFrom("audit").where("seq", "<=", 3).execute();
      const cut = "Faltan los apuntes del 1 al 3, sin que conste que los borrara una regla de conservación.";
      expect((await check()).problems[0]).toBe(cut);
      await api.db
        .updateTable("sealKeys")
        .set({ cut: `3 ${through.hash} firma` })
        .execute();
      expect((await checkAudit(api.db, api.services.auditKey, last)).problems[0]).toBe(cut);
    });

    it("detects blanked details justified only by a forged deletion entry", async () => {
      await check();
      await append({ action: "delete", resource: "user", resourceId: admin.id });
      await row(2).set({ changes: "{}", ip: "" }).execute();
      expect((await check()).problems).toEqual(["Los detalles del apunte 2 no son los que se sellaron."]);
      const now = Date.now();
      const mark = { id: "x", createdAt: now, updatedAt: now, personId: admin.id, mark: "x firma" };
      await api.db.insertInto("erasures").values(mark).execute();
      expect((await check()).problems).toEqual(["Los detalles del apunte 2 no son los que se sellaron."]);
    });

    it("adopts the trail of an older version, then requires signatures", async () => {
      await check();
      // The key of an older version: bound to its id alone.
      const { auditKey } = api.services;
      const [key] = await openKeys(api.db, auditKey);
      if (!key) throw new Error("no key");
      const older = encrypt(key.key.toString("base64"), auditKey, key.id);
      await api.db.updateTable("sealKeys").set({ key: older, adopted: null, head: null, cut: null }).execute();
      const [ana, eva] = [crypto.randomUUID(), crypto.randomUUID()];
      for (const actorId of [ana, eva])
        await append({ actorId, action: "signin", resource: "session", ip: "10.0.0.1" });
      await append({ action: "delete", resource: "user", resourceId: ana });
      const sealed = await api.db.selectFrom("audit").where("seq", "=", 1).selectAll().executeTakeFirstOrThrow();
      const before = { through: { seq: 1, hash: sealed.hash } };
      await append({ action: "retention", resource: "audit", changes: { before } });
      await sealAs(key.key, key.id);
      await api.db.deleteFrom("audit").where("seq", "=", 1).execute();
      await api.db.updateTable("audit").set({ ip: "" }).where("actorId", "=", ana).execute();
      expect((await checkAudit(api.db, auditKey)).problems).toEqual([]);
      await append({ action: "create", resource: "group" });
      expect((await check()).problems).toEqual([]);
      await append({ action: "delete", resource: "user", resourceId: eva });
      await check();
      await api.db.updateTable("audit").set({ ip: "" }).where("actorId", "=", eva).execute();
      expect((await check()).problems).toEqual(["Los detalles del apunte 6 no son los que se sellaron."]);
      await api.db.deleteFrom("audit").where("seq", "=", 2).execute();
      expect((await check()).problems[0]).toMatch(/^Faltan los apuntes del 1 al 2, sin que conste/);
      await api.db.deleteFrom("sealKeys").where("adopted", ">=", 0).execute();
      expect((await check()).problems[0]).toBe("Falta la clave con la que se firma.");
    });

    /** Seals what is new with one key, as an older version did. */
    async function sealAs(key: Buffer, sealKeyId: string) {
      const last = await api.db
        .selectFrom("audit")
        .where("seq", "is not", null)
        .orderBy("seq", "desc")
        .select(["seq", "hash"])
        .executeTakeFirstOrThrow();
      let { seq, hash } = { seq: Number(last.seq), hash: last.hash ?? "" };
      const rows = await api.db.selectFrom("audit").where("seq", "is", null).orderBy("createdAt").orderBy("id");
      for (const one of await rows.selectAll().execute()) {
        const details = detailsOf(key, one);
        seq += 1;
        hash = sealOf(key, hash, seq, one, details);
        await api.db.updateTable("audit").set({ seq, hash, details, sealKeyId }).where("id", "=", one.id).execute();
      }
    }

    it("fits while retention is deleting its beginning", async () => {
      const { last } = await check();
      await allowCut(api.db, api.services.engine, api.services.auditKey, { seq: 3, hash: "x" });
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

    it("stays valid when a deleted account loses its details", async () => {
      const ana = await api.signUp("Ana");
      await api.call("POST", "/auth/signin", { json: { email: ana.email, password } });
      await check();
      const deleted = await api.call("DELETE", `/api/user/${ana.id}`, { token: admin.token });
      expect(deleted.status).toBe(204);
      const rows = await api.db.selectFrom("audit").where("actorId", "=", ana.id).select(["changes", "ip"]).execute();
      expect(rows.every(({ changes, ip }) => changes === "{}" && ip === "")).toBe(true);
      expect((await check()).problems).toEqual([]);
    });

    const onPostgres = engine.name === "postgres" ? it : () => {};
    onPostgres("lets an account be deleted while another process seals", async () => {
      const eva = await api.signUp("Eva");
      const lock = 74_110_018;
      let deleting: ReturnType<Api["call"]> | undefined;
      await api.db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(${lock})`.execute(trx);
        deleting = api.call("DELETE", `/api/user/${eva.id}`, { token: admin.token });
        await vi.waitFor(async () => {
          const waits = sql`select 1 from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted`;
          expect((await waits.execute(trx)).rows).toHaveLength(1);
        }, 10_000);
        // As the one that seals does, row by row.
        await trx.updateTable("audit").set({ details: "x" }).where("resourceId", "=", eva.id).execute();
        await trx.updateTable("audit").set({ details: null }).where("resourceId", "=", eva.id).execute();
      });
      expect((await deleting)?.status).toBe(204);
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
