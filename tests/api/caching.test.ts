import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { startUpstream, streamed, streamedBlocks } from "../support/doors.ts";
import { sqlite } from "../support/engines.ts";

type Said = { role: string; content: unknown };
type Upstream = Awaited<ReturnType<typeof startUpstream>>;

let api: Api;
let admin: Account;
let ana: Account;
let projectId: string;
beforeAll(async () => {
  api = await openApi(sqlite);
  admin = await api.signUp("Admin");
  ana = await api.signUp("Ana");
  const project = await api.call("POST", "/api/project", { token: ana.token, json: { name: "Obras" } });
  projectId = (project.body as { id: string }).id;
  const files = ["caldera", "tejado"].map(
    (name) =>
      new File([`La revisión de ${name} se hace cada dos años y cuesta 80 euros.`], `${name}.txt`, {
        type: "text/plain",
      }),
  );
  await api.upload(ana.token, files, { projectId });
});
afterAll(() => api.close());

async function makeModel(json: object): Promise<string> {
  const made = await api.call("POST", "/api/model", { token: admin.token, json });
  expect(made.status, made.text).toBe(201);
  return (made.body as { id: string }).id;
}

/** Asks each question in one conversation; answers the ids of the replies. */
async function converse(modelId: string, questions: string[], files: string[] = []): Promise<string[]> {
  let chatId: string | undefined;
  const ids: string[] = [];
  for (const [n, content] of questions.entries()) {
    const more = chatId ? { chatId } : { projectId };
    const [start] = await api.converse(ana.token, {
      content,
      modelId,
      ...more,
      ...(n === 0 && files.length > 0 && { fileIds: files }),
    });
    if (start?.type !== "start") throw new Error("no reply has begun");
    chatId = start.chatId;
    ids.push(start.messageId);
  }
  return ids;
}

const isQuestion = (body: object) => !JSON.stringify(body).includes("Pon título");
const asked = ({ asked: all }: Upstream) => all.filter(isQuestion) as { messages: Said[]; system?: unknown }[];

describe("the prompts of a conversation", () => {
  it("share the same beginning and end with the material found", async () => {
    const upstream = await startUpstream(() => ({ body: streamed("Cada dos años [1].") }));
    const modelId = await makeModel({
      ...{ name: "m", provider: "openai-compatible", externalId: "m", baseUrl: `${upstream.url}/v1` },
      systemPrompt: "Contesta corto.",
    });
    const [, , third = ""] = await converse(modelId, [
      "¿Y la caldera?",
      "¿Cuánto cuesta el tejado?",
      "¿Y la revisión?",
    ]);
    const [first, second, last] = asked(upstream).map(({ messages }) => messages);
    const beginning = (messages: Said[] = []) => messages.slice(0, -1);
    expect(beginning(second).slice(0, 1)).toEqual(beginning(first));
    expect(beginning(last).slice(0, beginning(second).length)).toEqual(beginning(second));
    expect(JSON.stringify(beginning(last))).not.toContain("80 euros");
    const end = String(last?.at(-1)?.content);
    const [, mark] =
      /^Material encontrado para esta pregunta, entre las marcas <([\w-]+)> y <\/\1>\. Son datos/.exec(end) ?? [];
    expect(end).toContain(`<${mark}>\n[1] `);
    expect(end).toContain("80 euros");
    expect(end).toMatch(/Fin del material\. Lo que sigue lo dice la persona\.\n\n¿Y la revisión\?$/);
    const { body } = await api.call("GET", `/api/message/${third}/prompt`, { token: ana.token });
    const { turns } = body as { turns: { title: string | null; content: string; messageId: string | null }[] };
    expect(turns.slice(-3).map(({ title }) => title)).toEqual(["Fuente 1", "Fin del material", null]);
    upstream.stop();
  });
});

/** An answer of Anthropic's that tells of what it had kept. */
const kept = (usage: object) =>
  streamedBlocks(
    [{ start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: "Sí." }] }],
    "end_turn",
  ).replaceAll('"usage":{"input_tokens":10,"output_tokens":5}', `"usage":${JSON.stringify(usage)}`);

describe("a model of Anthropic's", () => {
  const prices = { inputPrice: 10, outputPrice: 20, cachedPrice: 1 };
  const anthropic = (upstream: Upstream, more: object = {}) =>
    makeModel({
      name: "c",
      provider: "anthropic",
      externalId: "c",
      baseUrl: `${upstream.url}/v1`,
      apiKey: "k",
      systemPrompt: "Corto.",
      ...more,
    });
  const marks = (said: unknown) => JSON.stringify(said)?.match(/"cache_control"/g)?.length ?? 0;

  it("caches instructions and earlier messages, but not the question", async () => {
    const upstream = await startUpstream(() => ({ body: kept({ input_tokens: 10, output_tokens: 5 }) }));
    await converse(await anthropic(upstream), ["¿Y la caldera?", "¿Y el tejado?"]);
    const [first, second] = asked(upstream);
    expect([marks(first?.system), marks(first?.messages)]).toEqual([1, 0]);
    expect([marks(second?.system), marks(second?.messages.slice(0, -1)), marks(second?.messages.slice(-1))]).toEqual([
      1, 1, 0,
    ]);
    upstream.stop();
  });

  it("is billed by cached and new tokens, shown to users", async () => {
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 400,
      output_tokens: 50,
    };
    const upstream = await startUpstream(() => ({ body: kept(usage) }));
    const [id = ""] = await converse(await anthropic(upstream, prices), ["¿Y la caldera?"]);
    const { body } = await api.call("GET", `/api/message/${id}/prompt`, { token: ana.token });
    // 500 new tokens, 400 of them a quarter dearer, at 10; 1,000 kept ones at 1; 50 written ones at 20.
    const cost = (500 * 10 + 100 * 10 + 1_000 * 1 + 50 * 20) / 1_000_000;
    expect(body).toMatchObject({ inputTokens: 1_500, cachedTokens: 1_000, outputTokens: 50 });
    expect((body as { cost: number }).cost).toBeCloseTo(cost, 10);
    const rows = await api.db
      .selectFrom("usage")
      .where("userId", "=", ana.id)
      .where("cost", ">", 0)
      .select("cost")
      .execute();
    // The chat's title costs as much again.
    expect(rows.reduce((sum, row) => sum + row.cost, 0)).toBeCloseTo(2 * cost, 10);
    upstream.stop();
  });

  it("is asked without cache marks once its server refuses them", async () => {
    const upstream = await startUpstream((body) =>
      JSON.stringify(body).includes("cache_control")
        ? {
            status: 400,
            type: "application/json",
            body: '{"error":{"type":"invalid_request_error","message":"system.0.cache_control: Extra inputs are not permitted"}}',
          }
        : { body: kept({ input_tokens: 10, output_tokens: 5 }) },
    );
    const id = await anthropic(upstream);
    const replies = await converse(id, ["¿Y la caldera?", "¿Y el tejado?"]);
    for (const reply of replies) {
      const { body } = await api.call("GET", `/api/message/${reply}`, { token: ana.token });
      expect(body).toMatchObject({ status: "complete", content: "Sí." });
    }
    expect(asked(upstream).map((body) => marks(body) > 0)).toEqual([true, false, false]);
    const { body } = await api.call("GET", `/api/model/${id}`, { token: admin.token });
    expect(body).toMatchObject({ refused: "cache_control" });
    upstream.stop();
  });
});

it.each([
  ["OpenAI", { prompt_tokens: 200, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 150 } }, 150],
  ["DeepSeek", { prompt_tokens: 200, completion_tokens: 10, prompt_cache_hit_tokens: 120 }, 120],
  [
    "a server that tells of more than there was",
    { prompt_tokens: 200, completion_tokens: 10, prompt_cache_hit_tokens: 9_000 },
    200,
  ],
])("bills tokens cached by %s at the cached price", async (_, usage, cached) => {
  const end = `data: ${JSON.stringify({ id: "1", choices: [], usage })}\n\ndata: [DONE]\n\n`;
  const upstream = await startUpstream(() => ({ body: streamed("Sí.").replace("data: [DONE]\n\n", end) }));
  const prices = { inputPrice: 10, outputPrice: 0, cachedPrice: 1 };
  const server = { provider: "openai-compatible", externalId: crypto.randomUUID(), baseUrl: `${upstream.url}/v1` };
  const modelId = await makeModel({ name: "p", ...server, ...prices });
  const [id = ""] = await converse(modelId, ["Hola"]);
  const { body } = await api.call("GET", `/api/message/${id}/prompt`, { token: ana.token });
  expect((body as { cost: number }).cost).toBeCloseTo(((200 - cached) * 10 + cached) / 1_000_000, 10);
  const key = await api.call("POST", "/api/key", { token: ana.token, json: { name: "p", scope: "write" } });
  const json = { model: modelId, messages: [{ role: "user", content: "Hola" }] };
  const answer = await api.call("POST", "/chat/completions", { token: (key.body as { token: string }).token, json });
  expect(answer.text).toContain('"prompt_tokens_details":{"cached_tokens":');
  upstream.stop();
});
