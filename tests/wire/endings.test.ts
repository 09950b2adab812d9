import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { objectOf } from "../../app/process/text/json.ts";
import { modelAt, readingOf } from "./recorded.ts";

let answer: (response: ServerResponse) => Promise<void>;
const server = createServer((asked, response) => {
  asked.resume();
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  void answer(response);
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const says = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: content ? { content } : {}, finish_reason: finish }] })}\n\n`;

it("a reason beside text does not end an answer that pauses", async () => {
  answer = async (response) => {
    response.write(says("Primera parte. ", "stop"));
    // Longer than an answer with its reason at the end is waited for.
    await pause(2_500);
    response.end(`${says("Segunda parte.", "stop")}data: [DONE]\n\n`);
  };
  expect(await readingOf(modelAt(url))).toMatchObject({ text: "Primera parte. Segunda parte.", reason: "stop" });
});

it("a connection reset after the reason takes nothing away", async () => {
  answer = async (response) => {
    response.write(says("Toda la respuesta.") + says("", "stop"), () => response.socket?.resetAndDestroy());
  };
  const read = await readingOf(modelAt(url));
  expect(read).toMatchObject({ text: "Toda la respuesta.", reason: "stop" });
  expect(read.error).toBeUndefined();
});

it("a connection reset before the reason cuts the answer", async () => {
  answer = async (response) => {
    response.write(says("La mitad"), () => response.socket?.resetAndDestroy());
  };
  expect((await readingOf(modelAt(url))).error).toMatch(/se cortó/);
});

it("a single stray closing mark does not make the next answer a thought", async () => {
  const model = modelAt(url);
  const read = async (text: string) => {
    answer = async (response) => {
      response.end(`${says(text)}${says("", "stop")}data: [DONE]\n\n`);
    };
    return readingOf(model);
  };
  expect(await read("Se cierra así:\n</think>\nY ya está.")).toMatchObject({ text: "Y ya está." });
  expect(await read("Una respuesta normal.")).toMatchObject({ text: "Una respuesta normal.", thought: "" });
});

it("a model that twice left out the opening mark may answer without a thought", async () => {
  const model = modelAt(url);
  const read = async (text: string) => {
    answer = async (response) => {
      response.end(`${says(text)}${says("", "stop")}data: [DONE]\n\n`);
    };
    return readingOf(model);
  };
  for (let time = 0; time < 2; time++) await read("Lo pienso.\n</think>\nDigo.");
  // Known by now: its thoughts are told as such from the first word.
  expect(await read("Lo pienso.\n</think>\nDigo.")).toMatchObject({ text: "Digo.", thought: "Lo pienso." });
  const plain = await read("Una respuesta sin pensar.");
  expect(plain).toMatchObject({ text: "Una respuesta sin pensar.", reason: "stop" });
  expect(plain.error).toBeUndefined();
});

it("a call that the model has misspelt at Groq is asked for once more", async () => {
  let times = 0;
  answer = async (response) => {
    if (++times > 1) return void response.end(`${says("Ahora sí.")}${says("", "stop")}data: [DONE]\n\n`);
    const error = { message: "Failed to call a function", code: "tool_use_failed", failed_generation: "<function" };
    response.end(`event: error\ndata: ${JSON.stringify({ error })}\n\n`);
  };
  expect(await readingOf(modelAt(url))).toMatchObject({ text: "Ahora sí.", reason: "stop" });
});

it.each([
  ["null", {}],
  [" ", {}],
  ['"{\\"a\\":1}"', { a: 1 }],
  ['{"texto":"Querida Ana:\nTe escribo.","n":1}', { texto: "Querida Ana:\nTe escribo.", n: 1 }],
  ['{"texto":"con \\" y\ttab"}', { texto: 'con " y\ttab' }],
  ["[1]", undefined],
  ['"hola"', undefined],
  ['{"a":', undefined],
])("the input %j of a call is read", (text, read) => expect(objectOf(text)).toEqual(read));
