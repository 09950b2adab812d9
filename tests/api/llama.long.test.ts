import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { hasLlama, startLlama } from "../support/llama.ts";
import { password } from "../support/password.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

const window = 4_096;

type Model = { id: string; name: string; contextWindow: number; maxOutputTokens: number };
type Message = {
  id: string;
  parentId: string | null;
  role: string;
  status: string;
  content: string;
  error: string | null;
};

// Each test goes on from where the one before has left off, as one evening with a model at home.
describe.runIf(hasLlama())("llama.cpp's server", () => {
  let port: number;
  let llama: { stop(): Promise<void> } | undefined;
  let server: TestServer;
  let browser: Browser;
  let token: string;
  let model: Model;
  let chat: string;
  beforeAll(async () => {
    port = await freePort();
    server = await startServer({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` });
    browser = new Browser(server.url);
    const email = await browser.signUp();
    const answer = await fetch(`${server.url}/v1/auth/signin`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
    token = await answer.text();
  });
  afterAll(async () => {
    await server.stop();
    await llama?.stop();
  });

  async function get<Answer>(path: string): Promise<Answer> {
    const answer = await fetch(`${server.url}/v1${path}`, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Answer;
  }

  /** The messages of the chat, the newest first, once the last reply has ended. */
  async function messages(): Promise<Message[]> {
    await (await browser.fetch(chat)).text();
    const id = chat.split("/").at(-1);
    return (await get<{ items: Message[] }>(`/api/message?chatId=${id}&orderBy=createdAt&order=desc`)).items;
  }

  /** The last reply. A model of random weights says nothing at all now and then, also where it summarises: it is asked again. */
  async function reply(): Promise<Message> {
    for (let again = 0; ; again++) {
      const last = (await messages()).find(({ role }) => role === "assistant");
      if (!last) throw new Error("no reply");
      const saidNothing =
        last.status === "failed" && /no se entiende|se cortó|sin escribir nada/.test(last.error ?? "");
      if (!saidNothing || again === 5) return last;
      const body = JSON.stringify({ parentId: last.parentId });
      const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
      await (await fetch(`${server.url}/v1/api/intelligence/conversation`, { method: "POST", headers, body })).text();
    }
  }

  it("is found within a minute of starting, with its window", async () => {
    llama = startLlama(port, window);
    await vi.waitFor(
      async () => {
        const { items } = await get<{ items: Model[] }>("/api/model");
        const found = items.find(({ name }) => name === "diminuto");
        expect(found).toBeTruthy();
        if (found) model = found;
      },
      { timeout: 75_000, interval: 500 },
    );
    expect(model).toMatchObject({ contextWindow: window, maxOutputTokens: window / 2 });
  });

  it("answers", async () => {
    chat = await browser.say("¿Qué tal?");
    expect(await reply()).toMatchObject({ status: "complete" });
  });

  it("answers after the conversation exceeds its context window", async () => {
    for (let turn = 0; turn < 6; turn++) chat = await browser.say(`Otra vez, ${"palabra ".repeat(120)}`, chat);
    expect(await reply()).toMatchObject({ status: "complete" });
    const before = (await messages()).slice(1);
    expect(Buffer.byteLength(before.map(({ content }) => content).join(""))).toBeGreaterThan(window);
  });

  it("reports a message that is too long for its window", async () => {
    chat = await browser.say("palabra ".repeat(1_500), chat);
    const last = await reply();
    expect(last).toMatchObject({ status: "failed", error: expect.stringContaining("demasiado larga") });
    expect(readable(await browser.html(chat))).toContain("demasiado larga");
  });

  it("reports an unreachable server and answers after its restart", async () => {
    await llama?.stop();
    chat = await browser.say("¿Sigues ahí?");
    expect(await reply()).toMatchObject({
      status: "failed",
      error: expect.stringContaining("No se ha podido conectar"),
    });
    llama = startLlama(port, window);
    await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => expect(ok).toBe(true)), 20_000);
    chat = await browser.say("¿Y ahora?", chat);
    expect(await reply()).toMatchObject({ status: "complete" });
  });
});
