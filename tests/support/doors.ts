import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";
import { Browser } from "./browser.ts";
import { password } from "./password.ts";

/** Somebody's program: its key, and a session of theirs to make models with. */
export type Program = { url: string; key: string; session: string; browser: Browser };

/** Signs somebody up who gives a key to a program. */
export async function startProgram(url: string, name = "Ana"): Promise<Program> {
  const browser = new Browser(url);
  const email = await browser.signUp(name);
  const session = await (await send(url, "/auth/signin", { email, password })).text();
  const made = await send(url, "/api/key", { name: "programa", scope: "write" }, session);
  return { url, key: ((await made.json()) as { token: string }).token, session, browser };
}

/** Sends JSON to the API. */
export const send = (url: string, path: string, json: object, token = "") =>
  fetch(`${url}/v1${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(json),
  });

/** Waits until the house has found its models. */
export const modelsOf = ({ url, key }: Program) =>
  vi.waitFor(
    async () => {
      const answer = await fetch(`${url}/v1/models`, { headers: { Authorization: `Bearer ${key}` } });
      const { data } = (await answer.json()) as { data: { id: string }[] };
      if (data.length === 0) throw new Error("no models yet");
      return data.map(({ id }) => id);
    },
    { timeout: 60_000 },
  );

type Answer = { status?: number; type?: string; body: string };

/** A model server that answers as `answer` says, and keeps what it was asked. */
export async function startUpstream(answer: (body: Record<string, unknown>, asked: number) => Answer) {
  const asked: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const said = JSON.parse(body || "{}") as Record<string, unknown>;
    asked.push(said);
    const { status = 200, type = "text/event-stream", body: sent } = answer(said, asked.length);
    response.writeHead(status, { "Content-Type": type }).end(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, stop: () => server.close() };
}

const event = (data: object, name?: string) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

/** A chat completion as a stream, with these words. */
export const streamed = (content: string) =>
  event({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: null }] }) +
  event({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) +
  "data: [DONE]\n\n";

type Block = { start: object; deltas: object[] };

/** An answer of Anthropic's as a stream, with these blocks. */
export function streamedBlocks(blocks: Block[], stop_reason: string, stop_sequence: string | null = null): string {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: "m", type: "message", role: "assistant", model: "x", content: [], usage };
  const told = blocks.flatMap(({ start, deltas }, index) => [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]);
  return [
    { type: "message_start", message },
    ...told,
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage },
    { type: "message_stop" },
  ]
    .map((one) => event(one, one.type))
    .join("");
}
