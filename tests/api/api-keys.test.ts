import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

type Key = { id: string; token: string; start: string; lastUsedAt: string | null };

for (const engine of await ruleEngines()) {
  describe(`keys for programs on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    let berta: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
    });
    afterAll(() => api.close());

    const make = async (scope: "read" | "write", { token } = ana) => {
      const answer = await api.call("POST", "/api/key", { token, json: { name: "Mi programa", scope } });
      expect(answer.status).toBe(201);
      return answer.body as Key;
    };

    it("is shown once, then known by its first letters, and what is stored opens nothing", async () => {
      const { id, token, start } = await make("write");
      expect(token).toMatch(/^ter_[\w-]{43}$/);
      expect(token.startsWith(start)).toBe(true);
      const list = await api.call("GET", "/api/key", { token: ana.token });
      expect(list.text).not.toContain(token);
      expect(list.body).toEqual({ items: [expect.objectContaining({ id, start, scope: "write", lastUsedAt: null })] });
      const row = await api.db.selectFrom("apiKeys").where("id", "=", id).selectAll().executeTakeFirstOrThrow();
      expect(JSON.stringify(row)).not.toContain(token.slice(10));
      const trail = await api.db.selectFrom("audit").where("resourceId", "=", id).selectAll().execute();
      expect(trail.map(({ action }) => action)).toEqual(["create"]);
      expect(JSON.stringify(trail)).not.toContain(token);
    });

    it("reads and writes as its person, and says when it was last used", async () => {
      const { token } = await make("write");
      expect(textOf(await api.converse(token, { content: "Hola" }))).toContain("asistente local");
      const chats = await api.call("GET", "/api/chat", { token: ana.token });
      expect((chats.body as { total: number }).total).toBe(1);
      const { items } = (await api.call("GET", "/api/key", { token: ana.token })).body as { items: Key[] };
      expect(Date.parse(items[0]?.lastUsedAt ?? "")).toBeGreaterThan(Date.now() - 60_000);
    });

    it("only reads where it may only read", async () => {
      const { token } = await make("read");
      expect((await api.call("GET", "/api/chat", { token })).status).toBe(200);
      const answer = await api.call("POST", "/api/chat", { token, json: { title: "Nuevo" } });
      expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([403, "Esta clave solo puede leer."]);
    });

    it("can't sign in, nor change how its person does, nor make keys, nor copy everything (guard: noProgram)", async () => {
      const { token } = await make("write");
      const { paths } = (await api.call("GET", "/api/openapi.json")).body as {
        paths: Record<string, Record<string, { security?: object[] }>>;
      };
      const forPeople = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([, { security }]) => security)
          .filter(
            ([method]) =>
              // Whose key it is, a program may know.
              (/^\/(auth|api\/(key|system))(\/|$)/.test(path) && path !== "/auth/person") ||
              (/^\/api\/user/.test(path) && method !== "get"),
          )
          .map(([method]) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, ana.id)}`),
      );
      expect(forPeople.length).toBeGreaterThan(15);
      const letIn: string[] = [];
      for (const call of forPeople) {
        const [method = "", path = ""] = call.split(" ");
        const { status, body } = await api.call(method, path, { token });
        if (status !== 403 || !(body as { detail: string }).detail.includes("no con una clave")) letIn.push(call);
      }
      expect(letIn).toEqual([]);
    });

    it("is no session: nothing temporary begins with it", async () => {
      const { token } = await make("write");
      const json = { content: "Hola", temporary: true };
      expect((await api.call("POST", "/api/intelligence/conversation", { token, json })).status).toBe(422);
    });

    it("is nobody else's, and ends when it is deleted or its account is", async () => {
      const { id, token } = await make("read");
      expect((await api.call("DELETE", `/api/key/${id}`, { token: berta.token })).status).toBe(404);
      expect((await api.call("DELETE", `/api/key/${id}`, { token: ana.token })).status).toBe(204);
      expect((await api.call("GET", "/api/chat", { token })).status).toBe(401);
      const bertas = await make("read", berta);
      await api.db.updateTable("users").set({ status: "inactive" }).where("id", "=", berta.id).execute();
      expect((await api.call("GET", "/api/chat", { token: bertas.token })).status).toBe(403);
      await api.db.deleteFrom("users").where("id", "=", berta.id).execute();
      expect((await api.call("GET", "/api/chat", { token: bertas.token })).status).toBe(401);
    });

    it("refuses more than there is room for, and what is no key", async () => {
      const carla = await api.signUp("Carla");
      for (let n = 0; n < 20; n++) await make("read", carla);
      const answer = await api.call("POST", "/api/key", { token: carla.token, json: { name: "Otra", scope: "read" } });
      expect([answer.status, (answer.body as { detail: string }).detail]).toEqual([
        422,
        "Puedes tener 20 claves; elimina antes alguna.",
      ]);
      for (const json of [{ name: "", scope: "read" }, { name: "x", scope: "all" }, { name: "x" }, []]) {
        expect((await api.call("POST", "/api/key", { token: carla.token, json })).status).toBe(422);
      }
      for (const token of ["ter_", "ter_x", `ter_${"x".repeat(43)}`]) {
        expect((await api.call("GET", "/api/chat", { token })).status).toBe(401);
      }
    });
  });
}
