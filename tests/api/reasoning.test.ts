import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chunk } from "../../app/replies/chunk.ts";
import { follow } from "../../app/replies/follow.server.ts";
import { Runs } from "../../app/replies/running/runs.server.ts";
import { type Account, type Api, fromItsBeginning, openApi, parseChunks, textOf } from "../support/api.ts";
import { ruleEngines } from "../support/engines.ts";
import { longThought, startHostileServer, startModelServer, startRecorder } from "../support/model-server.ts";

let mock: LLMock;
let hostile: Awaited<ReturnType<typeof startHostileServer>>;
let recorder: Awaited<ReturnType<typeof startRecorder>>;
beforeAll(async () => {
  mock = await startModelServer();
  hostile = await startHostileServer();
  recorder = await startRecorder(mock.url);
});
afterAll(async () => {
  recorder.stop();
  await mock.stop();
  await hostile.stop();
});

type Part = { n: number; kind: string; text: string; whole: boolean; ms: number | null; running: boolean };
type Message = { content: string; status: string; error: string | null; parts: Part[] };

describe.each(await ruleEngines())("what a model thinks aloud, on $name", (engine) => {
  let api: Api;
  let ana: Account;
  let admin: Account;
  const models: Record<string, string> = {};

  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    ana = await api.signUp("Ana");
    const make = async (name: string, json: Record<string, unknown>) => {
      const sent = { token: admin.token, json: { name, apiKey: "clave", ...json } };
      models[name] = ((await api.call("POST", "/api/model", sent)).body as { id: string }).id;
    };
    const compatible = { provider: "openai-compatible", externalId: "deepseek-reasoner", baseUrl: `${mock.url}/v1` };
    await make("compatible", compatible);
    await make("hostil", { provider: "openai-compatible", externalId: "x", baseUrl: hostile.url });
    await make("sin etiqueta", {
      provider: "openai-compatible",
      externalId: `qwq-${engine.name}`,
      baseUrl: hostile.url,
    });
    await make("pide", { ...compatible, externalId: "o3-mini", reasoning: "high", baseUrl: `${recorder.url}/v1` });
  });
  afterAll(() => api.close());

  const say = (content: string, model = "hostil") => api.converse(ana.token, { content, modelId: models[model] });
  const read = async (chunks: Chunk[]) => {
    const [start] = chunks;
    if (start?.type !== "start") throw new Error("no start");
    return (await api.call("GET", `/api/message/${start.messageId}`, { token: ana.token })).body as Message;
  };
  const thoughtOf = (chunks: Chunk[]) => chunks.map((chunk) => (chunk.type === "reasoning" ? chunk.text : "")).join("");
  const kindsOf = (chunks: Chunk[]) =>
    chunks.flatMap((chunk) => (chunk.type === "part" ? `${chunk.n} ${chunk.kind}` : []));

  it("comes before the text as a separate part with duration", async () => {
    const chunks = await say("Quiero que pienses", "compatible");
    expect(kindsOf(chunks)).toEqual(["0 reasoning", "1 text"]);
    expect(thoughtOf(chunks)).toBe(longThought);
    expect(textOf(chunks)).toBe("Son **cuarenta y dos**. Lo he contado.");
    const ended = chunks.find(({ type }) => type === "part-end");
    expect(ended).toMatchObject({ n: 0, ms: expect.any(Number) });
    const { content, parts } = await read(chunks);
    expect(content).toBe(textOf(chunks));
    expect(parts).toEqual([
      { n: 0, kind: "reasoning", text: longThought, whole: true, running: false, ms: (ended as { ms: number }).ms },
      { n: 1, kind: "text", text: content },
    ]);
    expect(parts[0]?.ms).toBeGreaterThan(500);
  });

  it("is not sent back to the model as text", async () => {
    const [start] = await say("Quiero que pienses", "compatible");
    const { chatId } = start as { chatId: string };
    await api.converse(ana.token, { content: "Sigue", modelId: models.pide, chatId });
    const asked = recorder.bodies.filter((body) => body.includes("Sigue"));
    expect(asked.join()).toContain("cuarenta y dos");
    expect(asked.join()).not.toContain("lo que pienso");
  });

  it("is requested as the model is set, not for titles", async () => {
    recorder.bodies.length = 0;
    await say("Di algo", "pide");
    const bodies = recorder.bodies.map((body) => JSON.parse(body) as { reasoning_effort?: string });
    expect(bodies.map(({ reasoning_effort }) => reasoning_effort)).toEqual(["high", undefined]);
  });

  it("resumes at an exact position and refuses invalid positions", async () => {
    const chunks = await say("Quiero que pienses", "compatible");
    const { messageId } = chunks[0] as { messageId: string };
    const from = async (place: object) => {
      const json = { messageId, from: place };
      return api.call("POST", "/api/intelligence/conversation", { token: ana.token, json });
    };
    const inThought = parseChunks((await from({ n: 0, at: 20 })).text);
    expect(thoughtOf(inThought)).toBe(longThought.slice(20));
    expect(kindsOf(inThought)).toEqual(["1 text"]);
    const inText = parseChunks((await from({ n: 1, at: 5 })).text);
    expect(thoughtOf(inText)).toBe("");
    expect(textOf(inText)).toBe(textOf(chunks).slice(5));
    for (const place of [
      { n: 7, at: 0 },
      { n: 1, at: 5000 },
      { n: 0, at: longThought.length + 1 },
    ]) {
      const refused = await from(place);
      expect(refused.status).toBe(422);
      expect(refused.text).toContain("La respuesta nunca ha llegado a ese lugar");
    }
  });

  it("is skipped for a program that follows the text alone", async () => {
    const chunks = await say("Quiero que pienses", "compatible");
    const { messageId } = chunks[0] as { messageId: string };
    const json = { messageId, after: 4 };
    const rest = parseChunks(
      (await api.call("POST", "/api/intelligence/conversation", { token: ana.token, json })).text,
    );
    expect(textOf(rest)).toBe(textOf(chunks).slice(4));
    expect(thoughtOf(rest)).toBe("");
  });

  it("is followed in another process while it grows", async () => {
    const other = new Runs(api.services);
    const { messageId } = await api.start(ana.token, { content: "Quiero que pienses", modelId: models.compatible });
    const chunks: Chunk[] = [];
    for await (const read of follow({ ...api.services, runs: other }, messageId, fromItsBeginning))
      chunks.push(...read);
    await other.close(0);
    expect(thoughtOf(chunks)).toBe(longThought);
    expect(chunks.filter(({ type }) => type === "reasoning").length).toBeGreaterThan(2);
    expect(kindsOf(chunks)).toEqual(["0 reasoning", "1 text"]);
    expect(textOf(chunks)).toBe("Son **cuarenta y dos**. Lo he contado.");
  });

  it("stays when the reply is stopped during reasoning", async () => {
    const { messageId } = await api.start(ana.token, { content: "Quiero que pienses", modelId: models.compatible });
    for await (const chunks of follow(api.services, messageId, fromItsBeginning)) {
      if (chunks.some(({ type }) => type === "reasoning")) break;
    }
    await api.call("POST", `/api/intelligence/conversation/${messageId}/stop`, { token: ana.token });
    const stored = (await api.call("GET", `/api/message/${messageId}`, { token: ana.token })).body as Message;
    expect(stored).toMatchObject({ status: "stopped", content: "" });
    expect(longThought.startsWith(stored.parts[0]?.text ?? "x")).toBe(true);
    expect(stored.parts[0]).toMatchObject({ kind: "reasoning", running: false, ms: expect.any(Number) });
  });

  it.each([
    ["between tags", "piensa", ["Primero pienso."], ["Y luego digo <think> tal cual."]],
    ["under OpenRouter's name", "openrouter", ["Pienso."], ["Digo."]],
    ["between the text", "desordenada", ["Uno.", "Tres."], ["Dos. ", "Cuatro."]],
  ])("is understood %s", async (_how, kind, thoughts, texts) => {
    const chunks = await say(`hostil: ${kind}`);
    const { parts, content } = await read(chunks);
    const of = (wanted: string) => parts.filter((part) => part.kind === wanted).map(({ text }) => text);
    expect([of("reasoning"), of("text")]).toEqual([thoughts, texts]);
    expect(textOf(chunks)).toBe(texts.join(""));
    expect(content).toBe(texts.join(""));
    expect(parts.map(({ n }) => n)).toEqual(parts.map((_, n) => n));
  });

  it("is counted among the reply's tokens as the provider reports", async () => {
    const chunks = await say("hostil: openrouter");
    expect(await read(chunks)).toMatchObject({ outputTokens: 9, reasoningTokens: 6 });
    expect(chunks.find(({ type }) => type === "end")).toMatchObject({ usage: { reasoningTokens: 6 } });
  });

  it("is recognised without opening tag, live from the second reply", async () => {
    const first = await say("hostil: sinabrir", "sin etiqueta");
    expect(textOf(first)).toContain("Pienso sin abrir.");
    const stored = await read(first);
    expect(stored.content).toBe("Y ahora digo.");
    expect(stored.parts[0]).toMatchObject({ kind: "reasoning", text: "Pienso sin abrir." });
    const second = await say("hostil: sinabrir", "sin etiqueta");
    expect(textOf(second)).toBe("Y ahora digo.");
    expect(thoughtOf(second)).toBe("Pienso sin abrir.");
  });

  it("is cut at a limit and the text still follows", async () => {
    const chunks = await say("hostil: enorme");
    expect(textOf(chunks)).toBe("Fin.");
    expect(thoughtOf(chunks)).toHaveLength(400_000);
    expect((await read(chunks)).parts[0]?.text).toHaveLength(400_000);
  });

  it("is shortened in lists when long, and marked as such", async () => {
    const { chatId } = (await say("hostil: enorme"))[0] as { chatId: string };
    for (const path of [
      `/api/message?filter=${JSON.stringify({ chatId, role: "assistant" })}`,
      `/api/chat/${chatId}/messages`,
    ]) {
      const { items } = (await api.call("GET", path, { token: ana.token })).body as { items: Message[] };
      const part = items.at(-1)?.parts[0];
      expect(part, path).toMatchObject({ kind: "reasoning", whole: false });
      expect(part?.text, path).toHaveLength(3_000);
    }
  });

  it("joins split characters and replaces invalid ones", async () => {
    const chunks = await say("hostil: partida");
    expect([thoughtOf(chunks), textOf(chunks)]).toEqual(["😀", "Ya 😀. Y \uFFFD."]);
    for (const chunk of chunks) if ("text" in chunk) expect(chunk.text.isWellFormed()).toBe(true);
  });

  it.each([
    ["muda", "terminó sin escribir nada", "Pienso y callo."],
    ["agotada", "ha gastado toda la salida", "Pienso y pienso"],
  ])("is kept when no text follows, with an explanation (%s)", async (kind, sentence, thought) => {
    const chunks = await say(`hostil: ${kind}`);
    const stored = await read(chunks);
    expect(stored.error).toContain(sentence);
    expect(stored.parts).toMatchObject([{ kind: "reasoning", text: thought }]);
  });

  it("is excluded from search, folded in Markdown, separate in JSON", async () => {
    const chunks = await say("Quiero que pienses", "compatible");
    const { chatId } = chunks[0] as { chatId: string };
    const call = (path: string) => api.call("GET", path, { token: ana.token });
    const found = (await call("/api/message?q=pienso")).body as { items: { content: string }[] };
    expect(found.items.filter(({ content }) => content.includes("cuarenta y dos"))).toEqual([]);
    const markdown = (await call(`/api/chat/${chatId}/export?format=markdown`)).text;
    expect(markdown).toContain(
      `<details>\n<summary>Razonamiento</summary>\n\n${longThought}\n\n</details>\n\nSon **cuarenta`,
    );
    const json = JSON.parse((await call(`/api/chat/${chatId}/export?format=json`)).text) as { messages: Message[] };
    expect(json.messages[1]?.parts.map(({ kind }) => kind)).toEqual(["reasoning", "text"]);
  });

  it("is left out of what is shared", async () => {
    const chunks = await say("Quiero que pienses", "compatible");
    const { chatId } = chunks[0] as { chatId: string };
    const share = (await api.call("PUT", `/api/chat/${chatId}/share`, { token: ana.token, json: {} })).body as {
      token: string;
    };
    const shared = await api.call("GET", `/api/share/${share.token}`);
    expect(shared.text).toContain("cuarenta y dos");
    expect(shared.text).not.toContain("lo que pienso");
  });

  it("is returned as reasoning_content by the OpenAI API, streamed too", async () => {
    const ask = (stream: boolean) => {
      const json = { model: "deepseek-reasoner", messages: [{ role: "user", content: "Quiero que pienses" }], stream };
      return api.call("POST", "/chat/completions", { token: ana.token, json });
    };
    const whole = (await ask(false)).body as { choices: { message: Record<string, string> }[] };
    expect(whole.choices[0]?.message).toMatchObject({
      content: "Son **cuarenta y dos**. Lo he contado.",
      reasoning_content: longThought,
    });
    const events = (await ask(true)).text.split("\n\n").flatMap((event) => {
      const said = event.replace(/^data: /, "");
      return said.startsWith("{") ? [JSON.parse(said) as { choices: { delta: Record<string, string> }[] }] : [];
    });
    const streamed = events.map(({ choices }) => choices[0]?.delta.reasoning_content ?? "").join("");
    expect(streamed).toBe(longThought);
  });

  it("an edited reply keeps what was thought before it", async () => {
    const chunks = await say("hostil: desordenada");
    const { messageId } = chunks[0] as { messageId: string };
    const json = { content: "Todo nuevo." };
    await api.call("PATCH", `/api/message/${messageId}`, { token: ana.token, json });
    const { parts } = await read(chunks);
    expect(parts.map(({ kind, text }) => [kind, text])).toEqual([
      ["reasoning", "Uno."],
      ["reasoning", "Tres."],
      ["text", "Todo nuevo."],
    ]);
  });
});
