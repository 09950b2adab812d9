import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

// The mock of the other tests signs nothing. These two answer as the providers document it: the second request is refused without
// the signatures of the first answer.
const bodies: string[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  if (/Pon título/.test(body)) return void response.writeHead(500).end();
  bodies.push(body);
  const isFirst = !/tool_result|functionResponse/.test(body);
  const events = request.url?.includes("messages") ? anthropic(isFirst) : google(isFirst);
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const event of events) {
    const { type } = event as { type?: string };
    response.write(`${type ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
});

function anthropic(isFirst: boolean): object[] {
  const usage = { input_tokens: 3, output_tokens: 5 };
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const blocks = isFirst
    ? [
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "Hay que contar." },
          { type: "signature_delta", signature: "FIRMA-A" },
        ),
        ...block(
          1,
          { type: "tool_use", id: "toolu_1", name: "calcular", input: {} },
          { type: "input_json_delta", partial_json: '{"cuenta":"6*7"}' },
        ),
      ]
    : block(0, { type: "text", text: "" }, { type: "text_delta", text: "Son 42." });
  return [
    {
      type: "message_start",
      message: { id: "1", type: "message", role: "assistant", model: "x", content: [], stop_reason: null, usage },
    },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: isFirst ? "tool_use" : "end_turn" }, usage },
    { type: "message_stop" },
  ];
}

function google(isFirst: boolean): object[] {
  const call = { functionCall: { name: "calcular", args: { cuenta: "6*7" } }, thoughtSignature: "FIRMA-G" };
  const part = isFirst ? call : { text: "Son 42." };
  return [{ candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }], usageMetadata: {} }];
}

let api: Api;
let admin: Account;
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  api = await openApi(sqlite);
  admin = await api.signUp("Admin");
});
afterAll(async () => {
  await api.close();
  server.close();
});

it.each([
  ["anthropic", "claude-x", "/v1", "FIRMA-A"],
  ["google", "gemini-3-pro", "/v1beta", "FIRMA-G"],
])("%s gets signatures back, also after the person's approval", async (provider, externalId, path, signature) => {
  const json = { name: provider, provider, externalId, baseUrl: `${url}${path}`, apiKey: "k", usesTools: true };
  const made = await api.call("POST", "/api/model", { token: admin.token, json });
  const modelId = (made.body as { id: string }).id;
  const chunks = await api.converse(admin.token, { content: "¿6 por 7?", modelId });
  expect(textOf(chunks)).toBe("Son 42.");
  expect(bodies.at(-1)).toContain(signature);

  // Asked first, the call and its signature go through the database.
  await api.db
    .updateTable("tools")
    .set({ settings: '{"tools":{"calcular":{"ask":true}}}' })
    .where("kind", "=", "sums")
    .execute();
  const [start] = await api.converse(admin.token, { content: "¿6 por 7 otra vez?", modelId });
  const messageId = start?.type === "start" ? start.messageId : "";
  const { parts } = (await api.call("GET", `/api/message/${messageId}`, { token: admin.token })).body as {
    parts: { kind: string; n: number; asks: { hash: string } | null }[];
  };
  const asked = parts.find(({ kind }) => kind === "tool");
  const yes = { n: asked?.n, hash: asked?.asks?.hash, decision: "once" };
  expect((await api.call("POST", `/api/message/${messageId}/decision`, { token: admin.token, json: yes })).status).toBe(
    200,
  );
  expect(textOf(await api.converse(admin.token, { messageId }))).toBe("Son 42.");
  expect(bodies.at(-1)).toContain(signature);
  await api.db.updateTable("tools").set({ settings: "{}" }).where("kind", "=", "sums").execute();
});
