import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { longReply, startModelServer } from "../support/model-server.ts";

let models: LLMock;
let api: Api;
let admin: Account;
let person: Account;
beforeAll(async () => {
  models = await startModelServer();
  api = await openApi(sqlite, { modelSilence: 1500 });
  admin = await api.signUp("Admin");
  person = await api.signUp("Ana");
});
afterAll(async () => {
  await api.close();
  await models.stop();
});

type Message = { status: string; content: string; error: string | null };

/** After each: what is stored is a beginning of what was sent, nothing is doubled, the state is honest, the person goes on. */
async function afterwards(chatId: string, messageId: string, sent: string) {
  const stored = (await api.call("GET", `/api/message/${messageId}`, { token: person.token })).body as Message;
  expect(sent.startsWith(stored.content)).toBe(true);
  expect(stored.status).toBe("failed");
  expect(stored.error).toMatch(/^[A-ZÁÉÍÓÚ].*\.$/);
  const all = await api.db.selectFrom("messages").where("chatId", "=", chatId).select("role").execute();
  expect(all.map(({ role }) => role).sort()).toEqual(["assistant", "user"]);
  const more = await api.converse(person.token, { chatId, content: "Hola" });
  expect(more.at(-1)).toMatchObject({ type: expect.stringMatching(/end|title/) });
}

const protocols: [provider: string, externalId: string, path: string][] = [
  ["openai", "gpt-4o", "/v1"],
  ["openai-compatible", "gpt-4o", "/v1"],
  ["anthropic", "claude-3-5-sonnet-20241022", "/v1"],
  ["google", "gemini-2.0-flash", "/v1beta"],
  ["ollama", "gpt-4o", ""],
];

describe.each(protocols)("a model of %s", (provider, externalId, path) => {
  let modelId: string;
  beforeAll(async () => {
    const json = { name: provider, provider, externalId, baseUrl: `${models.url}${path}`, apiKey: "clave" };
    const made = await api.call("POST", "/api/model", { token: admin.token, json });
    modelId = (made.body as { id: string }).id;
  });

  const ask = async (content: string) => {
    const chunks = await api.converse(person.token, { content, modelId });
    const [start] = chunks;
    const end = chunks.find(({ type }) => type === "end");
    if (start?.type !== "start" || end?.type !== "end") throw new Error(JSON.stringify(chunks));
    return { ...start, end, text: textOf(chunks) };
  };

  it("answers", async () => {
    const { end, text } = await ask("Hola");
    expect([end.status, text]).toEqual(["complete", "Una respuesta **breve**. Con dos frases."]);
  });

  it.each([
    ["error 401", "rechazó la clave"],
    ["error 429", "demasiadas peticiones"],
    ["error 500", "tiene un problema (500)"],
  ])("that answers %s fails with a sentence, and the person goes on", async (word, sentence) => {
    const { end, chatId, messageId } = await ask(word);
    expect([end.status, end.error]).toEqual(["failed", expect.stringContaining(sentence)]);
    await afterwards(chatId, messageId, "");
  });

  it("breaks off mid-reply, leaving partial text and an error message", async () => {
    const { end, chatId, messageId, text } = await ask("Una respuesta cortada");
    expect([end.status, end.error]).toEqual(["failed", expect.stringContaining("se cortó")]);
    expect(text.length).toBeGreaterThan(5);
    await afterwards(chatId, messageId, longReply);
  });
});
