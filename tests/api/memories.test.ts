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

    it("is off until its person switches it on, and then given to models as data", async () => {
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

    it("is proposed by a model, and kept once its person says yes, with where it comes from", async () => {
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

    it("is not proposed where it is off, in temporary chats, or where the house does not have it", async () => {
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
