import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { streamed } from "../support/doors.ts";
import { ruleEngines } from "../support/engines.ts";

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** How a model of the server below answers, by its name there. */
const answers: Record<string, (response: ServerResponse) => void> = {
  caido: (response) => response.writeHead(503).end("{}"),
  mudo: (response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders(),
  cortado: (response) => {
    const [first = ""] = streamed("Empiezo así").split("\n\n");
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(`${first}\n\n`);
    setImmediate(() => response.destroy());
  },
  bueno: (response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(streamed("Contesto yo")),
};
const asked: { model: string; body: string }[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { model } = JSON.parse(body) as { model: string };
  asked.push({ model, body });
  answers[model]?.(response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

type Message = { status: string; error: string | null; modelId: string; content: string };

for (const engine of await ruleEngines()) {
  describe(`«Si falla, sigue con…» on ${engine.name}`, () => {
    let api: Api;
    let admin: Account;
    let ana: Account;
    beforeAll(async () => {
      api = await openApi(engine, { modelSilence: 300 });
      admin = await api.signUp("Admin");
      ana = await api.signUp("Ana");
    });
    afterAll(() => api.close());

    const bodyOf = (name: string, more: object = {}) => ({
      ...{ name, provider: "openai-compatible", externalId: name },
      ...{ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, ...more },
    });
    async function make(name: string, more: object = {}): Promise<string> {
      const answer = await api.call("POST", "/api/model", { token: admin.token, json: bodyOf(name, more) });
      expect(answer.status, answer.text).toBe(201);
      return (answer.body as { id: string }).id;
    }
    async function ask(modelId: string, content = "Hola"): Promise<{ text: string; reply: Message }> {
      asked.length = 0;
      const chunks = await api.converse(ana.token, { content, modelId });
      const id = chunks[0]?.type === "start" ? chunks[0].messageId : "";
      const { body } = await api.call("GET", `/api/message/${id}`, { token: ana.token });
      return { text: textOf(chunks), reply: body };
    }
    // Titles are asked for after a reply.
    const models = () => asked.filter(({ body }) => !body.includes("Pon título")).map(({ model }) => model);

    it.each([
      ["is down", "caido"],
      ["says nothing in time", "mudo"],
    ])("uses the fallback where a model %s, and says so", async (_, name) => {
      const fallbackId = await make("bueno", { inputPrice: 1, outputPrice: 1 });
      const { text, reply } = await ask(await make(name, { fallbackId }));
      expect(text).toBe("Contesto yo");
      expect(reply).toMatchObject({
        status: "complete",
        modelId: fallbackId,
        error: `«${name}» ha fallado, y ha seguido «bueno».`,
      });
      expect(models()).toEqual([name, "bueno"]);
    });

    it("keeps a reply cut off midway without using a fallback", async () => {
      const { reply } = await ask(await make("cortado", { fallbackId: await make("bueno") }));
      expect(reply).toMatchObject({ status: "failed", content: "Empiezo así" });
      expect(models()).toEqual(["cortado"]);
    });

    it("skips disabled or restricted fallbacks and ends when all fail", async () => {
      const group = await api.call("POST", "/api/group", { token: admin.token, json: { name: "Otros" } });
      const last = await make("caido");
      const forOthers = await make("bueno", { fallbackId: last, groupIds: [(group.body as { id: string }).id] });
      const off = await make("bueno", { fallbackId: forOthers, enabled: false });
      const { reply } = await ask(await make("mudo", { fallbackId: off }));
      expect(reply.status).toBe("failed");
      expect(reply.error).toMatch(/^«mudo» ha fallado, y ha seguido «caido»\. .*no da abasto/);
      expect(models()).toEqual(["mudo", "caido"]);
    });

    it("a ring of models ends", async () => {
      const first = await make("caido");
      const second = await make("caido", { fallbackId: first });
      const json = bodyOf("caido", { fallbackId: second });
      expect((await api.call("PUT", `/api/model/${first}`, { token: admin.token, json })).status).toBe(200);
      expect((await ask(first)).reply.status).toBe("failed");
      expect(models()).toEqual(["caido", "caido"]);
    });

    it("shows no model what was hidden from the one before", async () => {
      const fallbackId = await make("bueno");
      await ask(await make("caido", { fallbackId, pseudonyms: true }), "Mi correo es ana@ejemplo.es");
      const last = asked.find(({ model }) => model === "bueno")?.body;
      expect(last).toContain("[CORREO 1]");
      expect(last).not.toContain("ana@ejemplo.es");
    });

    it("hides identifiers from the fallback when a reply is resumed", async () => {
      const fallbackId = await make("bueno");
      const { reply } = await ask(await make("caido", { fallbackId, pseudonyms: true }), "Mi correo es ana@ejemplo.es");
      const { id } = reply as Message & { id: string };
      await api.db.updateTable("messages").set({ status: "interrupted" }).where("id", "=", id).execute();
      asked.length = 0;
      await api.converse(ana.token, { parentId: id });
      expect(asked.length).toBeGreaterThan(0);
      for (const { body } of asked) expect(body).not.toContain("ana@ejemplo.es");
    });

    it("uses the fallback model for programs through the API too", async () => {
      const fallbackId = await make("bueno");
      const id = await make("caido", { fallbackId });
      const key = await api.call("POST", "/api/key", { token: ana.token, json: { name: "programa", scope: "write" } });
      const { token } = key.body as { token: string };
      asked.length = 0;
      const json = { model: id, messages: [{ role: "user", content: "Hola" }] };
      const answer = await api.call("POST", "/chat/completions", { token, json });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toContain("Contesto yo");
      expect(models()).toEqual(["caido", "bueno"]);
    });

    it("skips a fallback without image support for programs sending images", async () => {
      const last = await make("bueno", { acceptsImages: true });
      const blind = await make("bueno", { fallbackId: last, acceptsImages: false });
      const id = await make("caido", { fallbackId: blind, acceptsImages: true });
      const key = await api.call("POST", "/api/key", { token: ana.token, json: { name: "programa", scope: "write" } });
      const url = `data:image/png;base64,${Buffer.from(pixel).toString("base64")}`;
      const content = [
        { type: "text", text: "¿Qué es?" },
        { type: "image_url", image_url: { url } },
      ];
      asked.length = 0;
      const json = { model: id, messages: [{ role: "user", content }] };
      const answer = await api.call("POST", "/chat/completions", {
        token: (key.body as { token: string }).token,
        json,
      });
      expect(answer.status, answer.text).toBe(200);
      expect(models()).toEqual(["caido", "bueno"]);
    });

    it("is cleared on model deletion and refuses the model itself", async () => {
      const fallbackId = await make("bueno");
      const id = await make("caido", { fallbackId });
      const self = { token: admin.token, json: bodyOf("caido", { fallbackId: id }) };
      expect((await api.call("PUT", `/api/model/${id}`, self)).text).toContain("no puede seguir por sí mismo");
      const none = { token: admin.token, json: bodyOf("caido", { fallbackId: crypto.randomUUID() }) };
      expect((await api.call("PUT", `/api/model/${id}`, none)).text).toContain("Ese modelo no existe.");
      expect((await api.call("DELETE", `/api/model/${fallbackId}`, { token: admin.token })).status).toBe(204);
      const shown = await api.call("GET", `/api/model/${id}`, { token: admin.token });
      expect(shown.body).toMatchObject({ fallbackId: null });
      expect((await ask(id)).reply.status).toBe("failed");
    });
  });
}
