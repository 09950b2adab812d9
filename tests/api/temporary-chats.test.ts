import { DatabaseSync } from "node:sqlite";
import type { LLMock } from "@copilotkit/aimock";
import { v7 as newId } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { learnWords } from "../../app/db/search/spelling.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";

type Item = { id: string };

for (const engine of await ruleEngines()) {
  describe(`a temporary chat on ${engine.name}`, () => {
    let models: LLMock;
    let api: Api;
    let admin: Account;
    let ana: Account;
    let other: string;
    let key: string;
    let chatId: string;
    let summaryId: string;
    let replyId: string;
    let questionId: string;
    beforeAll(async () => {
      models = await startModelServer();
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      other = (await api.call("POST", "/auth/signin", { json: { email: ana.email, password } })).text;
      const made = await api.call("POST", "/api/key", { token: ana.token, json: { name: "uno", scope: "write" } });
      key = (made.body as { token: string }).token;
      const json = { name: "Uno", provider: "openai-compatible", externalId: "x", baseUrl: `${models.url}/v1` };
      const model = (await api.call("POST", "/api/model", { token: admin.token, json })).body as Item;
      const chunks = await api.converse(ana.token, {
        content: "Secretísimo zanahoria",
        temporary: true,
        modelId: model.id,
      });
      const start = chunks.find((chunk) => chunk.type === "start");
      if (!start) throw new Error("nothing started");
      ({ chatId, messageId: replyId } = start);
      questionId = start.userMessageId ?? "";
      const now = Date.now();
      summaryId = newId();
      await api.db
        .insertInto("summaries")
        .values({
          id: summaryId,
          createdAt: now,
          updatedAt: now,
          chatId,
          upToMessageId: replyId,
          content: "Resumen zanahoria",
          modelId: null,
          tokens: 5,
        })
        .execute();
    });
    afterAll(async () => {
      await api.close();
      await models.stop();
    });

    const strangers = () => ({ admin: admin.token, "another session": other, "a key": key });

    it.each([
      ["GET", (): string => `/api/chat/${chatId}`],
      ["GET", () => `/api/chat/${chatId}/messages`],
      ["GET", () => `/api/chat/${chatId}/export`],
      ["GET", () => `/api/chat/${chatId}/share`],
      ["GET", () => `/api/message/${replyId}`],
      ["GET", () => `/api/message/${replyId}/prompt`],
      ["GET", () => `/api/summary/${summaryId}`],
      ["DELETE", () => `/api/summary/${summaryId}`],
      ["DELETE", () => `/api/message/${replyId}`],
      ["DELETE", () => `/api/chat/${chatId}`],
      ["POST", () => `/api/intelligence/conversation/${replyId}/stop`],
    ])(
      "is not there for another session, an admin's or a key: %s (guards: inSession, within)",
      async (method, path) => {
        for (const [who, token] of Object.entries(strangers())) {
          const { status } = await api.call(method, path(), { token });
          expect([who, status]).toEqual([who, 404]);
        }
      },
    );

    it("cannot be changed, continued, retried or summarised from other sessions", async () => {
      const summary = { chatId, upToMessageId: replyId, content: "Otro" };
      for (const token of Object.values(strangers())) {
        const writes = [
          ["POST", "/api/message", { chatId, content: "Hola" }],
          ["PATCH", `/api/message/${questionId}`, { content: "Hola" }],
          ["PATCH", `/api/chat/${chatId}`, { title: "Hola" }],
          ["POST", "/api/intelligence/conversation", { chatId, content: "Hola" }],
          ["POST", "/api/intelligence/conversation", { parentId: questionId }],
          ["POST", "/api/intelligence/conversation", { messageId: replyId }],
          ["PUT", `/api/summary/${summaryId}`, summary],
        ] as const;
        for (const [method, path, json] of writes) {
          expect([path, (await api.call(method, path, { token, json })).status]).toEqual([path, 404]);
        }
      }
      const made = await api.call("POST", "/api/summary", { token: admin.token, json: summary });
      expect(made.status).toBe(422);
    });

    it("is absent from lists and search in other sessions", async () => {
      for (const token of Object.values(strangers())) {
        for (const path of [
          "/api/chat",
          "/api/message",
          "/api/message?q=zanahoria",
          "/api/summary",
          "/api/search?q=zanahoria",
        ]) {
          expect((await api.call("GET", path, { token })).text).not.toMatch(/zanahoria"|Resumen zanahoria|Secretísimo/);
        }
      }
      expect((await api.call("GET", "/api/summary", { token: ana.token })).text).toContain("Resumen zanahoria");
    });

    it("leaves no file in another session's export (guard: sessionId)", async () => {
      const sent = await api.upload(ana.token, [new File(["Hola"], "pepino.txt")], { temporary: "1" });
      const [file] = (sent.body as { items: Item[] }).items;
      await api.converse(ana.token, { chatId, content: "Mira esto", fileIds: [file?.id] });
      const zip = Buffer.from(await (await api.fetch(`/api/user/${ana.id}/export`, other)).arrayBuffer());
      const { unzipSync, strFromU8 } = await import("fflate");
      const all = Object.entries(unzipSync(zip)).map(([name, bytes]) => name + strFromU8(bytes));
      expect(all.join()).not.toContain("pepino");
    });

    it("is deleted with the session; files stored before stay", async () => {
      const kept = await api.upload(ana.token, [new File(["Guardado"], "guardado.txt")]);
      const [file] = (kept.body as { items: Item[] }).items;
      const session = (await api.call("POST", "/auth/signin", { json: { email: ana.email, password } })).text;
      const chunks = await api.converse(session, { content: "Mira", temporary: true, fileIds: [file?.id] });
      const started = chunks.find((chunk) => chunk.type === "start");
      await api.call("POST", "/auth/signout", { token: session });
      const rows = await api.db
        .selectFrom("chats")
        .where("id", "=", started?.chatId ?? "")
        .select("id")
        .execute();
      expect(rows).toEqual([]);
      expect((await api.call("GET", `/api/file/${file?.id}`, { token: ana.token })).status).toBe(200);
    });

    if (engine.name === "sqlite")
      it("is left out of backups, like deleted content (guard: scrub)", async () => {
        const chunks = await api.converse(ana.token, { content: `Un mensaje con calabacín ${"y más ".repeat(400)}` });
        const gone = chunks.find((chunk) => chunk.type === "start");
        await api.call("DELETE", `/api/chat/${gone?.chatId}`, { token: ana.token });
        await api.services.jobs.add({ kind: "email", data: "un correo con berenjena" });
        await learnWords(api.db, ["remolach"]);
        const backup = await api.services.backups?.make("prueba");
        const bytes = (await import("node:fs")).readFileSync(backup?.path ?? "");
        for (const word of ["Secretísimo", "zanahori", "calabac", "berenjena", "remolach"])
          expect(bytes.includes(word)).toBe(false);
        const copy = new DatabaseSync(backup?.path ?? "", { readOnly: true });
        expect(copy.prepare('select count(*) as n from chats where "sessionId" is not null').get()).toEqual({ n: 0 });
        expect(copy.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
        expect(copy.prepare("select count(*) as n from users").get()).toEqual({ n: 2 });
        copy.close();
      });
  });
}
