import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { startUpstream, streamed } from "../support/doors.ts";
import { ruleEngines } from "../support/engines.ts";

type Message = { id: string; modelId: string; status: string; content: string };

for (const engine of await ruleEngines()) {
  describe(`answers to compare, on ${engine.name}`, () => {
    let api: Api;
    let upstream: Awaited<ReturnType<typeof startUpstream>>;
    let admin: Account;
    let ana: Account;
    beforeAll(async () => {
      upstream = await startUpstream((body) =>
        body.model === "malo" ? { status: 503, body: "{}" } : { body: streamed(`Soy ${String(body.model)}`) },
      );
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
    });
    afterAll(async () => {
      await api.close();
      upstream.stop();
    });

    const make = async (name: string, more: object = {}) => {
      const json = { name, provider: "openai-compatible", externalId: name, baseUrl: `${upstream.url}/v1`, ...more };
      return ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    };
    /** A question that a first model has answered. */
    async function ask(modelId: string): Promise<{ chatId: string; parentId: string }> {
      const [start] = await api.converse(ana.token, { content: "¿Quién eres?", modelId });
      if (start?.type !== "start" || !start.userMessageId) throw new Error("no reply has begun");
      return { chatId: start.chatId, parentId: start.userMessageId };
    }
    const compare = (chatId: string, parentId: string, modelIds: string[], { token } = ana) =>
      api.call("POST", `/api/chat/${chatId}/compared`, { token, json: { parentId, modelIds } });
    const chatOf = async (id: string) =>
      (await api.call("GET", `/api/chat/${id}`, { token: ana.token })).body as {
        modelId: string;
        compared: object | null;
      };
    const answers = async (parentId: string) => {
      const query = new URLSearchParams({ filter: JSON.stringify({ parentId }) });
      const { items } = (await api.call("GET", `/api/message?${query}`, { token: ana.token })).body as {
        items: Message[];
      };
      return items.reverse();
    };
    const ended = (parentId: string, count: number) =>
      vi.waitFor(async () => {
        const all = await answers(parentId);
        expect(all.filter(({ status }) => status !== "streaming")).toHaveLength(count);
        return all;
      });

    it("arrive one by one as versions, and the chosen continues", async () => {
      const [one, two, three] = [await make("uno"), await make("dos"), await make("tres")];
      const { chatId, parentId } = await ask(one);
      expect((await compare(chatId, parentId, [two, three])).status).toBe(204);
      const all = await ended(parentId, 3);
      expect(all.map(({ content }) => content)).toEqual(["Soy uno", "Soy dos", "Soy tres"]);
      expect(await chatOf(chatId)).toMatchObject({ modelId: three, compared: null });
      const json = { versionId: all[1]?.id };
      expect((await api.call("PATCH", `/api/chat/${chatId}`, { token: ana.token, json })).body).toMatchObject({
        modelId: two,
      });
      await api.converse(ana.token, { content: "Sigue", chatId });
      const branch = await api.call("GET", `/api/chat/${chatId}/messages`, { token: ana.token });
      const { items } = branch.body as { items: Message[] };
      expect(items.map(({ content }) => content)).toEqual(["¿Quién eres?", "Soy dos", "Sigue", "Soy dos"]);
    });

    it("go on past one that fails", async () => {
      const [one, bad, last] = [await make("uno"), await make("malo"), await make("tres")];
      const { chatId, parentId } = await ask(one);
      await compare(chatId, parentId, [bad, last]);
      const all = await ended(parentId, 3);
      expect(all.map(({ status }) => status)).toEqual(["complete", "failed", "complete"]);
    });

    it("report why the next model could not start", async () => {
      const [one, two, gone] = [await make("uno"), await make("dos"), await make("tres")];
      const { chatId, parentId } = await ask(one);
      const compared = JSON.stringify({ parentId, modelIds: [gone] });
      await api.call("DELETE", `/api/model/${gone}`, { token: admin.token });
      await api.db.updateTable("chats").set({ compared }).where("id", "=", chatId).execute();
      await api.converse(ana.token, { parentId, modelId: two });
      await vi.waitFor(async () =>
        expect(await chatOf(chatId)).toMatchObject({
          compared: { problem: "Ese modelo ya no está disponible. Elige otro." },
        }),
      );
      expect(await answers(parentId)).toHaveLength(2);
    });

    it("are requested by the owner only, with three models maximum", async () => {
      const one = await make("uno");
      const { chatId, parentId } = await ask(one);
      const group = await api.call("POST", "/api/group", { token: admin.token, json: { name: crypto.randomUUID() } });
      const forOthers = await make("otros", { groupIds: [(group.body as { id: string }).id] });
      expect((await compare(chatId, parentId, [one, forOthers])).status).toBe(422);
      expect((await compare(chatId, parentId, [one], admin)).status).toBe(404);
      expect((await compare(chatId, crypto.randomUUID(), [one])).status).toBe(404);
      expect((await compare(chatId, parentId, ["a", "b", "c", "d"])).text).toContain("3 modelos como mucho");
      expect(await answers(parentId)).toHaveLength(1);
    });
  });
}
