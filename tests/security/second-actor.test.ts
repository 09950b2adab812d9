import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nameOf } from "../../app/files/storage/storage.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

describe.each(await ruleEngines())("who else acts, on $name", (engine) => {
  let api: Api;
  let admin: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
  });
  afterAll(() => api.close());

  const begin = async ({ token }: Account, more: object = {}) => {
    const [start] = await api.converse(token, { content: "Lo mío", ...more });
    if (start?.type !== "start") throw new Error("a conversation begins with its start");
    return start;
  };
  const send = (token: string, json: object) => api.call("POST", "/api/intelligence/conversation", { token, json });
  const keyOf = async ({ token }: Account) =>
    (
      (await api.call("POST", "/api/key", { token, json: { name: "programa", scope: "write" } })).body as {
        token: string;
      }
    ).token;
  const status = async (token: string, path = "/api/chat") => (await api.call("GET", path, { token })).status;

  it("an administrator cannot write into the chat of another person", async () => {
    const ana = await api.signUp("Ana");
    const { chatId, messageId, userMessageId } = await begin(ana);
    for (const json of [
      { content: "Soy yo", chatId },
      { content: "Soy yo", chatId, parentId: messageId },
      { content: "Soy yo", parentId: messageId },
      { content: "Soy yo", parentId: userMessageId },
      { regenerate: messageId },
    ]) {
      const { status: answered } = await send(admin.token, json);
      expect([json, answered >= 400 && answered < 500]).toEqual([json, true]);
    }
    const rows = await api.db.selectFrom("messages").where("chatId", "=", chatId).select("userId").execute();
    expect(rows.map(({ userId }) => userId)).toEqual([ana.id, ana.id]);
  });

  it("a stranger's project takes no new chat", async () => {
    const [ana, bea] = [await api.signUp("Ana"), await api.signUp("Bea")];
    const project = await api.call("POST", "/api/project", { token: ana.token, json: { name: "De Ana" } });
    const { id: projectId } = project.body as { id: string };
    const refused = await send(bea.token, { content: "Hola", projectId });
    expect(refused.status).toBe(404);
    expect(await api.db.selectFrom("chats").where("userId", "=", bea.id).select("id").execute()).toEqual([]);
  });

  it.each<[string, (id: string) => Promise<{ status: number }>]>([
    [
      "whose password an admin sets",
      (id) => api.call("PATCH", `/api/user/${id}`, { token: admin.token, json: { password: "otra frase bien larga" } }),
    ],
    [
      "that an admin deactivates",
      (id) => api.call("PATCH", `/api/user/${id}`, { token: admin.token, json: { status: "inactive" } }),
    ],
    ["whose sessions an admin closes", (id) => api.call("DELETE", `/api/user/${id}/sessions`, { token: admin.token })],
  ])("the key of a person %s opens nothing any more, also once they are active again", async (_what, act) => {
    const ana = await api.signUp("Ana");
    const key = await keyOf(ana);
    expect(await status(key)).toBe(200);
    expect((await act(ana.id)).status).toBeLessThan(300);
    expect(await status(key)).toBeGreaterThanOrEqual(401);
    await api.call("PATCH", `/api/user/${ana.id}`, { token: admin.token, json: { status: "active" } });
    expect(await status(key)).toBe(401);
  });

  it("a shared chat is hidden while its owner is inactive", async () => {
    const ana = await api.signUp("Ana");
    const { chatId } = await begin(ana);
    const shared = await api.call("PUT", `/api/chat/${chatId}/share`, { token: ana.token, json: {} });
    const { token: id } = shared.body as { token: string };
    expect((await api.call("GET", `/api/share/${id}`)).status).toBe(200);
    const set = (state: string) =>
      api.call("PATCH", `/api/user/${ana.id}`, { token: admin.token, json: { status: state } });
    await set("inactive");
    expect((await api.call("GET", `/api/share/${id}`)).status).toBe(404);
    await set("active");
    expect((await api.call("GET", `/api/share/${id}`)).status).toBe(200);
  });

  it("the model made default last is the only default", async () => {
    const model = {
      provider: "openai-compatible",
      externalId: "m",
      baseUrl: "https://m.ejemplo.es/v1",
      isDefault: true,
    };
    const make = async (name: string) =>
      (await api.call("POST", "/api/model", { token: admin.token, json: { ...model, name } })).body as { id: string };
    const [first, second] = [await make("Uno"), await make("Dos")];
    const defaults = async () =>
      (await api.db.selectFrom("models").where("isDefault", "=", 1).select("id").execute()).map(({ id }) => id);
    expect(await defaults()).toEqual([second.id]);
    const put = await api.call("PUT", `/api/model/${first.id}`, {
      token: admin.token,
      json: { ...model, name: "Uno" },
    });
    expect([put.status, await defaults()]).toEqual([200, [first.id]]);
  });

  it("the second of two deletions answers 404", async () => {
    const ana = await api.signUp("Ana");
    const { chatId, messageId } = await begin(ana);
    for (const path of [`/api/message/${messageId}`, `/api/chat/${chatId}`]) {
      const twice = [
        await api.call("DELETE", path, { token: ana.token }),
        await api.call("DELETE", path, { token: ana.token }),
      ];
      expect([path, ...twice.map((answer) => answer.status)]).toEqual([path, 204, 404]);
    }
    const json = { currentPassword: password };
    expect((await api.call("DELETE", `/api/user/${ana.id}`, { token: ana.token, json })).status).toBe(204);
    expect((await api.call("DELETE", `/api/user/${ana.id}`, { token: admin.token })).status).toBe(404);
  });

  it("stored bytes without a file are deleted, others are kept", async () => {
    const ana = await api.signUp("Ana");
    const sent = await api.upload(ana.token, [new File(["Hola"], "hola.txt")]);
    const [{ id = "" } = {}] = (sent.body as { items: { id: string }[] }).items;
    const orphan = crypto.randomUUID();
    const { storage } = api.services;
    await storage.put(orphan, "original", Buffer.from("de nadie"));
    // A part that is an hour old belongs to no upload that is still coming.
    for (const one of [id, orphan])
      await utimes(join(api.services.config.dataDir, "files", nameOf(one, "original")), 1, 1);
    await api.services.files.sweep();
    const ids: string[] = [];
    for await (const stored of storage.list()) ids.push(stored.id);
    expect(ids).toContain(id);
    expect(ids).not.toContain(orphan);
  });
});
