import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { startServer } from "../support/server.ts";
import { startScriptedModel, steps } from "../support/tool-servers.ts";

let mock: LLMock;
const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
const file = join(dataDir, "apuntes.txt");
beforeAll(async () => {
  writeFileSync(file, "");
  mock = await startScriptedModel();
});
afterAll(async () => {
  await mock.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const counting = join(import.meta.dirname, "../support/counting-server.ts");
const program = { command: process.execPath, args: [counting, file], env: {} };

type Part = { n: number; kind: string; status: string; output: string; asks: { hash: string } | null };
type Message = { status: string; content: string; parts: Part[] };

const kills = 20;

it(`runs no tool call twice when killed ${kills} times`, async () => {
  const start = () => startServer({ DATA_DIR: dataDir, MCP_SERVERS: JSON.stringify({ apuntes: program }) });
  let server = await start();
  onTestFinished(() => void server.process.kill("SIGKILL"));
  let token = "";
  const call = async (method: string, path: string, json?: object) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    return fetch(`${server.url}/v1${path}`, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  };
  const read = async (id: string) => (await (await call("GET", `/api/message/${id}`)).json()) as Message;
  const lines = (text: string) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line === text).length;
  const settled = async (id: string) => {
    await expect.poll(async () => (await read(id)).status, { timeout: 60_000 }).not.toBe("streaming");
    return read(id);
  };

  const person = { name: "Ana", email: "ana@ejemplo.es", password: "una frase larga y rara" };
  token = await (await call("POST", "/auth/signup", person)).text();
  const model = {
    name: "m",
    provider: "openai-compatible",
    externalId: "x",
    baseUrl: `${mock.url}/v1`,
    usesTools: true,
  };
  const modelId = ((await (await call("POST", "/api/model", model)).json()) as { id: string }).id;
  const { items } = (await (await call("GET", "/api/tool")).json()) as { items: { id: string; name: string }[] };
  const tool = items.find(({ name }) => name === "apuntes");
  expect((await call("POST", `/api/tool/${tool?.id}/list`)).status).toBe(200);

  const outcomes: string[] = [];
  for (let n = 0; n < kills; n++) {
    const text = `línea ${n}`;
    const reads = { name: "calcular", input: { cuenta: `${n} + 1` } };
    const writes = { name: "apuntes_apunta", input: { texto: text } };
    const sent = await call("POST", "/api/intelligence/conversation", {
      content: steps([[reads], [reads, writes], [reads]], `Fin ${n}.`),
      modelId,
    });
    const reader = sent.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel().catch(() => {});
    const { messageId } = JSON.parse(first.split("\n\n")[0] ?? "") as { messageId: string };

    // Half of them on the way to the question, half of them after the yes.
    if (n % 2 === 0) {
      await wait(n * 8);
      await server.end("SIGKILL");
      server = await start();
    }
    let reply = await settled(messageId);
    for (let turn = 0; reply.status !== "complete" && turn < 6; turn++) {
      const asked = reply.parts.find(({ status }) => status === "waiting");
      if (reply.status === "waiting" && asked) {
        const yes = { n: asked.n, hash: asked.asks?.hash, decision: "once" };
        const answer = await call("POST", `/api/message/${messageId}/decision`, yes);
        expect([200, 422]).toContain(answer.status);
        if (n % 2 === 1 && turn === 0) {
          await wait((n - 1) * 8);
          await server.end("SIGKILL");
          server = await start();
        }
      } else {
        expect(["interrupted", "failed"]).toContain(reply.status);
        await (await call("POST", "/api/intelligence/conversation", { parentId: messageId })).text();
      }
      reply = await settled(messageId);
    }
    expect(reply).toMatchObject({ status: "complete" });
    expect(reply.content).toContain(`Fin ${n}.`);
    const calls = reply.parts.filter(({ kind }) => kind === "tool");
    const written = lines(text);
    expect(written).toBeLessThanOrEqual(1);
    // Calls that were not done, or may have been, are told as such; those that are told as done are done.
    const done = calls.some(({ output }) => output === `Apuntado: ${text}`);
    const unknown = calls.some(({ status }) => status === "interrupted");
    expect(done ? written === 1 : unknown).toBe(true);
    outcomes.push(done ? "done" : "unknown");
  }
  // Most of them came to their end: a kill is in the middle of the deed itself only now and then.
  expect(outcomes.filter((outcome) => outcome === "done").length).toBeGreaterThan(kills / 2);
});
