import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { markOf } from "../../app/api/receipts/receipt.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { says, startWritingModel } from "../support/writing-model.ts";

let models: Awaited<ReturnType<typeof startWritingModel>>;
beforeAll(async () => {
  models = await startWritingModel();
});
afterAll(() => models.stop());

for (const engine of await ruleEngines()) {
  describe(`a receipt, on ${engine.name}`, () => {
    let api: Api;
    let ana = {} as Account;
    let modelId: string;
    beforeAll(async () => {
      api = await openApi(engine, { modelSilence: 20_000 });
      const admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      const json = { name: "Escribano", provider: "openai-compatible", externalId: "x", baseUrl: models.url };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    });
    afterAll(() => api.close());

    const ask = async () => {
      const chunks = await api.converse(ana.token, { content: says("Era así."), modelId });
      const start = chunks.find((chunk) => chunk.type === "start");
      return { questionId: start?.userMessageId ?? "", replyId: start?.messageId ?? "" };
    };
    const status = async (replyId: string) =>
      (await api.call("GET", `/api/message/${replyId}/receipt`, { token: ana.token })).status;
    const change = async (id: string, content: string) => {
      const { status } = await api.call("PATCH", `/api/message/${id}`, { token: ana.token, json: { content } });
      expect(status).toBe(200);
    };

    it("is for what was written here, as it stands", async () => {
      const { questionId, replyId } = await ask();
      expect(await status(replyId)).toBe(200);
      expect(await status(questionId)).toBe(422);
    });

    it("is refused for an edited reply, even after restoring it", async () => {
      const { replyId } = await ask();
      await change(replyId, "Nunca fue así.");
      expect(await status(replyId)).toBe(422);
      await change(replyId, "Era así.");
      expect(await status(replyId)).toBe(422);
    });

    it("is refused for a reply to a question edited afterwards", async () => {
      const { questionId, replyId } = await ask();
      await change(questionId, "¿Otra cosa?");
      expect(await status(replyId)).toBe(422);
    });

    it("is refused for a reply edited and then continued", async () => {
      const { replyId } = await ask();
      await change(replyId, "Nunca fue así. ");
      await api.db.updateTable("messages").set({ status: "stopped" }).where("id", "=", replyId).execute();
      await api.converse(ana.token, { parentId: replyId, modelId });
      const { content, status: state } = (await api.call("GET", `/api/message/${replyId}`, { token: ana.token }))
        .body as { content: string; status: string };
      expect({ content, state }).toEqual({ content: expect.stringMatching(/^Nunca fue así\..+/s), state: "complete" });
      expect(await status(replyId)).toBe(422);
    });

    it("is refused for imported replies and for unfinished ones", async () => {
      const { replyId } = await ask();
      await api.db.updateTable("messages").set({ outside: 1 }).where("id", "=", replyId).execute();
      expect(await status(replyId)).toBe(422);
      await api.db.updateTable("messages").set({ outside: 0, status: "stopped" }).where("id", "=", replyId).execute();
      expect(await status(replyId)).toBe(422);
    });
  });
}

it("handles a letter with half a million combining marks quickly", () => {
  expect(markOf(`a${"\u0301\u0327".repeat(250_000)}`)).toHaveLength(43);
});
