import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageRow } from "../../app/db/rows.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { startModelServer, startRecorder } from "../support/model-server.ts";

// The prompt on the wire: each part, whole and in its place.
describe.each(await ruleEngines())("the prompt on $name", (engine) => {
  let api: Api;
  let mock: LLMock;
  let recorder: Awaited<ReturnType<typeof startRecorder>>;
  let admin: Account;
  let ana: Account;
  let modelId: string;
  beforeAll(async () => {
    mock = await startModelServer();
    recorder = await startRecorder(mock.url);
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp("Ana");
    modelId = await make("model", {
      name: "Con todo",
      provider: "openai-compatible",
      externalId: "m",
      usesTools: false,
      baseUrl: `${recorder.url}/v1`,
      systemPrompt: "Eres el modelo de la casa.",
      maxOutputTokens: 321,
      temperature: 0.25,
      inputPrice: 2_000_000,
      outputPrice: 3_000_000,
    });
  });
  afterAll(async () => {
    await api.close();
    recorder.stop();
    await mock.stop();
  });

  const make = async (path: string, json: object, { token } = admin) => {
    const answer = await api.call("POST", `/api/${path}`, { token, json });
    expect([path, answer.status]).toEqual([path, 201]);
    return (answer.body as { id: string }).id;
  };
  const begun = async (json: Record<string, unknown>) => {
    const [start] = await api.converse(ana.token, { modelId, ...json });
    if (start?.type !== "start") throw new Error("a conversation begins with its start");
    return start;
  };
  type Sent = {
    messages: { role: string; content: string }[];
    temperature: number;
    max_tokens: number;
  };
  const sent = (words: string): Sent =>
    JSON.parse(recorder.bodies.findLast((body) => body.includes(words) && !body.includes("Pon título")) ?? "{}");

  it("marks files sent without text and titles the chat accordingly", async () => {
    const uploaded = await api.upload(ana.token, [new File(["Llovió el martes."], "diario.txt")]);
    const [{ id = "" } = {}] = (uploaded.body as { items: { id: string }[] }).items;
    const { chatId } = await begun({ content: " \n", fileIds: [id] });
    const { messages } = sent("Llovió el martes.");
    expect(messages.at(-1)?.content).toMatch(/^\[Documento adjunto «diario\.txt».*\]\n\[Enviado sin texto\.\]$/);
    const chats = await api.db.selectFrom("chats").where("id", "=", chatId).select(["title", "titled"]).execute();
    expect(chats[0]?.titled === 1 || chats[0]?.title === "diario.txt").toBe(true);
    const json = { content: "", fileIds: [], modelId };
    const empty = await api.call("POST", "/api/intelligence/conversation", { token: ana.token, json });
    expect([empty.status, empty.text]).toEqual([422, expect.stringContaining("Escribe un mensaje antes de enviarlo.")]);
  });

  it("includes an attached project document once, otherwise the relevant passages", async () => {
    const projectId = await make("project", { name: "Diarios" }, ana);
    const file = new File(["En la vega llovieron ranas el martes."], "diario.txt");
    const uploaded = await api.upload(ana.token, [file], { projectId });
    const [{ id = "" } = {}] = (uploaded.body as { items: { id: string }[] }).items;
    const timesIn = (words: string) => JSON.stringify(sent(words)).split("llovieron ranas").length - 1;
    await begun({ content: "¿Qué llovieron en la vega, según esto?", projectId, fileIds: [id] });
    expect(timesIn("según esto")).toBe(1);
    await begun({ content: "¿Qué llovieron en la vega, según los diarios?", projectId });
    expect(timesIn("según los diarios")).toBe(1);
  });

  it("includes passages found by model-suggested words when few match", async () => {
    const file = new File(["El arrendatario entrega una fianza de 640 euros."], "contrato.txt");
    const uploaded = await api.upload(ana.token, [file]);
    const [{ id = "" } = {}] = (uploaded.body as { items: { id: string }[] }).items;
    const projectId = await make("project", { name: "Piso" }, ana);
    await api.db.updateTable("files").set({ projectId }).where("id", "=", id).execute();
    const common = { provider: "openai-compatible", externalId: "m", usesTools: false, baseUrl: `${recorder.url}/v1` };
    const helping = await make("model", { ...common, name: "Que ayuda", helpsSearch: true });
    const content = "¿Cuánta pasta hay que soltar por adelantado al casero?";
    const alone = await begun({ content, projectId });
    expect(JSON.stringify(sent("pasta"))).not.toContain("640 euros");
    const helped = await begun({ content, projectId, modelId: helping });
    expect(JSON.stringify(sent("pasta"))).toContain("640 euros");
    const searched = async ({ messageId }: typeof helped) => {
      const { body } = await api.call("GET", `/api/message/${messageId}/prompt`, { token: ana.token });
      return (body as { searched: string[] }).searched;
    };
    expect(await searched(alone)).toEqual([]);
    expect(await searched(helped)).toEqual([
      "Fianza que entrega el arrendatario",
      "depósito en garantía",
      "lease deposit",
    ]);
  });

  it("asks for other search words only when needed, hiding identifiers", async () => {
    const uploaded = await api.upload(ana.token, [new File(["El padrón se cierra el viernes."], "padron.txt")]);
    const [{ id = "" } = {}] = (uploaded.body as { items: { id: string }[] }).items;
    const projectId = await make("project", { name: "Padrón" }, ana);
    await api.db.updateTable("files").set({ projectId }).where("id", "=", id).execute();
    const common = { provider: "openai-compatible", externalId: "m", usesTools: false, baseUrl: `${recorder.url}/v1` };
    const helping = await make("model", { ...common, name: "Discreta", helpsSearch: true, pseudonyms: true });
    const helps = () => recorder.bodies.filter((body) => body.includes("Alguien busca en sus documentos"));
    const before = helps().length;
    await begun({ content: "¿Cuándo se cierra el padrón?", projectId, modelId: helping });
    expect(helps().length).toBe(before);
    await begun({ content: "¿Dónde se apunta alguien con el DNI 12345678Z?", projectId, modelId: helping });
    const asked = helps().slice(before);
    expect(asked.join()).toContain("se apunta alguien");
    expect(asked.join()).not.toContain("12345678Z");
  });

  it("includes only the relevant passages of a document too long", async () => {
    const page = (n: number) => `Día ${n}. ${"Sin nada que contar, salvo el viento. ".repeat(60)}`;
    const days = Array.from({ length: 300 }, (_, n) => (n === 150 ? "Por la noche cayeron peces." : page(n)));
    const uploaded = await api.upload(ana.token, [new File([days.join("\n\n")], "largo.txt")]);
    const [{ id = "" } = {}] = (uploaded.body as { items: { id: string }[] }).items;
    await begun({ content: "¿Qué cayeron por la noche, según el diario largo?", fileIds: [id] });
    const asked = JSON.stringify(sent("según el diario largo"));
    expect(asked).toContain("cayeron peces");
    // The whole of it has 700,000 characters.
    expect(asked.length).toBeLessThan(100_000);
  });

  it("has a long conversation from its first word on", async () => {
    const { chatId, messageId } = await begun({ content: "El primer turno" });
    let parentId = messageId;
    const turns = Array.from({ length: 300 }, (_, n) => `Turno ${n}.`);
    for (const [n, content] of turns.entries()) {
      const role = n % 2 === 0 ? ("user" as const) : ("assistant" as const);
      const row = messageRow(Date.now(), { chatId, userId: ana.id, parentId, role, content });
      await api.db.insertInto("messages").values(row).execute();
      parentId = row.id;
    }
    await begun({ chatId, parentId, content: "Y el último turno" });
    const said = sent("Y el último turno").messages.map(({ content }) => String(content));
    expect(said.filter((content) => content.startsWith("Turno "))).toEqual(turns);
    expect(said.some((content) => content.includes("El primer turno"))).toBe(true);
  });

  it("orders instructions of model, house and project, examples, then conversation", async () => {
    const projectId = await make("project", { name: "Versos", instructions: "Responde en verso." }, ana);
    const other = await make("project", { name: "Otro", instructions: "Nunca se manda." }, ana);
    const training = (title: string, kind: string, content: string, more: object = {}) =>
      make("training", { title, kind, content, ...more });
    await training("Segunda", "instruction", "Trata de usted.", { position: 2 });
    await training("Primera", "instruction", "Sé breve.", { position: 1 });
    await training("Apagada", "instruction", "Esto está apagado.", { enabled: false });
    await training("Ajena", "instruction", "Esto es de otro proyecto.", { projectId: other });
    await training("Ejemplo", "example", "Pregunta: ¿Uno?\n\nRespuesta: Uno.", { position: 3 });
    const { chatId } = await begun({ content: "Primera pregunta", projectId });
    await begun({ content: "Segunda pregunta", chatId });
    const { messages, temperature, max_tokens } = sent("Segunda pregunta");
    expect(messages).toEqual([
      {
        role: "system",
        content: "Eres el modelo de la casa.\n\nSé breve.\n\nTrata de usted.\n\nResponde en verso.",
      },
      { role: "user", content: "¿Uno?" },
      { role: "assistant", content: "Uno." },
      { role: "user", content: "Primera pregunta" },
      { role: "assistant", content: "Una respuesta **breve**. Con dos frases." },
      { role: "user", content: "Segunda pregunta" },
    ]);
    expect({ temperature, max_tokens }).toEqual({ temperature: 0.25, max_tokens: 321 });
  });

  it("is requested by message id; invalid ids get Spanish errors", async () => {
    const answer = await api.call("GET", `/api/message/${"x".repeat(300)}/prompt`, { token: ana.token });
    expect(answer.status).toBe(422);
    expect((answer.body as { title: string }).title).toBe("Datos no válidos");
  });

  it("puts model and house instructions before those of a program", async () => {
    await api.call("POST", "/chat/completions", {
      token: ana.token,
      json: {
        model: "m",
        messages: [
          { role: "system", content: "Soy el programa." },
          { role: "user", content: "Desde fuera" },
        ],
      },
    });
    expect(sent("Desde fuera").messages).toEqual([
      { role: "system", content: "Eres el modelo de la casa.\n\nSé breve.\n\nTrata de usted.\n\nSoy el programa." },
      { role: "user", content: "Desde fuera" },
    ]);
  });

  it("counts tokens as the provider does and charges model prices, of titles too", async () => {
    const eva = await api.signUp("Eva");
    const used = async () => {
      const row = await api.db.selectFrom("usage").where("userId", "=", eva.id).selectAll().executeTakeFirstOrThrow();
      const counted = [row.messages, row.inputTokens, row.outputTokens, row.cost] as const;
      return counted.map(Number) as [number, number, number, number];
    };
    const exchange = async (json: Record<string, unknown>) => {
      const chunks = await api.converse(eva.token, json);
      const [end, start] = [chunks.find(({ type }) => type === "end"), chunks.find(({ type }) => type === "start")];
      if (end?.type !== "end" || start?.type !== "start") throw new Error("a reply starts and ends");
      expect(Math.min(end.usage.inputTokens, end.usage.outputTokens)).toBeGreaterThan(0);
      return { ...end.usage, chatId: start.chatId };
    };
    const first = await exchange({ content: "Cuánto cuesta", modelId });
    const before = await used();
    expect(before[0]).toBe(1);
    expect(before[1]).toBeGreaterThan(first.inputTokens);
    expect(before[2]).toBeGreaterThan(first.outputTokens);
    expect(before[3]).toBe(before[1] * 2 + before[2] * 3);
    // The chat has its title.
    const { inputTokens, outputTokens } = await exchange({ content: "Y esto", chatId: first.chatId });
    const cost = before[3] + inputTokens * 2 + outputTokens * 3;
    expect(await used()).toEqual([2, before[1] + inputTokens, before[2] + outputTokens, cost]);
  });

  it("counts tokens per calendar month and messages per day", async () => {
    const eva = await api.signUp("Eva");
    const today = new Date().toISOString().slice(0, 10);
    const month = today.slice(0, 8);
    const before = new Date(Date.parse(`${month}01`) - 1).toISOString().slice(0, 10);
    const use = (day: string, messages: number) =>
      api.db
        .insertInto("usage")
        .values({
          id: crypto.randomUUID(),
          createdAt: 1,
          updatedAt: 1,
          userId: eva.id,
          modelId,
          day,
          messages,
          inputTokens: 10 * messages,
          outputTokens: messages,
          cost: 0,
        })
        .execute();
    await use(before, 5);
    await use(today, 3);
    if (today !== `${month}01`) await use(`${month}01`, 2);
    const { usage } = (await api.call("GET", "/auth/session", { token: eva.token })).body as {
      usage: { messagesToday: number; tokensThisMonth: number };
    };
    const tokens = today === `${month}01` ? 33 : 55;
    expect([usage.messagesToday, usage.tokensThisMonth]).toEqual([3, tokens]);
  });

  it.each([
    ["is over", { endsAt: Date.now() - 1000 }],
    ["has not begun", { startsAt: Date.now() + 60_000 }],
    ["is not paid", { status: "past_due" as const }],
  ])("a plan that %s limits nothing", async (_what, change) => {
    const eva = await api.signUp("Eva");
    await api.db.updateTable("subscriptions").set({ messagesPerDay: 0 }).where("userId", "=", eva.id).execute();
    await expect(api.converse(eva.token, { content: "Hola", modelId })).rejects.toThrow("mensajes");
    await api.db.updateTable("subscriptions").set(change).where("userId", "=", eva.id).execute();
    const chunks = await api.converse(eva.token, { content: "Hola", modelId });
    expect(chunks.some((chunk) => chunk.type === "end" && chunk.status === "complete")).toBe(true);
  });
});
