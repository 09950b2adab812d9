import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

// Counts of tokens as gateways and servers at home have sent them: −1 where they don't count, text, averages, sums that overflowed.
const counts = ["-1", '"12"', "1.5", "null", "[]", "{}", "1e300", "9007199254740993", "true", "-0.0"];

let said = "";
let isStreamed = true;
const server = createServer((_request, response) => {
  const usage = `{"prompt_tokens":${said},"completion_tokens":${said},"completion_tokens_details":{"reasoning_tokens":${said}}}`;
  if (isStreamed) {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write('data: {"id":"1","choices":[{"index":0,"delta":{"content":"Ya está."},"finish_reason":null}]}\n\n');
    response.write('data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n');
    response.end(`data: {"id":"1","choices":[],"usage":${usage}}\n\ndata: [DONE]\n\n`);
  } else {
    response.writeHead(200, { "Content-Type": "application/json" });
    const choice = '{"index":0,"message":{"role":"assistant","content":"Ya está."},"finish_reason":"stop"}';
    response.end(`{"id":"1","object":"chat.completion","choices":[${choice}],"usage":${usage}}`);
  }
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => server.close());

describe.each(await queryEngines())("a count of tokens that is none, on $name", (engine) => {
  let api: Api;
  let admin: Account;
  let model: { id: string; externalId: string };
  beforeAll(async () => {
    api = await openApi(engine);
    admin = await api.signUp("Admin");
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const json = {
      name: "Cuenta mal",
      provider: "openai-compatible",
      externalId: "x",
      baseUrl,
      inputPrice: 1,
      outputPrice: 1,
    };
    model = (await api.call("POST", "/api/model", { token: admin.token, json })).body;
  });
  afterAll(() => api.close());

  it.each(counts)("%s loses only the count and leaves the reply complete", async (count) => {
    for (const streamed of [true, false]) {
      [said, isStreamed] = [count, streamed];
      const chunks = await api.converse(admin.token, { content: "Hola", modelId: model.id });
      expect([textOf(chunks), chunks.find(({ type }) => type === "end")]).toMatchObject([
        "Ya está.",
        { status: "complete" },
      ]);
      const [start] = chunks;
      if (start?.type !== "start") throw new Error("no start");
      const row = await api.db
        .selectFrom("messages")
        .where("id", "=", start.messageId)
        .select(["status", "content", "inputTokens", "outputTokens"])
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ status: "complete", content: "Ya está." });
      for (const tokens of [row.inputTokens, row.outputTokens]) expect(tokens).toBeGreaterThanOrEqual(0);
    }
  });

  it.each(counts)("%s does not fail an answer to a program", async (count) => {
    said = count;
    const json = { model: model.id, messages: [{ role: "user", content: "Hola" }] };
    const answer = await api.call("POST", "/chat/completions", { token: admin.token, json });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("Ya está.")]);
  });
});
