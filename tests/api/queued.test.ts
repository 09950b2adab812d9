import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendingForgotten } from "../../app/api/chats/queued.server.ts";
import { type Account, type Api, openApi, parseChunks } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { longReply, startModelServer } from "../support/model-server.ts";

let mock: LLMock;
beforeAll(async () => {
  mock = await startModelServer();
});
afterAll(() => mock.stop());

type Queued = { content: string; fileIds: string[]; problem: string | null } | null;
type Shown = { role: string; content: string; status: string };

describe.each(await queryEngines())("a message that waits for a reply on $name", (engine) => {
  let api: Api;
  let ana: Account;
  let modelId: string;
  beforeAll(async () => {
    api = await openApi(engine);
    const admin = await api.signUp("Admin");
    const model = { provider: "openai-compatible", externalId: "gpt-4o", baseUrl: `${mock.url}/v1`, apiKey: "clave" };
    const made = await api.call("POST", "/api/model", { token: admin.token, json: { name: "compatible", ...model } });
    modelId = (made.body as { id: string }).id;
    ana = await api.signUp("Ana");
  });
  afterAll(() => api.close());

  const call = (method: string, path: string, json?: object, { token } = ana) =>
    api.call(method, path, { token, ...(json && { json }) });
  const begin = (content = "Una respuesta lenta") => api.start(ana.token, { content, modelId });
  const queue = (chatId: string, content: string, more: object = {}) =>
    call("POST", "/api/intelligence/conversation", { chatId, content, modelId, queue: true, ...more });
  const waiting = async (chatId: string) => (await call("GET", `/api/chat/${chatId}`)).body as { queued: Queued };
  const turns = async (chatId: string) =>
    ((await call("GET", `/api/chat/${chatId}/messages`)).body as { items: Shown[] }).items;
  const follow = (messageId: string) => call("POST", "/api/intelligence/conversation", { messageId });
  const said = async (chatId: string) => (await turns(chatId)).map(({ role, content }) => [role, content]);

  it("is sent once the reply ends and shown to readers", async () => {
    const { chatId, messageId } = await begin();
    const answer = await queue(chatId, "Hola después");
    expect(parseChunks(answer.text)).toEqual([{ type: "queued" }]);
    expect(await waiting(chatId)).toMatchObject({ queued: { content: "Hola después", fileIds: [], problem: null } });
    expect(await said(chatId)).toHaveLength(2);
    await follow(messageId);
    expect(await waiting(chatId)).toMatchObject({ queued: null });
    const [, , question, reply] = await turns(chatId);
    expect(question).toMatchObject({ role: "user", content: "Hola después" });
    expect(reply).toMatchObject({ role: "assistant", status: expect.stringMatching(/streaming|complete/) });
  });

  it("is sent at once where nothing is being written", async () => {
    const { chatId, messageId } = await begin("Hola");
    await follow(messageId);
    const [first] = parseChunks((await queue(chatId, "Y ahora")).text);
    expect(first).toMatchObject({ type: "start", chatId });
  });

  it("is joined with later messages and not doubled by repetition", async () => {
    const { chatId, messageId } = await begin();
    await queue(chatId, "Uno", { key: "a" });
    await queue(chatId, "Uno", { key: "a" });
    await queue(chatId, "Dos", { key: "b" });
    expect(await waiting(chatId)).toMatchObject({ queued: { content: "Uno\n\nDos" } });
    const tooLong = await queue(chatId, "x".repeat(31_999));
    expect(tooLong).toMatchObject({
      status: 422,
      body: { errors: { content: expect.stringContaining("Ya espera otro") } },
    });
    await follow(messageId);
    expect((await said(chatId)).filter(([role]) => role === "user")).toEqual([
      ["user", "Una respuesta lenta"],
      ["user", "Uno\n\nDos"],
    ]);
  });

  it("is not queued when sent several times at once", async () => {
    const { chatId, messageId } = await begin("Hola");
    await follow(messageId);
    const twins = await Promise.all(
      [1, 2, 3].map(() => queue(chatId, "Una sola vez, respuesta lenta", { key: "gemela" })),
    );
    const ids = twins.map(({ text }) => parseChunks(text).find(({ type }) => type === "start"));
    expect(new Set(ids.map((start) => JSON.stringify(start))).size).toBe(1);
    expect(await waiting(chatId)).toMatchObject({ queued: null });
    expect((await said(chatId)).filter(([role]) => role === "user")).toHaveLength(2);
  });

  it("is not sent again when repeated after being sent", async () => {
    const { chatId, messageId } = await begin();
    await queue(chatId, "Uno", { key: "uno" });
    await queue(chatId, "Dos", { key: "dos" });
    await follow(messageId);
    await queue(chatId, "Dos", { key: "dos" });
    expect((await said(chatId)).filter(([role]) => role === "user")).toHaveLength(2);
    expect(await waiting(chatId)).toMatchObject({ queued: null });
  });

  it("empties the draft that it was, and no other", async () => {
    const { chatId } = await begin();
    const draft = { content: "Hola luego", modelId: null, fileIds: [] };
    await call("PATCH", `/api/chat/${chatId}`, { draft });
    await queue(chatId, "Otra cosa", { keepDraft: true });
    expect(await waiting(chatId)).toMatchObject({ draft });
    await queue(chatId, "Hola luego");
    expect(await waiting(chatId)).toMatchObject({ draft: null });
  });

  it("is taken back into the draft, or too late", async () => {
    const { chatId, messageId } = await begin();
    await queue(chatId, "Mejor no");
    const draft = { content: "Mejor no", modelId: null, fileIds: [] };
    const taken = await call("PATCH", `/api/chat/${chatId}`, { queued: null, draft });
    expect(taken).toMatchObject({ status: 200, body: { queued: null, draft } });
    await follow(messageId);
    expect(await said(chatId)).toHaveLength(2);
    const late = await call("PATCH", `/api/chat/${chatId}`, { queued: null });
    expect(late).toMatchObject({ status: 422, body: { errors: { queued: "Ese mensaje ya se ha enviado." } } });
  });

  it("is sent after a reply that its reader has stopped", async () => {
    const { chatId, messageId } = await begin();
    await queue(chatId, "Hola en su lugar");
    await call("POST", `/api/intelligence/conversation/${messageId}/stop`);
    expect((await said(chatId))[2]).toEqual(["user", "Hola en su lugar"]);
  });

  it("stays after a failed reply until the author sends it", async () => {
    const { chatId, messageId } = await begin("Hola");
    // Its end would send what waits.
    await follow(messageId);
    await api.services.db.updateTable("messages").set({ status: "failed" }).where("id", "=", messageId).execute();
    await api.services.db
      .updateTable("chats")
      .set({ queued: JSON.stringify({ content: "Hola al fin", modelId, fileIds: [] }) })
      .where("id", "=", chatId)
      .execute();
    await forgotten();
    expect(await waiting(chatId)).toMatchObject({ queued: { content: "Hola al fin" } });
    expect((await call("POST", `/api/chat/${chatId}/queued`)).status).toBe(204);
    expect((await said(chatId))[2]).toEqual(["user", "Hola al fin"]);
    expect((await call("POST", `/api/chat/${chatId}/queued`)).status).toBe(422);
  });

  /** Looks for what a dead process has left. */
  async function forgotten(): Promise<void> {
    const { work } = sendingForgotten(api.services);
    await work({ signal: new AbortController().signal } as Parameters<typeof work>[0]);
  }

  it("is sent once after a process died before sending", async () => {
    const { chatId, messageId } = await begin("Hola");
    await follow(messageId);
    const { db } = api.services;
    await db.updateTable("messages").set({ finishedAt: 1 }).where("id", "=", messageId).execute();
    const queued = JSON.stringify({ content: "Hola perdida", modelId, fileIds: [], keys: ["perdida"] });
    await db.updateTable("chats").set({ queued }).where("id", "=", chatId).execute();
    await Promise.all([forgotten(), forgotten(), forgotten()]);
    expect((await said(chatId)).filter(([, content]) => content === "Hola perdida")).toHaveLength(1);
    expect(await waiting(chatId)).toMatchObject({ queued: null });
  });

  it("shows why sending failed and is not retried automatically", async () => {
    const { chatId, messageId } = await begin();
    await queue(chatId, "Con un archivo que se borra", { fileIds: ["01a00000-0000-7000-8000-000000000000"] });
    await follow(messageId);
    const problem = "Uno de los archivos ya no existe. Quítalo o adjúntalo otra vez.";
    expect(await waiting(chatId)).toMatchObject({ queued: { problem } });
    await forgotten();
    expect(await said(chatId)).toEqual([
      ["user", "Una respuesta lenta"],
      ["assistant", longReply],
    ]);
    expect((await call("POST", `/api/chat/${chatId}/queued`)).body).toMatchObject({ errors: { fileIds: problem } });
  });

  it("is nobody else's to see, send or take back", async () => {
    const { chatId } = await begin();
    await queue(chatId, "Cosa mía");
    const luis = await api.signUp("Luis");
    for (const [method, path, json] of [
      ["GET", "", undefined],
      ["PATCH", "", { queued: null }],
      ["POST", "/queued", undefined],
    ] as const) {
      expect((await call(method, `/api/chat/${chatId}${path}`, json, luis)).status).toBe(404);
    }
  });
});
