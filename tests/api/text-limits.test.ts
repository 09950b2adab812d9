import { createHash } from "node:crypto";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";

for (const engine of await ruleEngines()) {
  describe(`text on ${engine.name}`, () => {
    let models: LLMock;
    let api: Api;
    let admin: Account;
    let modelId: string;
    beforeAll(async () => {
      models = await startModelServer();
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      const json = { name: "Uno", provider: "openai-compatible", externalId: "x", baseUrl: `${models.url}/v1` };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    });
    afterAll(async () => {
      await api.close();
      await models.stop();
    });

    const stored = async (token: string) =>
      ((await api.call("GET", "/auth/session", { token })).body as { usage: { storedBytes: number } }).usage
        .storedBytes;
    const withPlan = async (storageMb: number) => {
      const ana = await api.signUp("Ana");
      const json = { userId: ana.id, plan: "pro", startsAt: new Date().toISOString(), storageMb };
      expect((await api.call("POST", "/api/subscription", { token: admin.token, json })).status).toBe(201);
      return ana;
    };

    it("is counted in bytes through edits and deletions (guard: textUse)", async () => {
      const { token } = await api.signUp("Ana");
      expect(await stored(token)).toBe(0);
      const chunks = await api.converse(token, { content: "Año", modelId });
      const start = chunks.find((chunk) => chunk.type === "start");
      const answer = Buffer.byteLength("Una respuesta **breve**. Con dos frases.");
      expect(await stored(token)).toBe(4 + answer);
      const path = `/api/message/${start?.userMessageId}`;
      await api.call("PATCH", path, { token, json: { content: "Un año" } });
      expect(await stored(token)).toBe(7 + answer);
      await api.call("DELETE", `/api/message/${start?.messageId}`, { token });
      expect(await stored(token)).toBe(7);
      await api.call("DELETE", `/api/chat/${start?.chatId}`, { token });
      expect(await stored(token)).toBe(0);
    });

    it("beyond the plan is refused and not stored (guard: refuseTextBeyondPlan)", async () => {
      const { token } = await withPlan(1);
      const content = `Texto ${"x".repeat(31_000)}`;
      const exported = (name: string, text: string) =>
        new File([JSON.stringify({ title: name, messages: [{ id: "1", role: "user", content: text }] })], "a.json");
      const bringIn = (file: File) => api.upload(token, [file], {}, "/api/chat/import");
      const before = exported("De antes", content);
      expect((await bringIn(before)).status).toBe(201);
      const chat = (await api.call("POST", "/api/chat", { token, json: {} })).body as { id: string };
      const post = () => api.call("POST", "/api/message", { token, json: { chatId: chat.id, content } });
      let last = await post();
      for (let n = 1; n < 40 && last.status === 201; n++) last = await post();
      expect([last.status, (last.body as { detail: string }).detail]).toEqual([
        422,
        "Tu plan guarda 1 MB y ya no cabe más. Borra archivos o conversaciones que no necesites.",
      ]);
      expect(await stored(token)).toBeLessThanOrEqual(1024 * 1024);
      const asked = await api.call("POST", "/api/intelligence/conversation", { token, json: { content, modelId } });
      expect(asked.status).toBe(422);
      const imported = await bringIn(exported("Uno", `${content} y más`));
      expect([imported.status, (imported.body as { detail: string }).detail]).toEqual([
        422,
        "«Uno» ya no cabe en tu plan, que guarda 1 MB; las anteriores se han importado.",
      ]);
      // Text that is there already takes no more room.
      expect((await bringIn(before)).body).toMatchObject({ chats: 0, known: 1 });
    });

    it("is not written faster than anybody writes (guard: message)", async () => {
      const { token } = await api.signUp("Ana");
      const chat = (await api.call("POST", "/api/chat", { token, json: {} })).body as { id: string };
      const statuses: number[] = [];
      for (let n = 0; n < 121; n++) {
        statuses.push(
          (await api.call("POST", "/api/message", { token, json: { chatId: chat.id, content: "Hola" } })).status,
        );
      }
      expect(statuses.filter((status) => status === 201)).toHaveLength(120);
      expect(statuses.at(-1)).toBe(429);
    });

    it("resent after reply deletion gets a new reply (guard: findSent)", async () => {
      const { token } = await api.signUp("Ana");
      const json = { content: "Hola", key: "una", modelId };
      const first = (await api.converse(token, json)).find((chunk) => chunk.type === "start");
      await api.call("DELETE", `/api/message/${first?.messageId}`, { token });
      const again = (await api.converse(token, json)).find((chunk) => chunk.type === "start");
      expect(again?.chatId).toBe(first?.chatId);
      expect(again?.messageId).not.toBe(first?.messageId);
      const { items } = (await api.call("GET", `/api/chat/${first?.chatId}/messages`, { token })).body as {
        items: object[];
      };
      expect(items).toHaveLength(2);
    });

    it("leaves no guessable hash of a new password (guard: createHmac)", async () => {
      const json = { name: "Berta", email: "berta@ejemplo.es", password: "una frase que nadie adivina" };
      const headers = { "Idempotency-Key": "uno" };
      expect((await api.call("POST", "/api/user", { token: admin.token, json, headers })).status).toBe(201);
      const again = await api.call("POST", "/api/user", { token: admin.token, json, headers });
      expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([201, "true"]);
      const [row] = await api.db.selectFrom("idempotency").where("key", "=", "uno").selectAll().execute();
      const fast = createHash("sha256")
        .update(`/api/user\n${JSON.stringify(json)}`)
        .digest("base64url");
      expect(JSON.stringify(row)).not.toContain(fast);
      expect(JSON.stringify(row)).not.toContain("adivina");
    });
  });
}
