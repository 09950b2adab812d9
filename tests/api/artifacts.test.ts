import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";
import { makes, startWritingModel } from "../support/writing-model.ts";

type Artifact = { id: string; n: number; title: string; version: number; text: string; fileId: string | null };
let models: Awaited<ReturnType<typeof startWritingModel>>;
beforeAll(async () => {
  models = await startWritingModel();
});
afterAll(() => models.stop());

for (const engine of await ruleEngines()) {
  describe(`artifacts, on ${engine.name}`, () => {
    let api: Api;
    let ana: Account;
    let luis: Account;
    let modelId: string;
    beforeAll(async () => {
      api = await openApi(engine, { modelSilence: 20_000 });
      const admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
      luis = await api.signUp("Luis");
      const json = {
        ...{ name: "Escribano", provider: "openai-compatible", externalId: "x", usesTools: true },
        baseUrl: models.url,
      };
      modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
    });
    afterAll(() => api.close());

    const ask = async (content: string, chatId?: string, more: object = {}) => {
      const json = { content, modelId, ...(chatId && { chatId }), ...more };
      const chunks = await api.converse(ana.token, json);
      const start = chunks.find((chunk) => chunk.type === "start");
      return { chatId: start?.chatId ?? "", replyId: start?.messageId ?? "", chunks };
    };
    const list = async (query: string, { token } = ana) =>
      ((await api.call("GET", `/api/artifact?${query}`, { token })).body as { items: Artifact[] }).items;
    const read = async (id: string, version = "", { token } = ana) =>
      (await api.call("GET", `/api/artifact/${id}${version}`, { token })).body as Artifact;
    const write = async (json: object, { token } = ana) =>
      (await api.call("POST", "/api/artifact", { token, json })).body as Artifact;
    const change = (id: string, json: object, ifMatch = "", { token } = ana) =>
      api.call("PATCH", `/api/artifact/${id}`, {
        token,
        json,
        ...(ifMatch && { headers: { "If-Match": `"${ifMatch}"` } }),
      });
    const saidBy = async (replyId: string) =>
      ((await api.call("GET", `/api/message/${replyId}`, { token: ana.token })).body as { content: string }).content;

    it("are written by a model and edited by passage", async () => {
      const input = { titulo: "Informe de aguas", texto: "# Aguas\n\nEl agua está “bien”.\n\nFin." };
      const { chatId } = await ask(makes("escribir", input));
      const [made] = await list(`chatId=${chatId}`);
      expect(made).toMatchObject({ title: "Informe de aguas", version: 1 });
      const given = { escrito: 1, pasaje: 'El agua  está "bien".', por: "El agua está mal.", motivo: "Otra medida" };
      await ask(makes("cambiar", given), chatId);
      const now = await read(made?.id ?? "");
      expect(now).toMatchObject({ version: 2, text: "# Aguas\n\nEl agua está mal.\n\nFin." });
      const { body } = await api.call("GET", `/api/artifact/${made?.id}/versions`, { token: ana.token });
      expect(body).toMatchObject({
        items: [
          { n: 2, reason: "Otra medida", writer: { person: false, name: "Escribano" } },
          { n: 1, writer: { person: false } },
        ],
      });
    });

    it("stream while a model writes and stay after a stop", async () => {
      const letGo = models.hold();
      const text = `${"Primera parte. ".repeat(40)}FIN`;
      const { chatId, messageId } = await api.start(ana.token, {
        content: makes("escribir", { titulo: "Largo", texto: text }),
        modelId,
      });
      await expect.poll(async () => (await list(`chatId=${chatId}`)).length).toBe(1);
      const [growing] = await list(`chatId=${chatId}`);
      expect(growing).toMatchObject({ title: "Largo", version: 0 });
      await expect.poll(async () => (await read(growing?.id ?? "")).text).toContain("Primera parte.");
      const refused = await change(growing?.id ?? "", { text: "Otra cosa" });
      expect(refused.status).toBe(422);
      const token = ana.token;
      await api.call("POST", `/api/intelligence/conversation/${messageId}/stop`, { token });
      await expect.poll(async () => (await read(growing?.id ?? "")).version).toBe(1);
      letGo();
      const kept = await read(growing?.id ?? "");
      expect(text.startsWith(kept.text)).toBe(true);
      expect(kept.text.length).toBeGreaterThan(100);
      const { body } = await api.call("GET", `/api/artifact/${kept.id}/versions`, { token });
      expect(JSON.stringify(body)).toContain("Sin acabar");
    });

    it("create a single version when followed during writing", async () => {
      const letGo = models.hold();
      const content = makes("escribir", { titulo: "Uno solo", texto: "Un texto de dos partes." });
      const { chatId, messageId } = await api.start(ana.token, { content, modelId });
      await expect.poll(async () => (await list(`chatId=${chatId}`)).length).toBe(1);
      const followed = api.fetch(`/api/artifact/${(await list(`chatId=${chatId}`))[0]?.id}/growth`, ana.token);
      letGo();
      expect(await (await followed).text()).toBe("Un texto de dos partes.");
      await expect.poll(() => saidBy(messageId)).toContain("Hecho");
      const [made, ...others] = await list(`chatId=${chatId}`);
      expect([made?.version, others]).toEqual([1, []]);
    });

    it("go into each prompt as data, long ones by parts", async () => {
      const { chatId } = await ask(makes("escribir", { titulo: "Corto", texto: "El plazo es de tres días." }));
      await ask("¿Cuál es el plazo?", chatId);
      const given = JSON.stringify(models.asked.at(-1));
      expect(given).toMatch(/entre las marcas <[\w-]+>[^"]*Son datos/);
      expect(given).toContain("El plazo es de tres días.");
      const long = await write({
        title: "Largo",
        text: `Comienzo.\n\n${"Relleno. ".repeat(20_000)}\n\nLa clave es zanahoria.`,
        chatId,
      });
      expect(long.n).toBeUndefined();
      await ask("¿Y ahora?", chatId);
      expect(JSON.stringify(models.asked.at(-1))).not.toContain("zanahoria");
      expect(JSON.stringify(models.asked.at(-1))).toContain("leer_escrito");
      const { replyId } = await ask(makes("leer_escrito", { escrito: 2, busca: "clave" }), chatId);
      expect(await saidBy(replyId)).toContain("zanahoria");
    });

    it("tell a model what it did wrong", async () => {
      const { chatId } = await ask(makes("escribir", { titulo: "Dos", texto: "Igual. Igual." }));
      const twice = await ask(makes("cambiar", { escrito: 1, pasaje: "Igual.", por: "Otro." }), chatId);
      expect(await saidBy(twice.replyId)).toContain("está 2 veces");
      const none = await ask(makes("cambiar", { escrito: 1, pasaje: "No está", por: "x" }), chatId);
      expect(await saidBy(none.replyId)).toContain("no está en el escrito");
      const other = await ask(makes("cambiar", { escrito: 7, pasaje: "Igual.", por: "x" }), chatId);
      expect(await saidBy(other.replyId)).toContain("Los que hay: 1 («Dos»)");
    });

    it("keep the beginning of a text over the limit", async () => {
      const { chatId, chunks } = await ask(makes("escribir", { titulo: "Enorme", texto: "sin fin " }, 625_000));
      expect(JSON.stringify(chunks.at(-1))).toMatch(/failed|interrupted/);
      const [kept] = await list(`chatId=${chatId}`);
      expect(kept).toMatchObject({ title: "Enorme", version: 1 });
      expect((await read(kept?.id ?? "")).text.length).toBeLessThanOrEqual(500_000);
      const { status, body } = await api.call("POST", "/api/artifact", {
        token: ana.token,
        json: { title: "Largo", text: "a".repeat(500_001) },
      });
      expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining("500.000 letras como mucho")]);
    });

    it("refuse a stale change and keep the earlier version", async () => {
      const made = await write({ title: "De dos", text: "Uno" });
      const { updatedAt } = (await read(made.id)) as Artifact & { updatedAt: string };
      expect((await change(made.id, { text: "Dos" }, updatedAt)).status).toBe(200);
      const late = await change(made.id, { text: "Tres" }, updatedAt);
      expect(late.status).toBe(409);
      expect(late.body).toMatchObject({ current: { text: "Dos", version: 2 } });
      expect((await read(made.id)).text).toBe("Dos");
      expect((await read(made.id, "?version=1")).text).toBe("Uno");
    });

    it("are found by search and read only by project members", async () => {
      const made = await write({ title: "Zarzuela / menú", text: "La receta lleva azafrán molido." });
      const found = async () =>
        (await api.call("GET", "/api/search?q=azafr%C3%A1n", { token: ana.token })).text.includes("Zarzuela");
      await expect.poll(found, { timeout: 60_000 }).toBe(true);
      const file = await api.call("GET", `/api/file/${(await read(made.id)).fileId}`, { token: ana.token });
      expect(file.body).toMatchObject({ name: "Zarzuela menú.md" });
      const refused = await api.call("DELETE", `/api/file/${(await read(made.id)).fileId}`, { token: ana.token });
      expect(refused.status).toBe(409);
      expect((await api.call("GET", `/api/artifact/${made.id}`, { token: luis.token })).status).toBe(404);
      await change(made.id, { text: "Ahora lleva pimentón." });
      const pepper = async () =>
        (await api.call("GET", "/api/search?q=piment%C3%B3n", { token: ana.token })).text.includes("Zarzuela");
      await expect.poll(pepper, { timeout: 60_000 }).toBe(true);
      const project = await api.call("POST", "/api/project", { token: ana.token, json: { name: "Cocina" } });
      const { id: projectId } = project.body as { id: string };
      await api.call("POST", `/api/project/${projectId}/members`, {
        token: ana.token,
        json: { email: luis.email, role: "reads" },
      });
      expect((await change(made.id, { projectId })).status).toBe(200);
      expect((await read(made.id, "", luis)).text).toBe("Ahora lleva pimentón.");
      expect((await change(made.id, { text: "De Luis" }, "", luis)).status).toBe(404);
      expect((await api.call("DELETE", `/api/artifact/${made.id}`, { token: luis.token })).status).toBe(404);
      expect((await api.call("DELETE", `/api/artifact/${made.id}`, { token: ana.token })).status).toBe(204);
      expect(await found()).toBe(false);
    });

    it("of a temporary chat are its session's, and no file", async () => {
      const content = makes("escribir", { titulo: "Secreto", texto: "Nadie lo guarda." });
      const { chatId } = await ask(content, undefined, { temporary: true });
      const [made] = await list(`chatId=${chatId}`);
      expect(made).toMatchObject({ temporary: true, fileId: null });
      const refused = await api.call("PUT", `/api/artifact/${made?.id}/share`, { token: ana.token });
      expect(refused.status).toBe(422);
      const elsewhere = await api.call("POST", "/auth/signin", { json: { email: ana.email, password } });
      expect((await api.call("GET", `/api/artifact/${made?.id}`, { token: elsewhere.text })).status).toBe(404);
    });

    it("are shared by the owner only, with a fixed version", async () => {
      const made = await write({ title: "Público", text: "Para todos" });
      const share = (token: string) => api.call("PUT", `/api/artifact/${made.id}/share`, { token });
      expect((await share(luis.token)).status).toBe(404);
      const twice = await Promise.all([share(ana.token), share(ana.token)]);
      const [first, second] = twice.map(({ body }) => body as { token: string; version: number });
      expect(second).toEqual(first);
      expect(await read(made.id)).toMatchObject({ share: first });
      const shared = () => api.call("GET", `/api/share/artifact/${first?.token}`);
      expect((await shared()).body).toMatchObject({ title: "Público", text: "Para todos", version: 1, aiNotice: null });
      for (let n = 1; n <= 101; n++) await change(made.id, { text: String(n) });
      expect((await shared()).body).toMatchObject({ text: "Para todos" });
      expect((await api.call("DELETE", `/api/artifact/${made.id}`, { token: ana.token })).status).toBe(204);
      expect((await shared()).status).toBe(404);
    });

    it("keep their hundred newest versions", async () => {
      const made = await write({ title: "Muchas", text: "0" });
      for (let n = 1; n <= 101; n++) expect((await change(made.id, { text: String(n) })).status).toBe(200);
      expect(await read(made.id)).toMatchObject({ version: 102, text: "101" });
      expect((await api.call("GET", `/api/artifact/${made.id}?version=2`, { token: ana.token })).status).toBe(404);
      expect((await read(made.id, "?version=3")).text).toBe("2");
    });
  });
}
