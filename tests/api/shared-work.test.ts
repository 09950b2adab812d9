import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

for (const engine of await ruleEngines()) {
  describe(`shared work on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    let berta: Account;
    let carla: Account;
    beforeAll(async () => {
      api = await openApi(engine);
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      berta = await api.signUp("Berta");
      carla = await api.signUp("Carla");
    });
    afterAll(() => api.close());

    const call = async (method: string, path: string, { token }: Account, json?: object) =>
      api.call(method, path, { token, ...(json && { json }) });
    const made = async (path: string, by: Account, json: object) => {
      const answer = await call("POST", path, by, json);
      if (answer.status !== 201) throw new Error(answer.text);
      return (answer.body as { id: string }).id;
    };
    const begun = async (by: Account, more: object = {}) => {
      const [start] = await api.converse(by.token, { content: "El plazo acaba el martes", ...more });
      if (start?.type !== "start") throw new Error("no start");
      return start;
    };
    const status = async (method: string, path: string, by: Account, json?: object) =>
      (await call(method, path, by, json)).status;
    const names = async (path: string, by: Account) =>
      ((await call("GET", path, by)).body as { items: { title?: string; name?: string }[] }).items.map(
        ({ title, name }) => title ?? name,
      );
    const filter = (json: object) => `?filter=${encodeURIComponent(JSON.stringify(json))}`;

    async function project(roles: [Account, string][]) {
      const id = await made("/api/project", ana, { name: "Tesis", instructions: "Sé breve." });
      for (const [{ email }, role] of roles) {
        expect(await status("POST", `/api/project/${id}/members`, ana, { email, role })).toBe(204);
      }
      return id;
    }

    it("project members see but cannot change others' chats and documents", async () => {
      const id = await project([
        [berta, "writes"],
        [carla, "reads"],
      ]);
      const { chatId, messageId } = await begun(ana, { projectId: id });
      const document = await api.upload(ana.token, [new File(["La brújula apunta al norte."], "norte.txt")], {
        projectId: id,
      });
      const fileId = (document.body as { items: { id: string }[] }).items[0]?.id;
      for (const member of [berta, carla]) {
        expect(await status("GET", `/api/project/${id}`, member)).toBe(200);
        expect(await names("/api/project", member)).toContain("Tesis");
        const chat = await call("GET", `/api/chat/${chatId}`, member);
        expect(chat.body as object).toMatchObject({ userId: ana.id, ownerName: "Ana" });
        expect(await status("GET", `/api/chat/${chatId}/messages`, member)).toBe(200);
        expect(await status("GET", `/api/message/${messageId}`, member)).toBe(200);
        expect((await call("GET", `/api/chat${filter({ projectId: id })}`, member)).text).toContain(chatId);
        expect((await call("GET", "/api/chat", member)).text).not.toContain(chatId);
        expect(await status("GET", `/api/file/${fileId}/content`, member)).toBe(200);
        for (const [method, path, json] of [
          ["PATCH", `chat/${chatId}`, { title: "Otro" }],
          ["DELETE", `chat/${chatId}`],
          ["PATCH", `message/${messageId}`, { content: "Otro" }],
          ["DELETE", `message/${messageId}`],
          ["GET", `message/${messageId}/prompt`],
          ["PUT", `chat/${chatId}/share`, {}],
          ["PUT", `chat/${chatId}/groups`, { groupIds: [] }],
          ["DELETE", `file/${fileId}`],
          ["PUT", `project/${id}`, { name: "Otro" }],
          ["DELETE", `project/${id}`],
          ["POST", `project/${id}/members`, { email: admin.email, role: "reads" }],
          ["DELETE", `project/${id}/members/${carla.id === member.id ? berta.id : carla.id}`],
          ["PUT", `project/${id}/owner`, { userId: member.id }],
          ["POST", "intelligence/conversation", { chatId, content: "¿Y yo?" }],
        ] as const) {
          expect([path, await status(method, `/api/${path}`, member, json)]).toEqual([path, 404]);
        }
      }
      expect(await status("GET", `/api/chat/${chatId}`, admin)).toBe(200);
      const stranger = await api.signUp("Otra");
      for (const path of [
        `project/${id}`,
        `project/${id}/members`,
        `chat/${chatId}`,
        `file/${fileId}`,
        `message/${messageId}`,
      ]) {
        expect([path, await status("GET", `/api/${path}`, stranger)]).toEqual([path, 404]);
      }
      expect(await status("POST", `/api/chat/${chatId}/copy`, stranger)).toBe(404);
    });

    it("writers add chats and documents to a project, readers cannot", async () => {
      const id = await project([
        [berta, "writes"],
        [carla, "reads"],
      ]);
      const mine = await begun(berta, { projectId: id });
      expect((await call("GET", `/api/chat${filter({ projectId: id })}`, ana)).text).toContain(mine.chatId);
      const send = { content: "Hola", projectId: id };
      expect(await status("POST", "/api/intelligence/conversation", carla, send)).toBe(404);
      expect(await status("POST", "/api/chat", carla, { projectId: id })).toBe(422);
      expect((await api.upload(carla.token, [new File(["x"], "x.txt")], { projectId: id })).status).toBe(422);
      const added = await api.upload(berta.token, [new File(["El faro de Berta mide 34 metros."], "faro.txt")], {
        projectId: id,
      });
      expect(added.status).toBe(201);
      const reply = await begun(ana, { projectId: id, content: "¿Cuánto mide el faro?" });
      const { text } = await call("GET", `/api/message/${reply.messageId}`, ana);
      expect(text).toContain("34 metros");
      // Berta's things elsewhere are nobody's here.
      await api.upload(berta.token, [new File(["La clave de la caja de Berta es 4711."], "caja.txt")]);
      const other = await begun(ana, { projectId: id, content: "¿Cuál es la clave de la caja?" });
      expect((await call("GET", `/api/message/${other.messageId}`, ana)).text).not.toContain("4711");
    });

    it("members leave with their chats; owners transfer the project first", async () => {
      const id = await project([[berta, "writes"]]);
      const hers = await begun(berta, { projectId: id });
      expect(await status("DELETE", `/api/project/${id}/members/${ana.id}`, ana)).toBe(409);
      expect(await status("PUT", `/api/project/${id}/owner`, ana, { userId: carla.id })).toBe(422);
      expect(await status("PUT", `/api/project/${id}/owner`, ana, { userId: berta.id })).toBe(204);
      const { body } = await call("GET", `/api/project/${id}/members`, ana);
      expect((body as { items: { userId: string; role: string }[] }).items).toMatchObject([
        { userId: berta.id, role: "owner" },
        { userId: ana.id, role: "writes" },
      ]);
      const annas = await begun(ana, { projectId: id });
      expect(await status("DELETE", `/api/project/${id}/members/${ana.id}`, ana)).toBe(204);
      expect(await status("GET", `/api/project/${id}`, ana)).toBe(404);
      expect(await status("GET", `/api/chat/${hers.chatId}`, ana)).toBe(404);
      expect((await call("GET", `/api/chat/${annas.chatId}`, ana)).body).toMatchObject({ projectId: null });
      expect(await status("GET", `/api/chat/${annas.chatId}`, berta)).toBe(404);
    });

    it("members keep their content after project or owner deletion", async () => {
      for (const gone of ["project", "account"]) {
        const owner = await api.signUp("Duenya");
        const id = await made("/api/project", owner, { name: "Breve" });
        await call("POST", `/api/project/${id}/members`, owner, { email: berta.email, role: "writes" });
        const hers = await begun(berta, { projectId: id });
        const file = await api.upload(berta.token, [new File(["x"], "x.txt")], { projectId: id });
        const fileId = (file.body as { items: { id: string }[] }).items[0]?.id;
        if (gone === "project") await call("DELETE", `/api/project/${id}`, owner);
        else await call("DELETE", `/api/user/${owner.id}`, owner, { currentPassword: password });
        expect(await status("GET", `/api/project/${id}`, berta)).toBe(404);
        expect((await call("GET", `/api/chat/${hers.chatId}`, berta)).body).toMatchObject({ projectId: null });
        expect(await status("GET", `/api/file/${fileId}/content`, berta)).toBe(200);
      }
    });

    it("shared chats hide the author's other chats and files", async () => {
      const group = await made("/api/group", admin, { name: "Lectura" });
      for (const { id } of [ana, berta]) await made("/api/member", admin, { groupId: group, userId: id });
      const upload = async (name: string) => {
        const sent = await api.upload(ana.token, [new File(["x"], name)]);
        return (sent.body as { items: { id: string }[] }).items[0]?.id ?? "";
      };
      const [secret, attached] = [await upload("diario.txt"), await upload("adjunto.txt")];
      const { chatId, messageId } = await begun(ana, { fileIds: [attached] });
      await call("PUT", `/api/chat/${chatId}/groups`, ana, { groupIds: [group] });
      const none = { chatId: null, messageId: null };
      const sources = [
        { n: 1, kind: "message", title: "Otra SECRETO", quote: "SECRETO", chatId: "otra", messageId: "otro" },
        { n: 2, kind: "file", title: "SECRETO", quote: "SECRETO", ...none, fileId: secret, position: 0 },
        { n: 3, kind: "file", title: "adjunto.txt", quote: "Lo adjunto", ...none, fileId: attached, position: 0 },
        { n: 4, kind: "message", title: "Esta", quote: "De aquí", chatId, messageId },
        { n: 5, kind: "page", title: "Una página", quote: "De la web", ...none, url: "https://pan.example/" },
      ];
      await api.db
        .updateTable("messages")
        .set({ sources: JSON.stringify(sources) })
        .where("id", "=", messageId)
        .execute();
      const now = Date.now();
      const found = { tool: "buscar_en_mis_documentos", label: "Buscar", toolId: "d", server: null, input: "{}" };
      await api.db
        .insertInto("parts")
        .values({
          id: crypto.randomUUID(),
          createdAt: now,
          updatedAt: now,
          messageId,
          n: 0,
          kind: "tool",
          at: 0,
          text: "[1] SECRETO",
          finishedAt: now,
          status: "done",
          origin: "*",
          data: JSON.stringify({ id: "c", step: 0, name: "buscar_en_mis_documentos", readOnly: true, ...found }),
        })
        .execute();
      const ways = {
        page: (by: Account) => call("GET", `/api/chat/${chatId}/messages`, by),
        message: (by: Account) => call("GET", `/api/message/${messageId}`, by),
        stream: async (by: Account) => ({ text: JSON.stringify(await api.converse(by.token, { messageId })) }),
      };
      for (const [way, read] of Object.entries(ways)) {
        expect((await read(ana)).text.match(/SECRETO/g), way).toHaveLength(5);
        const seen = (await read(berta)).text;
        expect(seen, way).not.toContain("SECRETO");
        for (const own of ["Lo adjunto", "De aquí", "De la web"]) expect(seen, way).toContain(own);
        expect(seen.match(/Algo de quien la escribió\./g), way).toHaveLength(3);
      }
      await call("PUT", `/api/chat/${chatId}/groups`, ana, { groupIds: [] });
    });

    it("a group reads a shared chat and continues in copies", async () => {
      const group = await made("/api/group", admin, { name: "Legal" });
      const foreign = await made("/api/group", admin, { name: "Ventas" });
      for (const { id } of [ana, berta]) await made("/api/member", admin, { groupId: group, userId: id });
      const { chatId } = await begun(ana);
      const show = (groupIds: string[], by = ana) => status("PUT", `/api/chat/${chatId}/groups`, by, { groupIds });
      expect(await show([foreign])).toBe(422);
      expect(await show([group])).toBe(204);
      expect(await names("/api/chat/shown", berta)).toHaveLength(1);
      expect(await names("/api/chat/shown", carla)).toEqual([]);
      expect(await status("GET", `/api/chat/${chatId}`, berta)).toBe(200);
      expect(await status("GET", `/api/chat/${chatId}`, carla)).toBe(404);
      expect(await status("POST", `/api/chat/${chatId}/copy`, carla)).toBe(404);
      const copy = await made(`/api/chat/${chatId}/copy`, berta, {});
      const { body } = await call("GET", `/api/chat/${copy}/messages`, berta);
      expect((body as { items: { content: string }[] }).items[0]?.content).toBe("El plazo acaba el martes");
      const next = await begun(berta, { chatId: copy, content: "¿Cuándo acaba?" });
      expect(next.chatId).toBe(copy);
      expect((await call("GET", `/api/chat/${chatId}/messages`, ana)).text).not.toContain("¿Cuándo acaba?");
      expect(await status("GET", `/api/chat/${copy}`, ana)).toBe(404);
      const memberOf = async (userId: string) =>
        (
          (await call("GET", `/api/member${filter({ userId, groupId: group })}`, admin)).body as {
            items: { id: string }[];
          }
        ).items[0]?.id;
      expect(await status("DELETE", `/api/member/${await memberOf(ana.id)}`, admin)).toBe(204);
      expect(await names("/api/chat/shown", berta)).toEqual([]);
      expect(await status("GET", `/api/chat/${chatId}`, berta)).toBe(404);
      await made("/api/member", admin, { groupId: group, userId: ana.id });
      const { items } = (await call("GET", `/api/member${filter({ userId: berta.id })}`, admin)).body as {
        items: { id: string }[];
      };
      await call("DELETE", `/api/member/${items[0]?.id}`, admin);
      expect(await status("GET", `/api/chat/${chatId}`, berta)).toBe(404);
      expect(await show([], admin)).toBe(204);
    });

    it("a copy made during a reply ends with the question", async () => {
      const { chatId, messageId } = await begun(ana);
      await api.db.updateTable("messages").set({ status: "streaming" }).where("id", "=", messageId).execute();
      const copy = await made(`/api/chat/${chatId}/copy`, ana, {});
      await api.db.updateTable("messages").set({ status: "complete" }).where("id", "=", messageId).execute();
      const { body } = await call("GET", `/api/chat/${copy}/messages`, ana);
      const { items } = body as { items: { role: string; content: string }[] };
      expect(items.map(({ role, content }) => [role, content])).toEqual([["user", "El plazo acaba el martes"]]);
    });

    it("nothing temporary is shown or copied", async () => {
      const { chatId } = await begun(ana, { temporary: true });
      expect(await status("PUT", `/api/chat/${chatId}/groups`, ana, { groupIds: [] })).toBe(422);
      expect(await status("POST", `/api/chat/${chatId}/copy`, ana)).toBe(422);
    });
  });
}
