import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Config } from "../../app/process/config.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

const secret = "La palabra secreta es abracadabra";

for (const engine of await queryEngines()) {
  /** An installation with an administrator, and Ana with a conversation, a file in it, a project and a summary. */
  async function open(adminReads: Config["adminReads"]) {
    const api = await openApi(engine, { adminReads });
    const admin = await api.signUp("Admin");
    const ana = await api.signUp("Ana");
    const own = async (path: string, json: object) =>
      (await api.call("POST", path, { token: ana.token, json })).body as { id: string };
    const sent = await api.upload(ana.token, [new File([secret], "hola.txt")]);
    const fileId = (sent.body as { items: { id: string }[] }).items[0]?.id ?? "";
    const [start] = await api.converse(ana.token, { content: secret, fileIds: [fileId] });
    if (start?.type !== "start") throw new Error("no start");
    const { chatId, userMessageId, messageId } = start;
    const chat = await api.call("PATCH", `/api/chat/${chatId}`, { token: ana.token, json: { title: "Magia" } });
    expect(chat.status).toBe(200);
    await api.converse(ana.token, { content: secret });
    const written = { name: "Tesis", description: secret, instructions: secret };
    const project = await own("/api/project", written);
    const draft = JSON.stringify({ content: secret });
    await api.db.updateTable("users").set({ draft }).where("id", "=", ana.id).execute();
    for (const table of ["chats", "projects"] as const) {
      await api.db.updateTable(table).set({ draft }).where("userId", "=", ana.id).execute();
    }
    // A row as versions wrote it that kept the texts.
    const changes = JSON.stringify({ before: { content: secret }, after: null });
    const old = {
      actorId: ana.id,
      ownerId: ana.id,
      action: "delete",
      resource: "message",
      resourceId: messageId,
      ip: "",
    };
    const now = Date.now();
    await api.db
      .insertInto("audit")
      .values({ ...old, id: crypto.randomUUID(), createdAt: now, updatedAt: now, changes })
      .execute();
    const other = await api.upload(ana.token, [new File([secret], "tesis.txt")], { projectId: project.id });
    const documentId = (other.body as { items: { id: string }[] }).items[0]?.id ?? "";
    const summaryId = crypto.randomUUID();
    const summary = { id: summaryId, createdAt: now, updatedAt: now, chatId, upToMessageId: messageId, tokens: 4 };
    await api.db
      .insertInto("summaries")
      .values({ ...summary, content: secret, modelId: null })
      .execute();
    await api.call("PUT", `/api/chat/${chatId}/share`, { token: ana.token, json: {} });
    const key = await api.call("POST", "/api/key", { token: admin.token, json: { name: "uno", scope: "write" } });
    const keyToken = (key.body as { token: string }).token;
    /** All that shows what Ana has written, by a thing with which it is read. */
    const looks: [resource: string, id: string, path: string][] = [
      ["chat", chatId, `/api/chat/${chatId}/messages`],
      ["chat", chatId, `/api/chat/${chatId}/export`],
      ["chat", chatId, `/api/chat/${chatId}/export?format=json`],
      ["chat", chatId, `/api/chat/${chatId}/share`],
      ["chat", chatId, `/api/message/${userMessageId}`],
      ["chat", chatId, `/api/summary/${summaryId}`],
      ["chat", chatId, `/api/file/${fileId}/content`],
      ["chat", chatId, `/api/file/${fileId}/passages`],
      ["file", documentId, `/api/file/${documentId}/content`],
      ["file", documentId, `/api/file/${documentId}/passages`],
      ["project", project.id, `/api/project/${project.id}`],
    ];
    const lists = ["chat", "message", "summary", "project", "file", "audit", "user"].map((name) => `/api/${name}`);
    lists.push(`/api/user/${ana.id}`, `/api/chat/${chatId}`);
    const ids = { chatId, userMessageId, messageId, fileId, documentId, projectId: project.id, summaryId };
    return { api, admin, ana, keyToken, looks, lists, ...ids };
  }
  const readRows = async (api: Api, ownerId: string) =>
    (
      await api.db
        .selectFrom("audit")
        .where("ownerId", "=", ownerId)
        .where("action", "in", ["read", "read-untold"])
        .orderBy("createdAt")
        .orderBy("id")
        .select(["actorId", "action", "resource", "resourceId", "changes", "ip"])
        .execute()
    ).map(({ changes, ...row }) => ({ ...row, ...(JSON.parse(changes) as { after?: object }).after }));
  type Notices = { notices: { id: string; text: string }[] };
  const noticesOf = async (api: Api, { token }: Account) =>
    ((await api.call("GET", "/api/dashboard/initialize", { token })).body as Notices).notices;
  type Listed = { items: { by: string; purpose: string; title: string; resource: string }[]; rule: string };
  const toldTo = async (api: Api, { token }: Account) =>
    (await api.call("GET", "/api/inspection", { token })).body as Listed;

  describe(`an administrator reads what is somebody else's, once they have said what for, on ${engine.name}`, () => {
    let house: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      house = await open("reason");
    });
    afterAll(() => house.api.close());

    it("shows nothing before, by any way, and titles in lists", async () => {
      const { api, admin, keyToken, looks, lists } = house;
      for (const [resource, id, path] of looks) {
        const { status, headers, text } = await api.call("GET", path, { token: admin.token });
        // A file that was sent in a conversation is read with it, or alone.
        const asked = path.includes(house.fileId) ? `file/${house.fileId}` : `${resource}/${id}`;
        expect([path, status, headers.get("Asks-Purpose")]).toEqual([path, 403, asked]);
        expect(text).not.toContain("abracadabra");
      }
      for (const path of lists) {
        const { status, text } = await api.call("GET", path, { token: admin.token });
        expect([path, status, text.includes("abracadabra")]).toEqual([path, 200, false]);
      }
      for (const path of ["/api/chat", "/api/audit"]) {
        const found = await api.call("GET", `${path}?q=abracadabra`, { token: admin.token });
        expect([path, (found.body as { items: object[] }).items]).toEqual([path, []]);
      }
      expect((await api.call("GET", "/api/chat", { token: admin.token })).text).toContain("Sin título");
      expect((await api.call("GET", "/api/chat", { token: admin.token })).text).toContain("Magia");
      const found = await api.call("GET", "/api/message?q=abracadabra", { token: admin.token });
      expect((found.body as { items: object[] }).items).toEqual([]);
      const follow = { messageId: house.messageId, after: 0 };
      const stream = await api.call("POST", "/api/intelligence/conversation", { token: admin.token, json: follow });
      expect(stream.status).toBe(403);
      for (const [, , path] of looks) {
        expect([path, (await api.call("GET", path, { token: keyToken })).status]).toEqual([path, 403]);
      }
      expect(await readRows(api, house.ana.id)).toEqual([]);
    });

    it("refuses moving chats, adding members or starting with a key", async () => {
      const { api, admin, keyToken, chatId, projectId } = house;
      const project = await api.call("POST", "/api/project", { token: admin.token, json: { name: "Del admin" } });
      const { id } = project.body as { id: string };
      const reader = { email: house.ana.email, role: "writes" };
      await api.call("POST", `/api/project/${id}/members`, { token: admin.token, json: reader });
      const moved = await api.call("PATCH", `/api/chat/${chatId}`, { token: admin.token, json: { projectId: id } });
      expect(moved.status).toBe(422);
      const json = { email: admin.email, role: "reads" };
      expect((await api.call("POST", `/api/project/${projectId}/members`, { token: admin.token, json })).status).toBe(
        403,
      );
      const purpose = { resource: "chat", id: chatId, purpose: "Con una clave" };
      expect((await api.call("POST", "/api/inspection", { token: keyToken, json: purpose })).status).toBe(403);
      const nothing = { resource: "chat", id: chatId, purpose: "  " };
      const refused = await api.call("POST", "/api/inspection", { token: admin.token, json: nothing });
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("Falta para qué")]);
      const ana = await api.call("POST", "/api/inspection", { token: house.ana.token, json: { ...purpose } });
      expect(ana.status).toBe(404);
    });

    it("refuses reading another's file by assistant or joining their project", async () => {
      const { api, admin, ana, documentId, projectId } = house;
      await api.call("PATCH", `/api/user/${ana.id}`, { token: admin.token, json: { role: "admin" } });
      const assistant = await api.call("POST", "/api/assistant", {
        token: ana.token,
        json: { name: "Guía", shared: true },
      });
      await api.call("PATCH", `/api/user/${ana.id}`, { token: admin.token, json: { role: "user" } });
      const json = { name: "Guía", shared: true, fileIds: [documentId] };
      const path = `/api/assistant/${(assistant.body as { id: string }).id}`;
      const changed = await api.call("PUT", path, { token: admin.token, json });
      expect([changed.status, changed.text]).toEqual([422, expect.stringContaining("Alguno de esos documentos")]);
      await api.inspect(admin.token, "project", projectId);
      const member = { email: admin.email, role: "reads" };
      const added = await api.call("POST", `/api/project/${projectId}/members`, { token: admin.token, json: member });
      expect([added.status, added.text]).toEqual([403, expect.stringContaining("Solo quien tiene el proyecto")]);
      await api.db.deleteFrom("audit").where("resourceId", "=", projectId).where("action", "=", "read").execute();
      await api.db.deleteFrom("notices").where("userId", "=", ana.id).execute();
    });

    it("opens one item for an hour and notifies its owner", async () => {
      const { api, admin, ana, keyToken, looks, chatId } = house;
      const asked = await api.call("GET", `/api/inspection/chat/${chatId}`, { token: admin.token });
      expect(asked.body).toEqual({ title: "Magia", ownerName: "Ana", openUntil: null });
      const json = { resource: "chat", id: chatId, purpose: "Una queja de la vecina" };
      expect((await api.call("POST", "/api/inspection", { token: admin.token, json })).status).toBe(201);
      for (const [resource, , path] of looks) {
        const { status, text } = await api.call("GET", path, { token: admin.token });
        const isOpen = resource === "chat";
        expect([path, status]).toEqual([path, isOpen ? 200 : 403]);
        if (isOpen && !path.endsWith("share")) expect([path, text.includes("abracadabra")]).toEqual([path, true]);
        expect([path, (await api.call("GET", path, { token: keyToken })).status]).toEqual([path, 403]);
      }
      const list = await api.call("GET", "/api/message", { token: admin.token });
      expect(list.text).toContain("abracadabra");
      expect(await readRows(api, ana.id)).toEqual([
        {
          actorId: admin.id,
          action: "read",
          resource: "chat",
          resourceId: chatId,
          ip: "127.0.0.1",
          purpose: "Una queja de la vecina",
        },
      ]);
      const { items, rule } = await toldTo(api, ana);
      expect(rule).toBe("reason");
      expect(items).toEqual([
        expect.objectContaining({ by: "Admin", resource: "chat", title: "Magia", purpose: "Una queja de la vecina" }),
      ]);
      expect((await noticesOf(api, ana)).map(({ text }) => text)).toEqual([
        "Admin, que administra, puede leer durante una hora tu conversación «Magia». Para qué: Una queja de la vecina",
      ]);
      const [notice] = await noticesOf(api, ana);
      expect(await noticesOf(api, admin)).toEqual([]);
      expect((await api.call("GET", "/api/notice", { token: admin.token })).text).not.toContain("vecina");
      expect((await api.call("POST", `/api/notice/${notice?.id}/read`, { token: admin.token })).status).toBe(404);
      expect((await api.call("POST", `/api/notice/${notice?.id}/read`, { token: ana.token })).status).toBe(204);
      expect(await noticesOf(api, ana)).toEqual([]);
      const hourAgo = Date.now() - 60 * 60_000 - 1;
      await api.db.updateTable("audit").set({ createdAt: hourAgo }).where("ownerId", "=", ana.id).execute();
      const later = await api.call("GET", `/api/chat/${chatId}/messages`, { token: admin.token });
      expect(later.status).toBe(403);
    });

    it("hides an untold inspection from its owner for thirty days", async () => {
      const { api, admin, ana, documentId } = house;
      const json = { resource: "file", id: documentId, purpose: "Lo pide un juzgado", untold: "Secreto de sumario" };
      const before = (await toldTo(api, ana)).items.length;
      expect((await api.call("POST", "/api/inspection", { token: admin.token, json })).status).toBe(201);
      expect((await api.call("GET", `/api/file/${documentId}/content`, { token: admin.token })).text).toBe(secret);
      expect(await noticesOf(api, ana)).toEqual([]);
      expect((await toldTo(api, ana)).items).toHaveLength(before);
      const month = 30 * 24 * 60 * 60_000;
      const row = api.db.updateTable("audit").where("action", "=", "read-untold");
      await row.set({ createdAt: Date.now() - month - 60_000 }).execute();
      expect((await toldTo(api, ana)).items.map(({ purpose }) => purpose)).toContain("Lo pide un juzgado");
      expect((await readRows(api, ana.id)).map((one) => "untold" in one && one.untold)).toContain("Secreto de sumario");
    });

    it("opens and notifies nothing when audit can't be written", async () => {
      const { api, admin, ana, projectId } = house;
      await api.db.schema.alterTable("audit").renameTo("audit_away").execute();
      const json = { resource: "project", id: projectId, purpose: "Para nada" };
      const { status } = await api.call("POST", "/api/inspection", { token: admin.token, json });
      await api.db.schema.alterTable("audit_away").renameTo("audit").execute();
      expect(status).toBe(500);
      expect(await noticesOf(api, ana)).toEqual([]);
      expect((await api.call("GET", `/api/project/${projectId}`, { token: admin.token })).status).toBe(403);
    });

    it("deletes unread items without recording their text", async () => {
      const { api, admin, ana } = house;
      const [start] = await api.converse(ana.token, { content: secret });
      if (start?.type !== "start") throw new Error("no start");
      const gone = await api.call("DELETE", `/api/message/${start.userMessageId}`, { token: admin.token });
      expect(gone.status).toBe(204);
      expect((await api.call("DELETE", `/api/chat/${start.chatId}`, { token: admin.token })).status).toBe(204);
      const trail = await api.call("GET", '/api/audit?filter={"action":"delete","resource":"message"}', {
        token: admin.token,
      });
      expect(trail.text).not.toContain("abracadabra");
      expect(trail.text).toContain(`"characters":${secret.length}`);
    });

    it("reads a chat shared with the administrator's group without record", async () => {
      const { api, admin, ana, chatId } = house;
      const { id: groupId } = (await api.call("POST", "/api/group", { token: admin.token, json: { name: "Mago" } }))
        .body as { id: string };
      for (const userId of [admin.id, ana.id]) {
        await api.call("POST", "/api/member", { token: admin.token, json: { groupId, userId } });
      }
      await api.call("PUT", `/api/chat/${chatId}/groups`, { token: ana.token, json: { groupIds: [groupId] } });
      const before = (await readRows(api, ana.id)).length;
      const { status, text } = await api.call("GET", `/api/chat/${chatId}/messages`, { token: admin.token });
      expect([status, text.includes("abracadabra")]).toEqual([200, true]);
      expect(await readRows(api, ana.id)).toHaveLength(before);
    });
  });

  describe(`ADMIN_READS=never on ${engine.name}`, () => {
    let house: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      house = await open("never");
    });
    afterAll(() => house.api.close());

    it("holds against a session, a key, MCP and exports", async () => {
      const { api, admin, keyToken, looks, lists, chatId } = house;
      const json = { resource: "chat", id: chatId, purpose: "Da igual" };
      const begun = await api.call("POST", "/api/inspection", { token: admin.token, json });
      expect([begun.status, begun.text]).toEqual([403, expect.stringContaining("ADMIN_READS=never")]);
      for (const token of [admin.token, keyToken]) {
        for (const [, , path] of looks) {
          const { status, headers, text } = await api.call("GET", path, { token });
          expect([path, status, headers.get("Asks-Purpose")]).toEqual([path, 403, null]);
          expect(text).not.toContain("abracadabra");
        }
        for (const path of lists) {
          const { status, text } = await api.call("GET", path, { token });
          expect([path, status, text.includes("abracadabra")]).toEqual([path, 200, false]);
        }
      }
      expect((await toldTo(api, house.ana)).rule).toBe("never");
    });

    it("refuses changing credentials, creating accounts and downloading a backup", async () => {
      const { api, admin, ana } = house;
      for (const json of [{ password: "una contraseña nueva y larga" }, { email: "otra@ejemplo.es" }]) {
        const { status, text } = await api.call("PATCH", `/api/user/${ana.id}`, { token: admin.token, json });
        expect([status, text]).toEqual([403, expect.stringContaining("ADMIN_READS=never")]);
      }
      const made = { name: "Eva", email: "eva@ejemplo.es", password: "una contraseña nueva y larga" };
      expect((await api.call("POST", "/api/user", { token: admin.token, json: made })).status).toBe(403);
      const renamed = await api.call("PATCH", `/api/user/${ana.id}`, { token: admin.token, json: { name: "Anita" } });
      expect(renamed.status).toBe(200);
      if (engine.name !== "sqlite") return;
      const copy = await api.call("POST", "/api/system/backup", { token: admin.token });
      const { name } = copy.body as { name: string };
      expect((await api.call("GET", `/api/system/backup/${name}`, { token: admin.token })).status).toBe(403);
    });

    it("still counts and deletes", async () => {
      const { api, admin, chatId, documentId } = house;
      expect((await api.call("GET", "/api/usage/figures", { token: admin.token })).status).toBe(200);
      expect((await api.call("DELETE", `/api/file/${documentId}`, { token: admin.token })).status).toBe(204);
      expect((await api.call("DELETE", `/api/chat/${chatId}`, { token: admin.token })).status).toBe(204);
    });
  });

  describe(`ADMIN_READS=open on ${engine.name}`, () => {
    let house: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      house = await open("open");
    });
    afterAll(() => house.api.close());

    it("shows everything and records each conversation once an hour", async () => {
      const { api, admin, ana, keyToken, looks, chatId } = house;
      const paths = looks.filter(([, id]) => id === chatId).map(([, , path]) => path);
      const answers = await Promise.all(paths.map((path) => api.call("GET", path, { token: admin.token })));
      expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
      await api.call("GET", "/api/message?q=abracadabra", { token: admin.token });
      await api.call("GET", `/api/chat/${chatId}/messages`, { token: keyToken });
      const rows = await readRows(api, ana.id);
      expect(rows.filter(({ resourceId }) => resourceId === chatId)).toEqual([
        { actorId: admin.id, action: "read", resource: "chat", resourceId: chatId, ip: "127.0.0.1" },
      ]);
      expect((await toldTo(api, ana)).items).toContainEqual(
        expect.objectContaining({ by: "Admin", title: "Magia", purpose: "" }),
      );
    });

    it("records conversations found by search, with the key used", async () => {
      const { api, ana, admin, keyToken } = house;
      const berta = await api.signUp("Berta");
      const [start] = await api.converse(berta.token, { content: "Un conjuro de Berta" });
      if (start?.type !== "start") throw new Error("no start");
      const found = await api.call("GET", "/api/message?q=conjuro", { token: keyToken });
      expect(found.text).toContain("Un conjuro de Berta");
      expect(await readRows(api, berta.id)).toEqual([
        expect.objectContaining({ actorId: admin.id, resourceId: start.chatId, keyId: expect.any(String) }),
      ]);
      expect((await toldTo(api, ana)).items.map(({ title }) => title)).not.toContain("Un conjuro de Berta");
    });
  });
}
