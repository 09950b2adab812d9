import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chunk } from "../../app/replies/chunk.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startModelServer, startRecorder } from "../support/model-server.ts";

let mock: LLMock;
let recorder: Awaited<ReturnType<typeof startRecorder>>;
beforeAll(async () => {
  mock = await startModelServer();
  recorder = await startRecorder(mock.url);
});
afterAll(async () => {
  recorder.stop();
  await mock.stop();
});

type Assistant = { id: string; version: number; instructions: string; fileIds: string[]; mayChange: boolean };
type Body = {
  model: string;
  temperature?: number;
  tools?: { function: { name: string } }[];
  messages: { content: unknown }[];
};

describe.each(await ruleEngines())("assistants, on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let ana: Account;
  let berta: Account;
  const models: string[] = [];

  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp("Ana");
    berta = await api.signUp("Berta");
    for (const externalId of ["uno", "dos"]) {
      const json = {
        name: externalId,
        provider: "openai-compatible",
        externalId,
        baseUrl: `${recorder.url}/v1`,
        usesTools: true,
      };
      models.push(((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id);
    }
  });
  afterAll(() => api.close());

  const make = async (token: string, json: Record<string, unknown>) =>
    (await api.call("POST", "/api/assistant", { token, json: { name: "Corrector", ...json } })).body as Assistant;
  /** Questions to the model, but for titles. */
  const asked = (): Body =>
    recorder.bodies
      .map((body) => JSON.parse(body) as Body)
      .findLast(({ messages }) => !/Pon título/.test(JSON.stringify(messages))) as Body;
  const idsIn = (chunks: Chunk[]) => {
    if (chunks[0]?.type !== "start") throw new Error("no start");
    return chunks[0];
  };

  it("apply their settings to a chat until removed from it", async () => {
    const sent = await api.upload(ana.token, [new File(["La clave del portal es faisán."], "portal.txt")]);
    const fileIds = (sent.body as { items: { id: string }[] }).items.map(({ id }) => id);
    const tools = (await api.call("GET", "/api/tool", { token: ana.token })).body as {
      items: { id: string; kind: string }[];
    };
    const sums = tools.items.find(({ kind }) => kind === "sums")?.id;
    const { id: assistantId } = await make(ana.token, {
      instructions: "Corrige sin piedad.",
      modelId: models[1],
      temperature: 0.1,
      toolIds: [sums],
      fileIds,
    });
    const first = await api.converse(ana.token, {
      content: "¿Cuál es la clave del portal?",
      assistantId,
      modelId: models[0],
    });
    const { chatId, messageId } = idsIn(first);
    expect(asked()).toMatchObject({ model: "dos", temperature: 0.1 });
    expect(asked().tools?.map((tool) => tool.function.name)).toEqual(["calcular"]);
    expect(JSON.stringify(asked().messages)).toContain("Corrige sin piedad.");
    expect(JSON.stringify(asked().messages)).toContain("faisán");
    const prompt = await api.call("GET", `/api/message/${messageId}/prompt`, { token: ana.token });
    expect(prompt.text).toContain("Instrucciones del asistente «Corrector», versión 1");

    // Kept with the chat, by its newest version.
    const changed = { name: "Corrector", instructions: "Corrige con cariño.", modelId: models[1] };
    await api.call("PUT", `/api/assistant/${assistantId}`, { token: ana.token, json: changed });
    const second = await api.converse(ana.token, { chatId, content: "Otra" });
    expect(JSON.stringify(asked().messages)).toContain("Corrige con cariño.");
    const later = await api.call("GET", `/api/message/${idsIn(second).messageId}/prompt`, { token: ana.token });
    expect(later.text).toContain("versión 2");
    await api.converse(ana.token, { chatId, content: "Y otra", assistantId: null, modelId: models[0] });
    expect(asked().model).toBe("uno");
    expect(JSON.stringify(asked().messages)).not.toContain("Corrige");
  });

  it("are private, or shared by administrators without exposing their documents", async () => {
    const own = await make(ana.token, {});
    expect((await api.call("GET", `/api/assistant/${own.id}`, { token: berta.token })).status).toBe(404);
    expect((await api.call("GET", `/api/assistant/${own.id}`, { token: admin.token })).status).toBe(404);
    const refused = await api
      .converse(berta.token, { content: "Hola", assistantId: own.id })
      .catch((error: Error) => error);
    expect(String(refused)).toContain("ya no está disponible");
    const shared = await api.call("POST", "/api/assistant", { token: ana.token, json: { name: "X", shared: true } });
    expect(shared.text).toContain("Solo quien administra");

    const sent = await api.upload(admin.token, [
      new File(["El horario de la biblioteca es de nueve a tres."], "horario.txt"),
      new File(["La nómina secreta de la biblioteca."], "nomina.txt"),
    ]);
    const files = (sent.body as { items: { id: string; name: string }[] }).items;
    const fileIds = files.filter(({ name }) => name === "horario.txt").map(({ id }) => id);
    const forAll = await make(admin.token, { instructions: "SECRETO", shared: true, fileIds });
    const seen = (await api.call("GET", `/api/assistant/${forAll.id}`, { token: berta.token })).body as Assistant;
    expect(seen).toMatchObject({ instructions: "", fileIds: [], mayChange: false });
    const put = { token: berta.token, json: { name: "Mío" } };
    expect((await api.call("PUT", `/api/assistant/${forAll.id}`, put)).status).toBe(404);
    const chunks = await api.converse(berta.token, {
      content: "¿Cuál es el horario de la biblioteca y su nómina?",
      assistantId: forAll.id,
      modelId: models[0],
    });
    expect(JSON.stringify(asked().messages)).toContain("de nueve a tres");
    expect(JSON.stringify(asked().messages)).not.toContain("nómina secreta");
    const reply = (await api.call("GET", `/api/message/${idsIn(chunks).messageId}`, { token: berta.token })).body as {
      sources: { fileId: string | null }[];
    };
    expect(reply.sources).toMatchObject([{ fileId: null }]);
    // Another's files are not lent.
    const stolen = await api.call("POST", "/api/assistant", { token: ana.token, json: { name: "X", fileIds } });
    expect(stolen.status).toBe(422);
    await api.call("DELETE", `/api/assistant/${forAll.id}`, { token: admin.token });
    const { chatId } = idsIn(chunks);
    await api.converse(berta.token, { chatId, content: "¿Y ahora?" });
    expect(JSON.stringify(asked().messages)).not.toContain("SECRETO");
  });

  it("templates are one's own, or by an admin for all", async () => {
    const json = { title: "Carta", content: "Escribe a {{nombre}} en {{ciudad}}." };
    const own = (await api.call("POST", "/api/template", { token: ana.token, json })).body as { id: string };
    expect((await api.call("GET", `/api/template/${own.id}`, { token: berta.token })).status).toBe(404);
    const shared = { token: admin.token, json: { ...json, title: "De todos", shared: true } };
    await api.call("POST", "/api/template", shared);
    const list = await api.call("GET", "/api/template", { token: berta.token });
    expect((list.body as { items: { title: string; mayChange: boolean }[] }).items).toMatchObject([
      { title: "De todos", mayChange: false },
    ]);
    expect(
      (await api.call("POST", "/api/template", { token: ana.token, json: { ...json, shared: true } })).status,
    ).toBe(422);
  });
});
