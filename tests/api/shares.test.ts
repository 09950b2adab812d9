import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";

const point = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
type Share = { token: string; upToDate: boolean };
type Shared = { title: string; items: { role: string; content: string; model: string | null }[] };

describe.each(await ruleEngines())("sharing on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let ana: Account;
  let chatId: string;
  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp();
    const [started] = await api.converse(ana.token, { content: "Lo que se comparte" });
    if (started?.type !== "start") throw new Error("a conversation begins with its start");
    chatId = started.chatId;
  });
  afterAll(() => api.close());

  const share = (method: string, { token } = ana, id = chatId) => api.call(method, `/api/chat/${id}/share`, { token });
  const readShared = (token: string) => api.call("GET", `/api/share/${token}`);

  it("is off at first and managed by the owner alone", async () => {
    expect((await share("GET")).body).toBeNull();
    const bea = await api.signUp("Bea");
    for (const method of ["GET", "PUT", "DELETE"]) {
      expect((await share(method, bea)).status).toBe(404);
      expect((await share(method, { ...bea, token: "" })).status).toBe(401);
    }
  });

  it("is not an admin's to make of what others wrote", async () => {
    expect((await share("PUT", admin)).status).toBe(404);
    await share("PUT");
    expect((await share("DELETE", admin)).status).toBe(204);
    expect((await share("GET")).body).toBeNull();
  });

  it("shows attachments only when chosen, and only of shared messages", async () => {
    const upload = async (name: string) =>
      ((await api.upload(ana.token, [new File(["Apuntes"], name)])).body as { items: { id: string }[] }).items[0]?.id;
    const [seen, later] = [await upload("visto.txt"), await upload("después.txt")];
    const [start] = await api.converse(ana.token, { content: "Mira", fileIds: [seen] });
    const id = start?.type === "start" ? start.chatId : "";
    const put = async (json: object) =>
      (await api.call("PUT", `/api/chat/${id}/share`, { token: ana.token, json })).body as Share;
    const file = async (token: string, fileId?: string) =>
      (await api.fetch(`/api/share/${token}/file/${fileId}`, "")).status;
    const { token } = await put({});
    expect((await readShared(token)).text).not.toContain('"name":"visto.txt"');
    expect(await file(token, seen)).toBe(404);
    await put({ files: true });
    await api.converse(ana.token, { chatId: id, content: "Y esto", fileIds: [later] });
    expect((await readShared(token)).text).toContain('"name":"visto.txt"');
    expect([await file(token, seen), await file(token, later)]).toEqual([200, 404]);
  });

  it("shows messages of files alone, and images that were made", async () => {
    const picture = new File([point], "foto.png", { type: "image/png" });
    const { items } = (await api.upload(ana.token, [picture])).body as { items: { id: string }[] };
    const [fileId = ""] = items.map(({ id }) => id);
    const [start] = await api.converse(ana.token, { content: "", fileIds: [fileId] });
    if (start?.type !== "start") throw new Error("a conversation begins with its start");
    const now = Date.now();
    const image = { fileId, width: 1, height: 1 };
    const part = { id: crypto.randomUUID(), createdAt: now, updatedAt: now, finishedAt: now, n: 0, at: 0, origin: "*" };
    await api.db
      .insertInto("parts")
      .values({ ...part, messageId: start.messageId, kind: "image", text: "Un punto", data: JSON.stringify(image) })
      .execute();
    const put = async (json: object) =>
      (await api.call("PUT", `/api/chat/${start.chatId}/share`, { token: ana.token, json })).body as Share;
    const { token } = await put({});
    const [bare] = ((await readShared(token)).body as Shared).items;
    expect(bare).toMatchObject({ role: "user", content: "", attachments: [], withoutFiles: true });
    await put({ files: true });
    const [question, reply] = ((await readShared(token)).body as Shared).items;
    expect(question).toMatchObject({ attachments: [{ fileId }], withoutFiles: false });
    expect(reply).toMatchObject({ images: [{ fileId, alt: "Un punto" }] });
    await api.db.deleteFrom("attachments").where("fileId", "=", fileId).execute();
    expect((await api.fetch(`/api/share/${token}/file/${fileId}`, "")).status).toBe(200);
  });

  it("goes back no further than the branch that is shared", async () => {
    const [other] = await api.converse(ana.token, { chatId, parentId: null, content: "Otra rama" });
    if (other?.type !== "start") throw new Error("a conversation begins with its start");
    const { token } = (await share("PUT")).body as Share;
    const first = await api.db
      .selectFrom("messages")
      .where("content", "=", "Lo que se comparte")
      .select("id")
      .executeTakeFirstOrThrow();
    const reply = await api.db
      .selectFrom("messages")
      .where("parentId", "=", first.id)
      .select("id")
      .executeTakeFirstOrThrow();
    expect((await api.call("GET", `/api/share/${token}?before=${reply.id}`)).status).toBe(404);
    await api.db.updateTable("chats").set({ leafId: reply.id }).where("id", "=", chatId).execute();
    await share("DELETE");
  });

  it("shows anyone the shared messages without later ones or owner", async () => {
    const made = (await share("PUT")).body as Share;
    expect(made.upToDate).toBe(true);
    await api.converse(ana.token, { chatId, content: "Esto ya no" });
    expect((await share("GET")).body).toMatchObject({ token: made.token, upToDate: false });
    const answer = await readShared(made.token);
    const shared = answer.body as Shared;
    expect(shared.items.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(shared.items[0]?.content).toBe("Lo que se comparte");
    expect(answer.text).not.toContain("Esto ya no");
    for (const secret of [ana.id, ana.email, chatId]) expect(answer.text).not.toContain(secret);

    const renewed = (await share("PUT")).body as Share;
    expect(renewed).toMatchObject({ token: made.token, upToDate: true });
    expect((await readShared(made.token)).text).toContain("Esto ya no");
  });

  it("keeps a reply as shared when it continues later", async () => {
    const [start] = await api.converse(ana.token, { content: "Una que sigue" });
    if (start?.type !== "start") throw new Error("a conversation begins with its start");
    const cut = { content: "Sobre lo que", status: "interrupted" as const };
    await api.db.updateTable("messages").set(cut).where("id", "=", start.messageId).execute();
    const { token } = (await share("PUT", ana, start.chatId)).body as Share;
    const before = ((await readShared(token)).body as Shared).items.at(-1)?.content;
    await api.converse(ana.token, { parentId: start.messageId });
    const reply = await api.call("GET", `/api/message/${start.messageId}`, { token: ana.token });
    expect((reply.body as { content: string }).content.length).toBeGreaterThan(before?.length ?? 0);
    expect((await share("GET", ana, start.chatId)).body).toMatchObject({ upToDate: false });
    expect(((await readShared(token)).body as Shared).items.at(-1)?.content).toBe(before);
    await share("PUT", ana, start.chatId);
    expect(((await readShared(token)).body as Shared).items.at(-1)?.content).not.toBe(before);
  });

  it("shows an edited last message and drops a deleted one", async () => {
    const [start] = await api.converse(ana.token, { content: "Una pregunta bastante larga, que se comparte entera" });
    if (start?.type !== "start") throw new Error("a conversation begins with its start");
    const { token } = (await share("PUT", ana, start.chatId)).body as Share;
    const reply = `/api/message/${start.messageId}`;
    const content = "Otra cosa, más larga que lo que el asistente había escrito. ".repeat(40);
    await api.call("PATCH", reply, { token: ana.token, json: { content } });
    expect(((await readShared(token)).body as Shared).items.at(-1)?.content).toBe(content.trim());
    await api.call("PATCH", reply, { token: ana.token, json: { content: "Sí" } });
    await share("PUT", ana, start.chatId);
    await api.call("DELETE", reply, { token: ana.token });
    const items = ((await readShared(token)).body as Shared).items;
    expect(items.map((item) => item.content)).toEqual(["Una pregunta bastante larga, que se comparte entera"]);
  });

  it("ends when it is taken back, and with its chat", async () => {
    const { token } = (await share("PUT")).body as Share;
    expect((await share("DELETE")).status).toBe(204);
    expect((await readShared(token)).status).toBe(404);
    const again = (await share("PUT")).body as Share;
    expect(again.token).not.toBe(token);
    await api.call("DELETE", `/api/chat/${chatId}`, { token: ana.token });
    expect((await readShared(again.token)).status).toBe(404);
    for (const guess of ["x", "%00", "a".repeat(100)]) expect((await readShared(guess)).status).toBeGreaterThan(400);
  });

  it("has nothing to show of a chat without messages", async () => {
    const chat = (await api.call("POST", "/api/chat", { token: ana.token, json: {} })).body as { id: string };
    expect((await share("PUT", ana, chat.id)).status).toBe(422);
  });
});
