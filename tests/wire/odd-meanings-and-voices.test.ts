import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embed } from "../../app/embeddings/embed.server.ts";
import { spoken, transcribe } from "../../app/voice/voice.server.ts";

let server: Server;
let answer: { status?: number; type?: string; body: string; at?: string; without?: string };
let asked: { url: string; body: string };
beforeAll(async () => {
  server = createServer(async (request, response) => {
    asked = { url: request.url ?? "", body: Buffer.concat(await Array.fromAsync(request)).toString("latin1") };
    if (answer.at && answer.at !== request.url) return response.writeHead(404).end();
    if (answer.without && asked.body.includes(answer.without)) {
      return response.writeHead(400).end(`{"detail":"${answer.without}: Extra inputs are not permitted"}`);
    }
    response.writeHead(answer.status ?? 200, { "Content-Type": answer.type ?? "application/json" }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close());
const baseUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

describe("vectors as servers give them", () => {
  const one = Array.from({ length: 8 }, (_, at) => at / 8);
  const two = one.map((number) => -number);
  const inBase64 = (numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
  const ask = (more = "") =>
    embed(
      { externalId: "m", baseUrl: `${baseUrl()}${more}`, apiKey: null },
      ["uno", "dos"],
      AbortSignal.timeout(9_000),
    );

  it("from a server that refuses the name of their format", async () => {
    answer = { body: JSON.stringify({ data: [{ embedding: one }, { embedding: two }] }), without: "encoding_format" };
    expect(await ask()).toEqual([one, two.map((number) => number + 0)]);
    expect(asked.body).not.toContain("encoding_format");
  });

  it.each<[string, unknown]>([
    [
      "in another order",
      {
        data: [
          { index: 1, embedding: two },
          { index: 0, embedding: one },
        ],
        usage: { prompt_tokens: 2 },
      },
    ],
    [
      "without tokens of the prompt",
      {
        data: [
          { index: 0, embedding: one },
          { index: 1, embedding: two },
        ],
        usage: { total_tokens: 3 },
      },
    ],
    [
      "in Base64",
      {
        data: [
          { index: 0, embedding: inBase64(one) },
          { index: 1, embedding: inBase64(two) },
        ],
      },
    ],
    [
      "each in a list of its own, in a list",
      [
        { index: 0, embedding: [one] },
        { index: 1, embedding: [two] },
      ],
    ],
    ["as Ollama's lists", { embeddings: [one, two] }],
  ])("takes them %s", async (_how, body) => {
    answer = { body: JSON.stringify(body) };
    expect(await ask()).toEqual([one, two].map((numbers) => numbers.map((number) => expect.closeTo(number, 5))));
  });

  it("takes numbers of more digits than a double has", async () => {
    const long = one.map((number) => `${number || "0.1"}000000000000000000001`);
    answer = { body: `{"data":[{"embedding":[${long}]},{"embedding":[${long}]}]}` };
    expect((await ask())[0]).toHaveLength(8);
  });

  it("asks an address with a query, as Azure's are", async () => {
    answer = { body: JSON.stringify({ embeddings: [one, two] }) };
    await ask("?api-version=1");
    expect(asked.url).toBe("/v1/embeddings?api-version=1");
  });

  it.each(["", "/v1", "/v1/", "/v1/embeddings"])("finds the server at an address that ends in «%s»", async (end) => {
    answer = { body: JSON.stringify({ embeddings: [one, two] }), at: "/v1/embeddings" };
    const at = `${baseUrl().replace("/v1", "")}${end}`;
    const found = await embed(
      { externalId: "m", baseUrl: at, apiKey: null },
      ["uno", "dos"],
      AbortSignal.timeout(9_000),
    );
    expect(found).toHaveLength(2);
  });

  it.each([
    ["null in a vector", { data: [{ embedding: [...one.slice(1), null] }, { embedding: two }] }],
    ["a vector too few", { data: [{ embedding: one }] }],
  ])("refuses %s", async (_what, body) => {
    answer = { body: JSON.stringify(body) };
    await expect(ask()).rejects.toThrow("no son los números de cada texto");
  });
});

describe("transcripts as servers give them", () => {
  const hear = (mediaType = "audio/webm") =>
    transcribe(
      { db: {} as never, modelKey: Buffer.alloc(32) },
      { id: "v", externalId: "whisper-1", baseUrl: baseUrl(), apiKey: null, voice: "" },
      { bytes: Buffer.from("sonido"), mediaType },
      AbortSignal.timeout(9_000),
    );

  it.each([
    ["segments without all their fields", '{"text":" Hola","segments":[{"id":0,"text":" Hola"}]}', "application/json"],
    ["a duration as text", '{"text":"Hola","duration":"1.5"}', "application/json"],
    ["plain text", "Hola\n", "text/plain; charset=utf-8"],
  ])("takes %s", async (_what, body, type) => {
    answer = { body, type };
    expect(await hear()).toBe("Hola");
  });

  it.each(["[BLANK_AUDIO]", "(música)", " ♪ ♪", "Subtítulos realizados por la comunidad de Amara.org"])(
    "hears nothing in %s",
    async (text) => {
      answer = { body: JSON.stringify({ text }) };
      expect(await hear()).toBe("");
    },
  );

  it("sends a recording under a name that servers know", async () => {
    answer = { body: '{"text":"Hola"}' };
    await hear("audio/mpeg");
    expect(asked.body).toContain('filename="audio.mp3"');
  });

  it.each<[number, string, string]>([
    [400, "Audio file is too short. Minimum audio length is 0.1 seconds.", "La grabación es demasiado corta"],
    [400, "Invalid file format. Supported formats: ['flac']", "no entiende este tipo de grabación"],
    [413, "Maximum content size limit exceeded", "La grabación es demasiado larga"],
  ])("says what is wrong with a recording (%i: %s)", async (status, message, sentence) => {
    answer = { status, body: JSON.stringify({ error: { message } }) };
    await expect(hear()).rejects.toThrow(sentence);
  });

  it("refuses a page of HTML", async () => {
    answer = { body: "<h1>It works!</h1>", type: "text/html" };
    await expect(hear()).rejects.toThrow("no se entiende");
  });
});

it.each([
  ["5*3 = 15, y 2 * 4 = 8", "5*3 = 15, y 2 * 4 = 8"],
  ["Abre mi_archivo_final", "Abre mi_archivo_final"],
  ["**Nota:** *muy* __importante__", "Nota: muy importante"],
  ['Mira [Mérida](https://e.es/M_(España)) y [más](https://e.es "título")', "Mira Mérida y más"],
  ["En https://e.es/a?b=c. Y <https://e.es>", "En un enlace. Y un enlace"],
  ["~~~\nx = 1\n~~~\nListo", "Aquí hay código.\n\nListo"],
  ["\\[x^2\\]\nListo", "Aquí hay una fórmula.\n\nListo"],
  ["- [ ] Pan\n- [x] Leche", "Pan\nLeche"],
  ["Hecho ✅ según [1, 2] y [^3]", "Hecho  según y"],
  ["Uno<br>dos&nbsp;tres", "Uno\ndos tres"],
])("reads %j aloud", (markdown, said) => {
  expect(spoken(markdown)).toBe(said);
});
