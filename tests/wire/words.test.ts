import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cutText } from "../../app/process/text/cut-text.ts";
import { firstWords } from "../../app/replies/title.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";

describe.each(await queryEngines())("search on $name", (engine) => {
  let api: Api;
  let ana: Account;
  beforeAll(async () => {
    api = await openApi(engine);
    ana = await api.signUp("Ana");
    for (const content of [
      "El señor Núñez vive en Logroño",
      "私は東京に行きたい",
      "¡Felicidades! 🎉 Ya está",
      "Un año entero",
    ]) {
      await api.converse(ana.token, { content });
    }
  });
  afterAll(() => api.close());

  it.each([
    ["senor", "El señor Núñez"],
    ["señor", "El señor Núñez"],
    ["nunez logrono", "El señor Núñez"],
    ["東京", "私は東京"],
    ["東", "私は東京"],
    ["行きたい", "私は東京"],
    ["🎉", "¡Felicidades!"],
    ["ano", "Un año"],
  ])("%s finds it, among messages and titles", async (q, begins) => {
    const answer = await api.call("GET", `/api/search?q=${encodeURIComponent(q)}`, { token: ana.token });
    const { messages, chats } = answer.body as {
      messages: { role: string; excerpt: { text: string; hit: boolean }[] }[];
      chats: { title: string }[];
    };
    const texts = messages
      .filter(({ role }) => role === "user")
      .map(({ excerpt }) => excerpt.map(({ text }) => text).join(""));
    expect(texts).toEqual([expect.stringContaining(begins)]);
    expect(messages[0]?.excerpt.some(({ hit }) => hit)).toBe(true);
    if (!q.includes(" ")) expect(chats.map(({ title }) => title)).toEqual([expect.stringContaining(begins)]);
  });

  it("年 finds nothing where it is not", async () => {
    const answer = await api.call("GET", `/api/search?q=${encodeURIComponent("京都")}`, { token: ana.token });
    expect((answer.body as { messages: unknown[] }).messages).toEqual([]);
  });

  it("a password typed on another keyboard is the same", async () => {
    const email = `${crypto.randomUUID()}@ejemplo.es`;
    const typed = "contraseña ﬁrme y larga １２";
    await api.call("POST", "/auth/signup", { json: { name: "Bea", email, password: typed.normalize("NFD") } });
    for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) {
      const answer = await api.call("POST", "/auth/signin", { json: { email, password: typed.normalize(form) } });
      expect(answer.status).toBe(200);
    }
    expect((await api.call("POST", "/auth/signin", { json: { email, password } })).status).toBe(401);
  });
});

it.each([
  ["👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 15, "👨‍👩‍👧‍👦"],
  ["aé".normalize("NFD"), 2, "a"],
  ["hola 🎉", 6, "hola "],
  ["hola", 10, "hola"],
  ["\ud83d", 10, "\ufffd"],
])("%j is cut to %i between characters", (text, most, cut) => {
  expect(cutText(text, most)).toBe(cut);
});

it("a title does not end within a character", () => {
  expect(firstWords(`${"a".repeat(59)}👨‍👩‍👧‍👦 fin`)).toBe(`${"a".repeat(59)}…`);
});
