import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

for (const engine of await ruleEngines()) {
  describe(`terms on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
    });
    afterAll(() => api.close());

    const page = { slug: "uso", title: "Condiciones de uso", body: "Sé amable.", published: true, mustAccept: true };
    const chats = async (token = ana.token) => (await api.call("GET", "/api/chat", { token })).status;
    const terms = async () =>
      (await api.call("GET", "/api/terms", { token: ana.token })).body as { version: number; owed: boolean };
    const accept = async (version: number) =>
      (await api.call("POST", "/api/terms", { token: ana.token, json: { version } })).status;

    it("require acceptance before use, also for keys and after changes", async () => {
      const key = await api.call("POST", "/api/key", { token: ana.token, json: { name: "uno", scope: "read" } });
      const { token: program } = key.body as { token: string };
      expect([await chats(), await chats(program)]).toEqual([200, 200]);
      const made = await api.call("POST", "/api/page", { token: admin.token, json: page });
      const { id } = made.body as { id: string };
      expect([await chats(), await chats(program)]).toEqual([403, 403]);
      const refused = await api.call("GET", "/api/chat", { token: ana.token });
      expect((refused.body as { detail: string }).detail).toContain("aceptar las condiciones");
      const first = await terms();
      expect(first.owed).toBe(true);
      expect(await accept(first.version - 1)).toBe(409);
      expect(await chats()).toBe(403);
      expect(await accept(first.version)).toBe(204);
      expect([await chats(), await chats(program)]).toEqual([200, 200]);

      await api.call("POST", "/api/terms", { token: admin.token, json: { version: first.version } });
      const change = (json: object) =>
        api.call("PUT", `/api/page/${id}`, { token: admin.token, json: { ...page, ...json } });
      await change({ position: 7, description: "Para buscadores" });
      expect(await chats()).toBe(200);
      await change({ body: "Sé muy amable." });
      expect(await chats()).toBe(403);
      expect(await accept(first.version)).toBe(409);
      expect(await accept((await terms()).version)).toBe(204);
      expect(await chats()).toBe(200);
      await change({ body: "Otra cosa.", published: false });
      expect(await chats()).toBe(200);
      await change({ body: "Otra cosa." });
      expect(await chats()).toBe(403);
      await api.call("DELETE", `/api/page/${id}`, { token: admin.token });
      expect(await chats()).toBe(200);
      const told = await api.db
        .selectFrom("audit")
        .where("action", "=", "accept")
        .where("actorId", "=", ana.id)
        .selectAll()
        .execute();
      expect(told.map(({ actorId }) => actorId)).toEqual([ana.id, ana.id]);
    });

    it("leave session data readable before acceptance", async () => {
      const made = await api.call("POST", "/api/page", { token: admin.token, json: { ...page, slug: "otras" } });
      const { id } = made.body as { id: string };
      expect((await api.call("GET", "/auth/session", { token: ana.token })).status).toBe(200);
      expect((await api.call("GET", "/auth/sessions", { token: ana.token })).status).toBe(200);
      const { version } = await terms();
      expect((await api.call("POST", "/api/terms", { token: admin.token, json: { version } })).status).toBe(204);
      expect((await api.call("DELETE", `/api/page/${id}`, { token: admin.token })).status).toBe(204);
    });
  });
}
