import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

/** A model server that begins an answer and does not go on. */
const answers: ServerResponse[] = [];
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    answers.push(response);
    const chunk = { choices: [{ index: 0, delta: { content: "Empiezo" } }] };
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

for (const engine of await queryEngines()) {
  describe(`a right that ends, ends what is read with it, on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let reader: Account;
    let modelId: string;
    let project: string;
    let group: string;
    let reply: { chatId: string; messageId: string };
    beforeAll(async () => {
      api = await openApi(engine, { modelSilence: 600_000 });
      admin = await api.signUp("Admin");
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const json = { name: "Lento", provider: "openai-compatible", externalId: "x", baseUrl };
      modelId = await made("/api/model", json, admin);
    });
    afterAll(() => api.close());
    beforeEach(async () => {
      [ana, reader] = [await api.signUp("Ana"), await api.signUp("Berta")];
      project = await made("/api/project", { name: "Tesis" }, ana);
      const json = { email: reader.email, role: "writes" };
      await api.call("POST", `/api/project/${project}/members`, { token: ana.token, json });
      group = await made("/api/group", { name: `Grupo ${crypto.randomUUID()}` }, admin);
      for (const { id: userId } of [ana, reader]) await made("/api/member", { groupId: group, userId }, admin);
      reply = await begin(ana, { projectId: project });
    });
    afterEach(() => {
      for (const answer of answers.splice(0)) answer.end();
    });

    const made = async (path: string, json: object, { token }: Account) => {
      const answer = await api.call("POST", path, { token, json });
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.body as { id: string }).id;
    };
    const begin = (account: Account, json: object) => api.start(account.token, { content: "Hola", modelId, ...json });
    /** Follows the reply, and resolves to the function that waits for the end of that; it begins with what was written. */
    async function following(token: string) {
      const body = JSON.stringify({ messageId: reply.messageId, after: 0 });
      const headers = { "Content-Type": "application/json" };
      const answer = await api.fetch("/api/intelligence/conversation", token, { method: "POST", headers, body });
      expect(answer.status).toBe(200);
      const stream = answer.body?.getReader();
      expect(new TextDecoder().decode((await stream?.read())?.value)).toContain("Empiezo");
      return async () => {
        while (!(await stream?.read())?.done);
      };
    }
    const statusOf = async (id: string) =>
      (await api.db.selectFrom("messages").where("id", "=", id).select("status").executeTakeFirstOrThrow()).status;

    it("of a project member, whose own reply is stopped", async () => {
      const own = await begin(reader, { projectId: project });
      const ended = await following(reader.token);
      await api.call("DELETE", `/api/project/${project}/members/${reader.id}`, { token: ana.token });
      await ended();
      expect([await statusOf(own.messageId), await statusOf(reply.messageId)]).toEqual(["stopped", "streaming"]);
    });

    it("of a group member, and of readers after sharing ends", async () => {
      await api.call("DELETE", `/api/project/${project}/members/${reader.id}`, { token: ana.token });
      const show = (groupIds: string[]) =>
        api.call("PUT", `/api/chat/${reply.chatId}/groups`, { token: ana.token, json: { groupIds } });
      expect((await show([group])).status).toBe(204);
      const first = await following(reader.token);
      expect((await show([])).status).toBe(204);
      await first();
      await show([group]);
      const second = await following(reader.token);
      const members = await api.call("GET", `/api/member?filter={"groupId":"${group}"}`, { token: admin.token });
      const { items } = members.body as { items: { id: string; userId: string }[] };
      const member = items.find(({ userId }) => userId === reader.id)?.id;
      expect((await api.call("DELETE", `/api/member/${member}`, { token: admin.token })).status).toBe(204);
      await second();
    });

    it("of a program whose key is deleted", async () => {
      const { body } = await api.call("POST", "/api/key", { token: ana.token, json: { name: "uno", scope: "write" } });
      const { id, token } = body as { id: string; token: string };
      const ended = await following(token);
      expect((await api.call("DELETE", `/api/key/${id}`, { token: ana.token })).status).toBe(204);
      await ended();
    });

    it("of somebody who is deactivated, whose replies stop", async () => {
      const ended = await following(ana.token);
      const json = { status: "inactive" };
      expect((await api.call("PATCH", `/api/user/${ana.id}`, { token: admin.token, json })).status).toBe(200);
      await ended();
      expect(await statusOf(reply.messageId)).toBe("stopped");
    });

    it("of an administrator who is one no more", async () => {
      const other = await api.signUp("Otra");
      const role = (role: string) => api.call("PATCH", `/api/user/${other.id}`, { token: admin.token, json: { role } });
      await role("admin");
      await api.inspect(other.token, "chat", reply.chatId);
      const ended = await following(other.token);
      await role("user");
      await ended();
    });

    it("of an administrator whose hour is over", async () => {
      await api.inspect(admin.token, "chat", reply.chatId);
      const ended = await following(admin.token);
      await api.db.updateTable("audit").set({ createdAt: 0 }).where("resourceId", "=", reply.chatId).execute();
      await ended();
    });

    it("and one person follows a limited number of streams", async () => {
      const streams = await Promise.all(Array.from({ length: 20 }, () => following(ana.token)));
      const json = { messageId: reply.messageId, after: 0 };
      const one = await api.call("POST", "/api/intelligence/conversation", { token: ana.token, json });
      expect([one.status, one.text]).toEqual([429, expect.stringContaining("demasiados sitios")]);
      await following(reader.token);
      for (const answer of answers) answer.end("data: [DONE]\n\n");
      await Promise.all(streams.map((ended) => ended()));
      expect((await api.call("POST", "/api/intelligence/conversation", { token: ana.token, json })).status).toBe(200);
    });
  });
}
