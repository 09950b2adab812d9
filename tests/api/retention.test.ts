import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkAudit } from "../../app/db/audit/check.server.ts";
import { sealAudit } from "../../app/db/audit/seal.server.ts";
import { deleteDue } from "../../app/retention/delete-due.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

const day = 24 * 60 * 60_000;
type Due = { total: number; items: { id: string; name: string }[] };

for (const engine of await queryEngines()) {
  describe(`retention on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let berta: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
    });
    afterAll(() => api.close());
    beforeEach(async () => {
      await api.db.deleteFrom("retentions").execute();
      await api.db.deleteFrom("holds").execute();
      await api.db.deleteFrom("chats").execute();
    });

    const made = async (path: string, json: object, token = admin.token) => {
      const answer = await api.call("POST", path, { token, json });
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.body as { id: string }).id;
    };
    const rule = (json: object) => made("/api/retention", json);
    const chat = async (title: string, age: number, { token } = ana, more: object = {}) => {
      const id = await made("/api/chat", { title }, token);
      await api.db
        .updateTable("chats")
        .set({ lastMessageAt: Date.now() - age * day, ...more })
        .where("id", "=", id)
        .execute();
      return id;
    };
    /** The hourly job, as if it ran two days from now: rules begin after one. */
    const run = () => deleteDue(api.services, Date.now() + 2 * day, new AbortController().signal);
    const titles = async ({ token } = admin) =>
      ((await api.call("GET", "/api/chat", { token })).body as { items: { title: string }[] }).items
        .map(({ title }) => title)
        .sort();

    it("deletes old chats a day after saving the rule", async () => {
      await chat("Vieja", 40);
      await chat("Nueva", 5);
      await chat("Fijada", 40, ana, { pinned: 1 });
      const id = await rule({ kind: "chats", days: 30 });
      const due = (await api.call("GET", `/api/retention/${id}/due`, { token: admin.token })).body as Due;
      expect([due.total, due.items.map(({ name }) => name)]).toEqual([1, ["Vieja"]]);
      await deleteDue(api.services, Date.now(), new AbortController().signal);
      expect(await titles()).toEqual(["Fijada", "Nueva", "Vieja"]);
      await run();
      expect(await titles()).toEqual(["Fijada", "Nueva"]);
      const told = await api.db.selectFrom("audit").where("action", "=", "retention").select("changes").execute();
      expect(JSON.parse(told.at(-1)?.changes ?? "{}")).toMatchObject({
        before: { days: 30, count: 1, ids: [due.items[0]?.id] },
      });
      await api.call("PUT", `/api/retention/${id}`, {
        token: admin.token,
        json: { kind: "chats", days: 30, keepsPinned: false },
      });
      await run();
      expect(await titles()).toEqual(["Nueva"]);
    });

    it("is stricter for a group than for all", async () => {
      const groupId = await made("/api/group", { name: "Legal" });
      await made("/api/member", { groupId, userId: berta.id });
      await rule({ kind: "chats", days: 365 });
      await rule({ kind: "chats", days: 10, groupId });
      await chat("De Ana", 20);
      await chat("De Berta", 20, berta);
      await run();
      expect(await titles()).toEqual(["De Ana"]);
      const seen = async ({ token }: Account) =>
        ((await api.call("GET", "/api/retention", { token })).body as { items: { days: number }[] }).items.length;
      expect([await seen(ana), await seen(berta)]).toEqual([1, 2]);
    });

    it("deletes nothing of a person until the hold is lifted", async () => {
      const id = await chat("Vieja", 40);
      const [start] = await api.converse(ana.token, { content: "Hola" });
      if (start?.type !== "start") throw new Error("no start");
      const upload = await api.upload(ana.token, [new File(["Hola"], "hola.txt")]);
      const [file] = (upload.body as { items: { id: string }[] }).items;
      const project = await made("/api/project", { name: "Tesis" }, ana.token);
      await rule({ kind: "chats", days: 30 });
      const hold = await made("/api/hold", { userId: ana.id, reason: "Un juicio" });
      await run();
      expect(await titles()).toContain("Vieja");
      for (const path of [`chat/${id}`, `message/${start.messageId}`, `file/${file?.id}`, `project/${project}`]) {
        const own = await api.call("DELETE", `/api/${path}`, { token: ana.token });
        expect([path, own.status]).toEqual([path, 409]);
        expect((own.body as { detail: string }).detail).toContain("ha suspendido el borrado de lo tuyo");
        expect((await api.call("DELETE", `/api/${path}`, { token: admin.token })).status).toBe(409);
      }
      const account = await api.call("DELETE", `/api/user/${ana.id}`, {
        token: ana.token,
        json: { currentPassword: password },
      });
      expect(account.status).toBe(409);
      await api.call("DELETE", `/api/hold/${hold}`, { token: admin.token });
      await run();
      expect(await titles()).not.toContain("Vieja");
      expect((await api.call("DELETE", `/api/file/${file?.id}`, { token: ana.token })).status).toBe(204);
    });

    it("deletes files with their bytes, and days of use", async () => {
      const upload = await api.upload(ana.token, [new File(["Hola"], "hola.txt")]);
      const id = (upload.body as { items: { id: string }[] }).items[0]?.id ?? "";
      await api.db
        .updateTable("files")
        .set({ createdAt: Date.now() - 20 * day })
        .where("id", "=", id)
        .execute();
      const written = await made("/api/artifact", { title: "Acta", text: "Hola" }, ana.token);
      await made("/api/artifact", { title: "De hoy", text: "Hola" }, ana.token);
      await api.db
        .updateTable("artifacts")
        .set({ updatedAt: Date.now() - 20 * day })
        .where("id", "=", written)
        .execute();
      await api.converse(ana.token, { content: "Hola" });
      await api.db.updateTable("usage").set({ day: "2020-01-01" }).execute();
      const files = await rule({ kind: "files", days: 10 });
      const due = (await api.call("GET", `/api/retention/${files}/due`, { token: admin.token })).body as Due;
      expect([due.total, due.items.map(({ name }) => name)]).toEqual([2, ["hola.txt", "Acta"]]);
      await rule({ kind: "usage", days: 31 });
      await run();
      expect((await api.call("GET", `/api/file/${id}`, { token: ana.token })).status).toBe(404);
      expect(await api.services.storage.stream(id, "original")).toBeUndefined();
      const { items } = (await api.call("GET", "/api/artifact", { token: ana.token })).body as {
        items: { title: string }[];
      };
      expect(items.map(({ title }) => title)).toEqual(["De hoy"]);
      expect(await api.db.selectFrom("usage").where("day", "=", "2020-01-01").selectAll().execute()).toEqual([]);
    });

    it("cuts old audit entries and keeps the remaining chain valid", async () => {
      const { db, engine: kind, auditKey } = api.services;
      await sealAudit(db, kind, auditKey);
      const rows = await db
        .selectFrom("audit")
        .where("seq", "is not", null)
        .orderBy("seq")
        .select(["id", "seq"])
        .execute();
      const half = Number(rows[Math.floor(rows.length / 2)]?.seq);
      await db
        .updateTable("audit")
        .set({ createdAt: Date.now() - 90 * day })
        .where("seq", "<", half)
        .execute();
      await rule({ kind: "audit", days: 60 });
      const refused = await api.call("POST", "/api/retention", {
        token: admin.token,
        json: { kind: "audit", days: 60 },
      });
      expect(refused.status).toBe(422);
      await run();
      const left = await db.selectFrom("audit").where("seq", "<", half).selectAll().execute();
      expect(left).toEqual([]);
      await sealAudit(db, kind, auditKey);
      // The times were changed above to make them old, which the deleted rows alone would show.
      expect((await checkAudit(db, auditKey)).problems).toEqual([]);
    });

    it("refuses rules that can't be meant", async () => {
      const errors = async (json: object) => {
        const answer = await api.call("POST", "/api/retention", { token: admin.token, json });
        return [answer.status, Object.keys((answer.body as { errors: object }).errors ?? {})];
      };
      expect(await errors({ kind: "chats", days: 0 })).toEqual([422, ["days"]]);
      expect(await errors({ kind: "usage", days: 30 })).toEqual([422, ["days"]]);
      expect(await errors({ kind: "todo", days: 1 })).toEqual([422, ["kind"]]);
      const groupId = await made("/api/group", { name: "Otra" });
      expect(await errors({ kind: "audit", days: 1, groupId })).toEqual([422, ["groupId"]]);
      expect(await errors({ kind: "chats", days: 1, groupId: ana.id })).toEqual([422, ["groupId"]]);
    });
  });
}
