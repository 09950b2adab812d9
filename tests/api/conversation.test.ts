import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageRow } from "../../app/db/rows.server.ts";
import { type Account, type Api, openApi, parseChunks, textOf } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { longReply, startHostileServer, startModelServer } from "../support/model-server.ts";

const engines = await queryEngines();
let mock: LLMock;
let hostile: Awaited<ReturnType<typeof startHostileServer>>;
beforeAll(async () => {
  mock = await startModelServer();
  hostile = await startHostileServer();
});
afterAll(async () => {
  await mock.stop();
  await hostile.stop();
});

describe.each(engines)("a reply on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let ana: Account;
  const models: Record<string, string> = {};

  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp("Ana");
    const make = async (name: string, json: Record<string, unknown>) => {
      const answer = await api.call("POST", "/api/model", {
        token: admin.token,
        json: { name, apiKey: "clave", ...json },
      });
      models[name] = (answer.body as { id: string }).id;
    };
    await make("compatible", { provider: "openai-compatible", externalId: "gpt-4o", baseUrl: `${mock.url}/v1` });
    await make("openai", { provider: "openai", externalId: "gpt-4o", baseUrl: `${mock.url}/v1` });
    await make("anthropic", {
      provider: "anthropic",
      externalId: "claude-3-5-sonnet-20241022",
      baseUrl: `${mock.url}/v1`,
    });
    await make("google", { provider: "google", externalId: "gemini-2.0-flash", baseUrl: `${mock.url}/v1beta` });
    await make("ollama", { provider: "ollama", externalId: "llama3", baseUrl: mock.url });
    const without = { usesTools: false };
    await make("hostil", { provider: "openai-compatible", externalId: "x", baseUrl: hostile.url, ...without });
  });
  afterAll(() => api.close());

  const say = (content: string, more: Record<string, unknown> = {}) =>
    api.converse(ana.token, { content, modelId: models.compatible, ...more });
  const message = async (id: string) =>
    (await api.call("GET", `/api/message/${id}`, { token: ana.token })).body as Message;
  type Message = {
    content: string;
    status: string;
    error: string | null;
    outputTokens: number | null;
    parentId: string;
  };
  const ids = (chunks: Awaited<ReturnType<typeof say>>) => {
    const [start] = chunks;
    if (start?.type !== "start") throw new Error("no start");
    return start;
  };
  const end = (chunks: Awaited<ReturnType<typeof say>>) => chunks.find((chunk) => chunk.type === "end");

  it.each(["compatible", "openai", "anthropic", "google", "ollama"])(
    "streams from %s, by offset, to its end",
    async (name) => {
      const chunks = await say("Hola", { modelId: models[name] });
      expect(chunks.map(({ type }) => type)).toEqual(expect.arrayContaining(["start", "text", "end"]));
      let at = 0;
      for (const chunk of chunks) {
        if (chunk.type !== "text") continue;
        expect(chunk.at).toBe(at);
        at += chunk.text.length;
      }
      expect(textOf(chunks)).toBe("Una respuesta **breve**. Con dos frases.");
      expect(end(chunks)).toMatchObject({ status: "complete" });
      expect(await message(ids(chunks).messageId)).toMatchObject({ content: textOf(chunks), status: "complete" });
    },
  );

  it("is followed by a title from the model", async () => {
    const chunks = await say("Hola");
    const chat = await api.call("GET", `/api/chat/${ids(chunks).chatId}`, { token: ana.token });
    expect(chunks.at(-1)).toEqual({ type: "title", title: "Charla de prueba" });
    expect(chat.body).toMatchObject({ title: "Charla de prueba" });
  });

  it("sends the model the turns so far, in order", async () => {
    const first = ids(await say("Primera pregunta"));
    await say("Segunda pregunta", { chatId: first.chatId });
    const request = mock.getRequests().findLast((entry) => JSON.stringify(entry.body).includes("Segunda pregunta"));
    const { messages } = (request as NonNullable<typeof request>).body as unknown as {
      messages: { role: string; content: string }[];
    };
    const turns = messages.filter(({ role }) => role !== "system");
    expect(turns.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      "user: Primera pregunta",
      "assistant: Una respuesta **breve**. Con dos frases.",
      "user: Segunda pregunta",
    ]);
  });

  it("goes on without its reader, who finds it whole later", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta", modelId: models.compatible });
    const later = await api.call("POST", "/api/intelligence/conversation", { token: ana.token, json: { messageId } });
    expect(textOf(parseChunks(later.text))).toBe(longReply);
  });

  it("comes in fewer pieces than a fast model writes", async () => {
    const chunks = await say("Una respuesta rapidísima");
    const pieces = chunks.filter(({ type }) => type === "text").length;
    expect(textOf(chunks)).toBe(longReply);
    // The model writes two characters at a time.
    expect(pieces).toBeLessThan(longReply.length / 4);
  });

  it("is followed by many readers from their own offsets", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta", modelId: models.compatible });
    const offsets = [0, 10, 100, 500];
    const readers = await Promise.all(
      offsets.map((after) =>
        api.call("POST", "/api/intelligence/conversation", { token: ana.token, json: { messageId, after } }),
      ),
    );
    expect(readers.map(({ text }) => textOf(parseChunks(text)))).toEqual(
      offsets.map((after) => longReply.slice(after)),
    );
  });

  it("counts tokens by length when stopped half-way", async () => {
    const bea = await api.signUp("Bea");
    const { messageId } = await api.start(bea.token, { content: "Una respuesta lenta", modelId: models.compatible });
    const followed = api.converse(bea.token, { messageId });
    await until(
      async () =>
        (await api.db.selectFrom("messages").where("id", "=", messageId).select("content").executeTakeFirstOrThrow())
          .content.length > 20,
    );
    await api.services.runs.stop(messageId);
    const { usage } = (await api.call("GET", "/auth/session", { token: bea.token })).body as {
      usage: { tokensThisMonth: number };
    };
    expect(usage.tokensThisMonth).toBeGreaterThan(5);
    const { inputTokens, outputTokens } = await api.db
      .selectFrom("messages")
      .where("id", "=", messageId)
      .select(["inputTokens", "outputTokens"])
      .executeTakeFirstOrThrow();
    expect((await followed).find(({ type }) => type === "end")).toMatchObject({
      status: "stopped",
      usage: { inputTokens, outputTokens },
    });
  });

  it("stops at the person's wish and keeps its text", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta", modelId: models.compatible });
    await until(async () => (await message(messageId)).content.length > 20);
    const stopped = await api.call("POST", `/api/intelligence/conversation/${messageId}/stop`, { token: ana.token });
    expect(stopped.status).toBe(204);
    const { status, content } = await message(messageId);
    expect(status).toBe("stopped");
    expect(longReply.startsWith(content)).toBe(true);
  });

  it("stops wherever its beginning has got to", async () => {
    for (let turns = 0; turns < 40; turns += 2) {
      const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta", modelId: models.compatible });
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      await api.services.runs.stop(messageId);
      expect([turns, (await message(messageId)).status]).toEqual([turns, "stopped"]);
    }
  });

  it("reaches the database while it is being written", async () => {
    const { messageId } = await api.start(ana.token, { content: "Una respuesta lenta", modelId: models.compatible });
    await until(async () => {
      const { status, content } = await message(messageId);
      return status === "streaming" && content.length > 0;
    });
  });

  it("creates one message when the same key arrives twice", async () => {
    const send = () => api.start(ana.token, { content: "Doble clic", key: "clave-1", modelId: models.compatible });
    const [one, two] = await Promise.all([send(), send()]);
    expect(two).toEqual(one);
    const found = await api.db.selectFrom("messages").where("content", "=", "Doble clic").select("id").execute();
    expect(found).toHaveLength(1);
  });

  it("allows sending while earlier replies end, without errors", async () => {
    const eva = await api.signUp("Eva");
    const rounds = Array.from({ length: 40 }, (_, round) =>
      api.call("POST", "/api/intelligence/conversation", {
        token: eva.token,
        json: { content: `A la vez ${round}`, modelId: models.compatible },
      }),
    );
    const statuses = new Set((await Promise.all(rounds)).map(({ status }) => status));
    // More than may be written at once are refused; none fails.
    expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([]);
  });

  it("treats different text with a used key as new message", async () => {
    const one = ids(await say("Un texto", { key: "clave-2" }));
    const two = ids(await say("Otro texto", { key: "clave-2" }));
    expect(two.userMessageId).not.toBe(one.userMessageId);
  });

  it("is made again as another version, the first one kept", async () => {
    const first = ids(await say("Hola"));
    const again = ids(await api.converse(ana.token, { parentId: first.userMessageId }));
    expect(again.messageId).not.toBe(first.messageId);
    const branch = await api.call("GET", `/api/chat/${first.chatId}/messages`, { token: ana.token });
    expect((branch.body as { items: { id: string; versions: string[] }[] }).items.at(-1)).toMatchObject({
      id: again.messageId,
      versions: [first.messageId, again.messageId],
    });
  });

  it("is begun again with another question, beside the first one", async () => {
    const { chatId, userMessageId } = ids(await say("Hola"));
    const other = messageRow(Date.now(), { chatId, userId: ana.id, parentId: null, content: "Buenas" });
    await api.db.insertInto("messages").values(other).execute();
    const branch = await api.call("GET", `/api/chat/${chatId}/messages`, { token: ana.token });
    expect((branch.body as { items: { versions: string[] }[] }).items.map(({ versions }) => versions)).toMatchObject([
      [userMessageId, other.id],
      [expect.any(String)],
    ]);
  });

  it("goes on in the same message where it was cut", async () => {
    const first = ids(await say("Una respuesta cortada"));
    const cut = await message(first.messageId);
    expect(cut).toMatchObject({ status: "failed", error: expect.stringContaining("se cortó antes de terminar") });
    expect(longReply.startsWith(cut.content)).toBe(true);
    const more = await api.converse(ana.token, { parentId: first.messageId });
    expect(ids(more).messageId).toBe(first.messageId);
    expect(await message(first.messageId)).toMatchObject({
      status: "complete",
      content: `${cut.content} Y aquí sigue.`,
      error: null,
    });
  });

  it.each([
    ["error 401", "El proveedor rechazó la clave de este modelo."],
    ["error 429", "Reinténtalo dentro de 7 segundos"],
    ["error 500", "El proveedor del modelo tiene un problema (500)."],
  ])("fails with a sentence on %s", async (content, sentence) => {
    const chunks = await say(content);
    expect(end(chunks)).toMatchObject({ status: "failed", error: expect.stringContaining(sentence) });
    expect(await message(ids(chunks).messageId)).toMatchObject({
      status: "failed",
      error: expect.stringContaining(sentence),
    });
  });

  it.each([
    ["nada", "2 segundos sin responder", ""],
    ["vacia", "sin escribir nada", ""],
    ["media", "se cortó antes de terminar", "La mitad"],
    ["basura", "no se entiende", ""],
    ["redirige", "No se ha podido conectar", ""],
    ["infinita", "no terminaba", "palabra palabra"],
    ["larguisima", "demasiado larga para este modelo", ""],
    ["agotada", "toda la salida que puede dar en pensar", ""],
    ["filtrada", "El filtro de contenido del proveedor no ha dejado pasar", ""],
    ["herramienta", "ha querido usar una herramienta", ""],
  ])("fails with a sentence and keeps partial text: %s", async (kind, sentence, text) => {
    const chunks = await say(`hostil: ${kind}`, { modelId: models.hostil });
    expect(end(chunks)).toMatchObject({ status: "failed", error: expect.stringContaining(sentence) });
    const stored = await message(ids(chunks).messageId);
    expect(stored).toMatchObject({ status: "failed" });
    expect(stored.error).toMatch(/^[A-ZÁ-Ú].*\.$/);
    expect(stored.content.startsWith(text)).toBe(true);
    expect((await api.call("GET", "/auth/session", { token: ana.token })).status).toBe(200);
  });

  it("puts up with what real servers send beside the text", async () => {
    const chunks = await say("hostil: rara", { modelId: models.hostil });
    expect(textOf(chunks)).toBe("Texto con \uFFFD.");
    expect(end(chunks)).toMatchObject({ status: "complete" });
  });

  it.each([
    ["keep-alive comments are life", "comentarios", "Tras mucho pensar."],
    ["a server that is loading its model is waited for", "cargando", "Ya está cargado."],
    ["thoughts are no text", "piensa", "Y luego digo <think> tal cual."],
    ["an answer in one piece is read", "entera", "De una pieza."],
    ["an event that is no JSON costs nothing else", "mezcla", "Algo de texto"],
  ])("%s", async (_what, kind, said) => {
    const chunks = await say(`hostil: ${kind}`, { modelId: models.hostil });
    expect(textOf(chunks)).toBe(said);
    expect(end(chunks)).toMatchObject({ status: "complete" });
  });

  it("retries with a shorter prompt when it did not fit", async () => {
    const first = await say("palabra ".repeat(1500), { modelId: models.compatible });
    const parentId = ids(first).messageId;
    const chunks = await say("hostil: larga", { chatId: ids(first).chatId, parentId, modelId: models.hostil });
    expect(textOf(chunks)).toBe("Ahora cabe.");
    expect(end(chunks)).toMatchObject({ status: "complete" });
  });

  it("counts its messages and tokens", async () => {
    const bea = await api.signUp("Bea");
    await api.converse(bea.token, { content: "Hola", modelId: models.compatible });
    const { usage } = (await api.call("GET", "/auth/session", { token: bea.token })).body as {
      usage: { messagesToday: number; tokensThisMonth: number };
    };
    expect(usage.messagesToday).toBe(1);
    expect(usage.tokensThisMonth).toBeGreaterThan(0);
  });

  it("is refused at the plan's limit with the retry time", async () => {
    const bea = await api.signUp("Bea");
    await api.db.updateTable("subscriptions").set({ messagesPerDay: 1 }).where("userId", "=", bea.id).execute();
    await api.converse(bea.token, { content: "Hola", modelId: models.compatible });
    const answer = await api.call("POST", "/api/intelligence/conversation", {
      token: bea.token,
      json: { content: "Otra más", modelId: models.compatible },
    });
    expect(answer.status).toBe(429);
    expect(answer.headers.get("Retry-After")).toMatch(/^\d+$/);
    expect((answer.body as { detail: string }).detail).toMatch(/Has usado el mensaje de hoy\. Podrás seguir mañana/);
    expect(mock.getRequests().some((entry) => JSON.stringify(entry.body).includes("Otra más"))).toBe(false);
  });

  it("of the local assistant quotes only the person's own messages", async () => {
    const local = (
      await api.db.selectFrom("models").where("provider", "=", "local").select("id").executeTakeFirstOrThrow()
    ).id;
    const bea = await api.signUp("Bea");
    const ask = (token: string, content: string) => api.converse(token, { content, modelId: local });
    await ask(bea.token, "Mi gata se llama Morcilla y nació en Huesca.");
    const found = await ask(bea.token, "¿cómo se llama mi gata?");
    expect(textOf(found)).toContain("Morcilla y nació en Huesca");
    expect(textOf(found)).toContain("No soy un modelo de lenguaje");
    expect(found.find(({ type }) => type === "sources")).toMatchObject({ sources: [{ n: 1, kind: "message" }] });
    expect(textOf(await ask(ana.token, "¿cómo se llama mi gata?"))).not.toContain("Morcilla");
  });

  it("of the local assistant goes on where it was stopped", async () => {
    const local = (
      await api.db.selectFrom("models").where("provider", "=", "local").select("id").executeTakeFirstOrThrow()
    ).id;
    const { messageId } = await api.start(ana.token, { content: "xilofonista", modelId: local });
    await until(async () => (await message(messageId)).content.length > 20);
    await api.services.runs.stop(messageId);
    await api.converse(ana.token, { parentId: messageId });
    const { content } = await message(messageId);
    expect(content.match(/No soy un modelo de lenguaje/g)).toHaveLength(1);
    expect(content.match(/No he encontrado nada/g)).toHaveLength(1);
  });

  it("of the local assistant quotes the trainings", async () => {
    const { indexText, everyone } = await import("../../app/db/search/passages.server.ts");
    const training = {
      id: "0190-t",
      title: "Horario",
      kind: "knowledge" as const,
      content: "La biblioteca abre a las nueve.",
    };
    await api.db
      .insertInto("trainings")
      .values({ ...training, createdAt: 1, updatedAt: 1, projectId: null, enabled: 1, position: 0 })
      .execute();
    await indexText(api.db, training.content, everyone, { trainingId: training.id });
    const local = (
      await api.db.selectFrom("models").where("provider", "=", "local").select("id").executeTakeFirstOrThrow()
    ).id;
    const chunks = await api.converse(ana.token, { content: "¿a qué hora abre la biblioteca?", modelId: local });
    expect(textOf(chunks)).toContain("La biblioteca abre a las nueve");
    expect(textOf(chunks)).toContain("Horario");
  });

  it.each([
    [{ content: "" }, "Escribe un mensaje"],
    [{ content: "  \n\t " }, "Escribe un mensaje"],
    [{ content: "x".repeat(33_000) }, "32.000 caracteres"],
    [{ content: 7 }, "Falta el mensaje"],
    [{}, "Falta el mensaje"],
    [{ content: "hola", modelId: "no-existe" }, "Ese modelo ya no está disponible"],
    [{ messageId: "x", after: -1 }, "after no puede ser negativo"],
  ])("is refused with a sentence for %j", async (json, sentence) => {
    const answer = await api.call("POST", "/api/intelligence/conversation", { token: ana.token, json });
    expect(answer.status).toBe(422);
    expect((answer.body as { detail: string }).detail).toContain(sentence);
  });

  it("is private: foreign and unknown ids get the same answer", async () => {
    const mine = ids(await say("Hola"));
    const bea = await api.signUp("Bea");
    for (const id of [mine, { chatId: "nada", messageId: "nada", userMessageId: "nada" }]) {
      const tries: [string, string, unknown][] = [
        ["POST", "/api/intelligence/conversation", { chatId: id.chatId, content: "hola" }],
        ["POST", "/api/intelligence/conversation", { messageId: id.messageId }],
        ["POST", "/api/intelligence/conversation", { parentId: id.userMessageId }],
        ["POST", `/api/intelligence/conversation/${id.messageId}/stop`, {}],
        ["GET", `/api/chat/${id.chatId}`, undefined],
        ["GET", `/api/chat/${id.chatId}/messages`, undefined],
        ["PATCH", `/api/chat/${id.chatId}`, { title: "Mío" }],
        ["DELETE", `/api/chat/${id.chatId}`, undefined],
        ["GET", `/api/message/${id.messageId}`, undefined],
        ["PATCH", `/api/message/${id.messageId}`, { content: "Mío" }],
        ["DELETE", `/api/message/${id.messageId}`, undefined],
      ];
      for (const [method, path, json] of tries) {
        const answer = await api.call(method, path, { token: bea.token, json });
        expect(`${method} ${path} ${answer.status}`).toBe(`${method} ${path} 404`);
        expect((answer.body as { detail: string }).detail).toBe("No existe o no puedes verlo.");
      }
    }
    expect(await message(mine.messageId)).toMatchObject({ status: "complete" });
  });

  it("without a token, nothing answers but 401", async () => {
    for (const [method, path] of [
      ["GET", "/api/chat"],
      ["GET", "/api/message"],
      ["GET", "/api/model"],
      ["GET", "/api/dashboard/initialize"],
      ["POST", "/api/intelligence/conversation"],
    ] as const) {
      expect((await api.call(method, path, method === "POST" ? { json: { content: "hola" } } : {})).status).toBe(401);
    }
  });

  it("says whether a page of messages has earlier ones", async () => {
    const { chatId } = ids(await say("Una pregunta y su respuesta"));
    const page = async (limit: number) =>
      (await api.call("GET", `/api/chat/${chatId}/messages?limit=${limit}`, { token: ana.token })).body as {
        items: { role: string }[];
        hasEarlier: boolean;
      };
    expect(await page(2)).toMatchObject({ items: [{ role: "user" }, { role: "assistant" }], hasEarlier: false });
    expect(await page(1)).toMatchObject({ items: [{ role: "assistant" }], hasEarlier: true });
  });

  it.each([0, 100, 250])("exports and deletes a chat with %i further messages completely", async (more) => {
    const begun = ids(await say("La primera"));
    const now = Date.now();
    const rows = Array.from({ length: more }, (_, n) =>
      messageRow(now, {
        chatId: begun.chatId,
        userId: ana.id,
        parentId: begun.messageId,
        content: `Número ${n}: "a"\nb`,
      }),
    );
    for (const row of rows) await api.db.insertInto("messages").values(row).execute();
    const path = `/api/chat/${begun.chatId}`;
    const read = async (format: string) =>
      (await api.call("GET", `${path}/export?format=${format}`, { token: ana.token })).text;
    const { title, messages } = JSON.parse(await read("json")) as { title: string; messages: { content: string }[] };
    expect(title).toMatch(/^(La primera|Charla de prueba)$/);
    expect(messages.slice(2).map(({ content }) => content)).toEqual(rows.map(({ content }) => content));
    const markdown = await read("markdown");
    expect(markdown.match(/^## /gm)).toHaveLength(more + 2);
    expect((await api.call("DELETE", path, { token: ana.token })).status).toBe(204);
    const left = await api.db.selectFrom("messages").where("chatId", "=", begun.chatId).select("id").execute();
    expect(left).toEqual([]);
  });

  it.each([
    ["goes on by itself", 1, 0, { resumed: 1, interrupted: 0 }, "complete"],
    ["is interrupted where its model does not go on by itself", 0, 0, { resumed: 0, interrupted: 1 }, "interrupted"],
    ["is interrupted if it has ended its process three times", 1, 3, { resumed: 0, interrupted: 1 }, "interrupted"],
  ] as const)("left by a process that died %s", async (_, resumes, takeovers, found, status) => {
    const chunks = ids(await say("Hola"));
    await api.db.updateTable("models").set({ resumes }).execute();
    await api.db
      .updateTable("messages")
      .set({ status: "streaming", content: "", heartbeatAt: Date.now() - 60_000, takeovers })
      .where("id", "=", chunks.messageId)
      .execute();
    expect(await api.services.runs.adopt()).toEqual(found);
    await api.services.runs.get(chunks.messageId)?.ended;
    expect(await message(chunks.messageId)).toMatchObject({ status });
    await api.db.updateTable("models").set({ resumes: 1 }).execute();
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
