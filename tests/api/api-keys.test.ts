import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

/** All that a program may write with a key of an administrator. */
const programsWrite = [
  "delete /api/artifact/{id}",
  "delete /api/assistant/{id}",
  "delete /api/batch/{id}",
  "delete /api/chat/{id}",
  "delete /api/errand/{id}",
  "delete /api/file/{id}",
  "delete /api/message/{id}",
  "delete /api/message/{id}/opinion",
  "delete /api/notice/{id}",
  "delete /api/page/{id}",
  "delete /api/project/{id}",
  "delete /api/schedule/{id}",
  "delete /api/skill/{id}",
  "delete /api/subscription/{id}",
  "delete /api/summary/{id}",
  "delete /api/template/{id}",
  "delete /api/training/{id}",
  "delete /responses/{id}",
  "patch /api/artifact/{id}",
  "patch /api/chat/{id}",
  "patch /api/errand/{id}",
  "patch /api/message/{id}",
  "patch /api/training/{id}",
  "post /api/artifact",
  "post /api/assistant",
  "post /api/batch",
  "post /api/batch/{id}/resume",
  "post /api/batch/{id}/stop",
  "post /api/chat",
  "post /api/chat/import",
  "post /api/chat/{id}/compared",
  "post /api/chat/{id}/copy",
  "post /api/chat/{id}/queued",
  "post /api/errand",
  "post /api/errand/{id}/start",
  "post /api/errand/{id}/stop",
  "post /api/file/uploads",
  "post /api/file/{id}/reading",
  "post /api/intelligence/conversation",
  "post /api/intelligence/conversation/{messageId}/notify",
  "post /api/intelligence/conversation/{messageId}/stop",
  "post /api/message",
  "post /api/message/{id}/decision",
  "post /api/notice",
  "post /api/notice/{id}/read",
  "post /api/opinion/{id}/try",
  "post /api/page",
  "post /api/project",
  "post /api/schedule",
  "post /api/skill",
  "post /api/skill/upload",
  "post /api/subscription",
  "post /api/summary",
  "post /api/template",
  "post /api/training",
  "post /api/voice/transcriptions",
  "post /audio/speech",
  "post /audio/transcriptions",
  "post /chat/completions",
  "post /embeddings",
  "post /images/generations",
  "post /messages",
  "post /messages/count_tokens",
  "post /ollama/api/chat",
  "post /ollama/api/embed",
  "post /ollama/api/embeddings",
  "post /ollama/api/show",
  "post /responses",
  "put /api/assistant/{id}",
  "put /api/message/{id}/opinion",
  "put /api/notice/{id}",
  "put /api/page/{id}",
  "put /api/project/{id}",
  "put /api/project/{id}/draft",
  "put /api/schedule/{id}",
  "put /api/skill/{id}",
  "put /api/subscription/{id}",
  "put /api/summary/{id}",
  "put /api/template/{id}",
];

type Key = { id: string; token: string; start: string; lastUsedAt: string | null };

for (const engine of await ruleEngines()) {
  describe(`keys for programs on ${engine.name}`, () => {
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

    const make = async (scope: "read" | "write", { token } = ana) => {
      const answer = await api.call("POST", "/api/key", { token, json: { name: "Mi programa", scope } });
      expect(answer.status).toBe(201);
      return answer.body as Key;
    };

    it("is shown once and never stored in the clear", async () => {
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

    it("reads and writes as its owner and records last use", async () => {
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

    it("of an administrator writes only through endpoints open to programs", async () => {
      const { token } = await make("write", admin);
      const { paths } = (await api.call("GET", "/api/openapi.json")).body as {
        paths: Record<string, Record<string, { security?: object[] }>>;
      };
      const calls = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([, { security }]) => security)
          .map(([method]) => `${method} ${path}`),
      );
      const letIn: string[] = [];
      for (const call of calls) {
        const [method = "", path = ""] = call.split(" ");
        const json = method === "get" ? {} : { json: {} };
        const { status, body } = await api.call(method.toUpperCase(), path.replace(/\{\w+\}/g, "nada"), {
          token,
          ...json,
        });
        if (status !== 403 || !(body as { detail: string }).detail.includes("no con una clave")) letIn.push(call);
      }
      const writes = letIn.filter((call) => !call.startsWith("get "));
      expect(writes.sort()).toEqual(programsWrite);
      expect(letIn.filter((call) => /^get \/(auth|api\/(key|system))(\/|$)/.test(call))).toEqual(["get /auth/person"]);
    });

    it("is no session: nothing temporary begins with it", async () => {
      const { token } = await make("write");
      const json = { content: "Hola", temporary: true };
      expect((await api.call("POST", "/api/intelligence/conversation", { token, json })).status).toBe(422);
    });

    it("is private and ends when deleted or with its account", async () => {
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

    it("refuses a twenty-first key, invalid fields and unknown keys", async () => {
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
