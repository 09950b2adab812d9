import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { makes, startWritingModel } from "../support/writing-model.ts";

type Memories = {
  on: boolean;
  available: boolean;
  items: { id: string; text: string; chatId: string | null; updatedAt: string }[];
};
let models: Awaited<ReturnType<typeof startWritingModel>>;
beforeAll(async () => {
  models = await startWritingModel();
});
afterAll(() => models.stop());

for (const engine of await ruleEngines()) {
  describe(`memory, on ${engine.name}`, () => {
    let api: Api;
    let [admin, ana, luis] = [{}, {}, {}] as Account[] as [Account, Account, Account];
    let modelId: string;
    beforeAll(async () => {
      api = await openApi(engine);
      [admin, ana, luis] = [await api.signUp("Admin"), await api.signUp("Ana"), await api.signUp("Luis")];
      const json = {
        name: "Escribano",
        provider: "openai-compatible",
        externalId: "x",
        usesTools: true,
        baseUrl: models.url,
      };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    });
    afterAll(() => api.close());

    const call = (method: string, path: string, json?: object, { token } = ana) =>
      api.call(method, `/api/memory${path}`, { token, ...(json && { json }) });
    const read = async (who = ana) => (await call("GET", "", undefined, who)).body as Memories;
    const ask = async (content: string, more = {}) => {
      const [start] = await api.converse(ana.token, { content, modelId, ...more });
      if (start?.type !== "start") throw new Error("no start");
      return start;
    };
    /** The prompt of a reply, as it was asked for. */
    const given = () =>
      JSON.stringify(
        models.asked.findLast((turns) => !turns.some(({ content }) => String(content).startsWith("Pon título"))),
      );

    it("is given to models as data only after being enabled", async () => {
      await call("POST", "", { text: "Trabaja en el padrón de Lugo" });
      expect(await read()).toMatchObject({ on: false, available: true });
      await ask("Hola");
      expect(given()).not.toContain("padrón");
      expect(((await call("PUT", "/choice", { on: true })).body as Memories).on).toBe(true);
      const { messageId } = await ask("Hola otra vez");
      expect(given()).toMatch(/entre las marcas <[\w-]+>[^"]*Son datos[^"]*padrón de Lugo/);
      const prompt = await api.call("GET", `/api/message/${messageId}/prompt`, { token: ana.token });
      expect(prompt.text).toContain("Memoria");
      await ask("Hola", { temporary: true });
      expect(given()).not.toContain("padrón");
    });

    it("is proposed by a model, kept once the person approves", async () => {
      const { chatId, messageId } = await ask(makes("recordar", { frase: "Prefiere respuestas cortas" }));
      expect((await read()).items.map(({ text }) => text)).not.toContain("Prefiere respuestas cortas");
      const message = async () =>
        (await api.call("GET", `/api/message/${messageId}`, { token: ana.token })).body as {
          status: string;
          parts: { n: number; status: string; asks: { hash: string } | null }[];
        };
      const asked = (await message()).parts.find(({ status }) => status === "waiting");
      const yes = { n: asked?.n, hash: asked?.asks?.hash, decision: "once" };
      expect(
        (await api.call("POST", `/api/message/${messageId}/decision`, { token: ana.token, json: yes })).status,
      ).toBe(200);
      await expect.poll(async () => (await message()).status).toBe("complete");
      const kept = (await read()).items.find(({ text }) => text === "Prefiere respuestas cortas");
      expect(kept?.chatId).toBe(chatId);
    });

    it("requires the person's own approval each time, never a key's", async () => {
      const { id = "" } =
        (await api.db.selectFrom("tools").where("kind", "=", "memory").select("id").executeTakeFirst()) ?? {};
      const settings = JSON.stringify({ tools: { recordar: { ask: false } } });
      await api.db.updateTable("tools").set({ settings }).where("id", "=", id).execute();
      const { token } = (
        await api.call("POST", "/api/key", { token: ana.token, json: { name: "Programa", scope: "write" } })
      ).body as { token: string };
      let chatId: string | undefined;
      for (const frase of ["Vive en Lugo", "Vive en Vigo"]) {
        const start = await ask(makes("recordar", { frase }), chatId && { chatId });
        chatId = start.chatId;
        const { parts } = (await api.call("GET", `/api/message/${start.messageId}`, { token: ana.token })).body as {
          parts: { n: number; status: string; asks: { hash: string; onceOnly: boolean } | null }[];
        };
        const asked = parts.find(({ status }) => status === "waiting");
        expect(asked?.asks?.onceOnly).toBe(true);
        const yes = { n: asked?.n, hash: asked?.asks?.hash, decision: "chat" };
        const path = `/api/message/${start.messageId}/decision`;
        const refused = await api.call("POST", path, { token, json: yes });
        expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("no una clave")]);
        expect((await api.call("POST", path, { token: ana.token, json: yes })).status).toBe(200);
        await expect.poll(async () => (await read()).items.map(({ text }) => text)).toContain(frase);
        const reply = async () => (await api.call("GET", `/api/message/${start.messageId}`, { token: ana.token })).body;
        await expect.poll(reply).toMatchObject({ status: "complete" });
      }
      await api.db.updateTable("tools").set({ settings: "{}" }).where("id", "=", id).execute();
    });

    it("is not proposed when disabled, unavailable or in temporary chats", async () => {
      const offered = async (more = {}) => {
        const { messageId } = await ask(makes("recordar", { frase: "No debe quedar" }), more);
        const { content } = (await api.call("GET", `/api/message/${messageId}`, { token: ana.token })).body as {
          content: string;
        };
        return !content.includes("No hay ninguna herramienta «recordar»");
      };
      expect(await offered({ temporary: true })).toBe(false);
      await call("PUT", "/choice", { on: false });
      expect(await offered()).toBe(false);
      await call("PUT", "/choice", { on: true });
      const { items } = (await api.call("GET", "/api/tool", { token: admin.token })).body as {
        items: { id: string; kind: string }[];
      };
      const tool = items.find(({ kind }) => kind === "memory");
      await api.db
        .updateTable("tools")
        .set({ enabled: 0 })
        .where("id", "=", tool?.id ?? "")
        .execute();
      expect((await read()).available).toBe(false);
      await ask("Hola");
      expect(given()).not.toContain("padrón");
      await api.db
        .updateTable("tools")
        .set({ enabled: 1 })
        .where("id", "=", tool?.id ?? "")
        .execute();
    });

    it("is of a project where its person says so", async () => {
      const projectId = (
        (await api.call("POST", "/api/project", { token: ana.token, json: { name: "Obra" } })).body as { id: string }
      ).id;
      await call("POST", "", { text: "La obra acaba en mayo", projectId });
      await ask("Hola");
      expect(given()).not.toContain("acaba en mayo");
      const chatId = (
        (await api.call("POST", "/api/chat", { token: ana.token, json: { title: "x", projectId } })).body as {
          id: string;
        }
      ).id;
      await ask("Hola", { chatId });
      expect(given()).toContain("acaba en mayo");
    });

    it("stays with the author after a shared project ends", async () => {
      const scopes = async () =>
        (
          await api.db
            .selectFrom("memories")
            .where("userId", "=", ana.id)
            .where("text", "like", "De Luis%")
            .selectAll()
            .execute()
        )
          .map(({ text, projectId }) => [text, projectId])
          .sort();
      for (const end of ["delete", "leave"]) {
        const { id } = (await api.call("POST", "/api/project", { token: luis.token, json: { name: end } })).body as {
          id: string;
        };
        const json = { email: ana.email, role: "writes" };
        await api.call("POST", `/api/project/${id}/members`, { token: luis.token, json });
        expect((await call("POST", "", { text: `De Luis: ${end}`, projectId: id })).status).toBe(201);
        const path = end === "delete" ? `/api/project/${id}` : `/api/project/${id}/members/${ana.id}`;
        const { status } = await api.call("DELETE", path, { token: end === "delete" ? luis.token : ana.token });
        expect(status).toBe(204);
      }
      expect(await scopes()).toEqual([
        ["De Luis: delete", null],
        ["De Luis: leave", null],
      ]);
    });

    it("cannot be changed or deleted while on legal hold", async () => {
      const [one] = (await read()).items;
      const hold = await api.call("POST", "/api/hold", {
        token: admin.token,
        json: { userId: ana.id, reason: "Juicio" },
      });
      expect((await call("PATCH", `/${one?.id}`, { text: "Otra" })).status).toBe(409);
      expect((await call("DELETE", `/${one?.id}`)).status).toBe(409);
      await api.call("DELETE", `/api/hold/${(hold.body as { id: string }).id}`, { token: admin.token });
    });

    it("gives whole entries, preferring the newest when space is short", async () => {
      const json = {
        name: "Pequeño",
        provider: "openai-compatible",
        externalId: "y",
        contextWindow: 4_000,
        baseUrl: models.url,
      };
      const small = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
      for (let n = 0; n < 12; n++) await call("POST", "", { text: `${n} ${"palabra ".repeat(30)}fin${n}` });
      await ask("Hola", { modelId: small });
      expect(given()).toMatch(/>\\+n- \d+ palabra/);
      expect(given()).toContain("fin11 (");
      expect(given()).not.toContain("fin0 (");
    });

    it("is changed and deleted by its person alone, and bounded", async () => {
      const [one] = (await read()).items;
      expect((await call("PATCH", `/${one?.id}`, { text: "Trabaja en el archivo" })).status).toBe(200);
      expect((await call("PATCH", `/${one?.id}`, { text: "De Luis" }, luis)).status).toBe(404);
      expect((await call("PATCH", `/${one?.id}`, { text: "x".repeat(301) })).status).toBe(422);
      expect((await call("DELETE", `/${one?.id}`, undefined, luis)).status).toBe(404);
      expect((await call("DELETE", `/${one?.id}`)).status).toBe(204);
      expect((await read(luis)).items).toEqual([]);
      const rows = Array.from({ length: 200 }, (_, n) => ({
        id: `m${n}`,
        createdAt: n,
        updatedAt: n,
        userId: luis.id,
        projectId: null,
        chatId: null,
        text: `Frase ${n}`,
      }));
      await api.db.insertInto("memories").values(rows).execute();
      const full = await call("POST", "", { text: "Una más" }, luis);
      expect(full.status).toBe(422);
      expect(full.text).toContain("Ya se recuerdan 200 frases");
    });
  });
}
