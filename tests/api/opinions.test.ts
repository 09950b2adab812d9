import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";

type Opinion = { id: string; useful: boolean; reason: string; question: string; reply: string; assistant: string };

for (const engine of await ruleEngines()) {
  describe(`opinions on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let model: Awaited<ReturnType<typeof startModelServer>>;
    let modelId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      model = await startModelServer();
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      const json = {
        name: "De prueba",
        provider: "openai-compatible",
        externalId: "prueba",
        baseUrl: `${model.url}/v1`,
      };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    });
    afterAll(async () => {
      await api.close();
      await model.stop();
    });

    const reply = async (more: object = {}) => {
      const [start] = await api.converse(ana.token, { content: "¿Qué es el tiempo?", modelId, ...more });
      if (start?.type !== "start") throw new Error("no start");
      return start;
    };
    const say = (messageId: string, json: object, token = ana.token) =>
      api.call("PUT", `/api/message/${messageId}/opinion`, { token, json });
    const listed = async (filter: object = {}) => {
      const query = `?filter=${encodeURIComponent(JSON.stringify(filter))}`;
      return ((await api.call("GET", `/api/opinion${query}`, { token: admin.token })).body as { items: Opinion[] })
        .items;
    };

    it("are given, changed, listed for administrators with context, and withdrawn", async () => {
      const { messageId, chatId } = await reply();
      expect((await say(messageId, { useful: true })).status).toBe(204);
      expect((await say(messageId, { useful: false, reason: "Se inventa la fecha." })).status).toBe(204);
      const [opinion, ...others] = await listed({ useful: false, modelId });
      expect(others).toEqual([]);
      expect(opinion).toMatchObject({ useful: false, reason: "Se inventa la fecha.", question: "¿Qué es el tiempo?" });
      expect(opinion?.reply).toContain("Con dos frases.");
      expect(await listed({ useful: true })).toEqual([]);
      const branch = await api.call("GET", `/api/chat/${chatId}/messages`, { token: ana.token });
      expect((branch.body as { items: { useful: boolean | null }[] }).items.map(({ useful }) => useful)).toEqual([
        null,
        false,
      ]);
      expect((await api.call("DELETE", `/api/message/${messageId}/opinion`, { token: ana.token })).status).toBe(204);
      expect(await listed()).toEqual([]);
    });

    it("are refused on others' replies, questions and temporary chats", async () => {
      const { messageId, userMessageId } = (await reply()) as { messageId: string; userMessageId: string };
      expect((await say(messageId, { useful: true }, admin.token)).status).toBe(404);
      expect((await say(userMessageId, { useful: true })).status).toBe(404);
      const passing = await reply({ temporary: true });
      const refused = await say(passing.messageId, { useful: true });
      expect(refused.status).toBe(422);
      expect((refused.body as { errors: { useful: string } }).errors.useful).toContain("temporal");
    });

    it("go with the message that they are of", async () => {
      const { messageId, chatId } = await reply();
      await say(messageId, { useful: true });
      await api.call("DELETE", `/api/chat/${chatId}`, { token: ana.token });
      expect(await listed({ useful: true })).toEqual([]);
    });

    it("let administrators try another model without storing the answer", async () => {
      const { messageId } = await reply();
      await say(messageId, { useful: true });
      const [opinion] = await listed({ useful: true });
      const before = await api.db.selectFrom("messages").select("id").execute();
      const again = (json: object) => api.call("POST", `/api/opinion/${opinion?.id}/try`, { token: admin.token, json });
      const tried = await again({ modelId });
      expect(tried.body).toMatchObject({ ok: true });
      expect((tried.body as { answer: string }).answer).toContain("Con dos frases.");
      expect(await api.db.selectFrom("messages").select("id").execute()).toEqual(before);
      const { items } = (await api.call("GET", "/api/model", { token: admin.token })).body as {
        items: { id: string; provider: string }[];
      };
      const local = items.find(({ provider }) => provider === "local")?.id;
      expect((await again({ modelId: local })).status).toBe(422);
      await api.db.updateTable("models").set({ baseUrl: "http://127.0.0.1:9/v1" }).where("id", "=", modelId).execute();
      expect((await again({ modelId })).body).toMatchObject({ ok: false });
    });
  });
}
