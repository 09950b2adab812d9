import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer } from "../support/server.ts";
import { Disk, readFolder } from "./disk.ts";
import { mayTrace, traceSystemCalls } from "./system-calls.ts";

const losses = 10;

let models: LLMock;
beforeAll(async () => {
  models = await startModelServer();
});
afterAll(() => models.stop());

/** Answers of a path of the API, one state after another; undefined: there is nothing. */
type State = { value: string | undefined; began: number; answered: number };

function caller(url: string, token: string) {
  return (method: string, path: string, body?: object | FormData) => {
    const json = body && !(body instanceof FormData);
    const headers = { Authorization: `Bearer ${token}`, ...(json && { "Content-Type": "application/json" }) };
    return fetch(`${url}/v1/api${path}`, {
      method,
      headers,
      ...(body && { body: json ? JSON.stringify(body) : body }),
    });
  };
}

describe.runIf(mayTrace())("the power goes", () => {
  it(`${losses} times during writes, losing nothing that was acknowledged`, async () => {
    const server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
    onTestFinished(() => server.stop());
    const email = await new Browser(server.url).signUp();
    const signIn = { method: "POST", headers: { "Content-Type": "application/json" } };
    const credentials = JSON.stringify({ email, password });
    const token = await (await fetch(`${server.url}/v1/auth/signin`, { ...signIn, body: credentials })).text();
    const before = readFolder(server.dataDir);
    const ended = await traceSystemCalls(server.process.pid ?? 0);
    const written = await write(caller(server.url, token));
    await server.end("SIGKILL");
    const calls = await ended();
    expect(calls.filter(({ name }) => name === "fsync" || name === "fdatasync").length).toBeGreaterThan(50);

    const moments = [...written.values()].flat().map(({ answered }) => answered);
    const [first, last] = [Math.min(...moments), Math.max(...moments)];
    for (let loss = 1; loss <= losses; loss++) {
      const at = first + ((last - first) * loss) / losses;
      const disk = new Disk(server.dataDir, before);
      for (const call of calls) if (call.ended <= at) disk.apply(call, copied);
      const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
      onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
      disk.losePower(dataDir, chance(loss));
      const again = await startServer({ DATA_DIR: dataDir });
      onTestFinished(() => void again.process.kill("SIGKILL"));
      const lost = await missing(caller(again.url, token), written, at);
      await again.end();
      expect(lost).toEqual([]);
    }
  });
});

/** Projects made, renamed and deleted, files, and messages with their replies: several writers at once. */
async function write(call: ReturnType<typeof caller>): Promise<Map<string, State[]>> {
  const written = new Map<string, State[]>();
  const keep = (path: string, began: number, value?: string) =>
    // A clock of whole milliseconds: never earlier than it was.
    written.set(path, [...(written.get(path) ?? []), { value, began, answered: Date.now() + 1 }]);
  async function projects(writer: number) {
    for (let n = 0; n < 20; n++) {
      const name = `Proyecto ${writer}-${n}`;
      let began = Date.now();
      const { id } = (await (await call("POST", "/project", { name })).json()) as { id: string };
      keep(`/project/${id}`, began, name);
      began = Date.now();
      expect((await call("PUT", `/project/${id}`, { name: `${name}*` })).status).toBe(200);
      keep(`/project/${id}`, began, `${name}*`);
      began = Date.now();
      if (n % 3 === 0 && (await call("DELETE", `/project/${id}`)).status === 204) keep(`/project/${id}`, began);
    }
  }
  async function files() {
    for (let n = 0; n < 20; n++) {
      const text = `Esto es el archivo ${n}. `.repeat(n * 100 + 1);
      const body = new FormData();
      body.append("files", new File([text], `${n}.txt`));
      const began = Date.now();
      const answer = (await (await call("POST", "/file/uploads", body)).json()) as { items: { id: string }[] };
      keep(`/file/${answer.items[0]?.id}/content`, began, text);
    }
  }
  async function messages() {
    for (let n = 0; n < 10; n++) {
      const content = `Mensaje ${n}`;
      const began = Date.now();
      const stream = await (await call("POST", "/intelligence/conversation", { content })).text();
      const { userMessageId, messageId } = JSON.parse(stream.split("\n")[0] ?? "");
      keep(`/message/${userMessageId}`, began, content);
      keep(`/message/${messageId}`, began, "Una respuesta **breve**. Con dos frases.");
    }
  }
  await Promise.all([projects(1), projects(2), files(), messages()]);
  return written;
}

/** Writes that had been answered by then and are missing; a change that was under way may be there or not. */
async function missing(call: ReturnType<typeof caller>, written: Map<string, State[]>, at: number) {
  const lost: { path: string; is: string | undefined; might: (string | undefined)[] }[] = [];
  for (const [path, states] of written) {
    const answered = states.findLastIndex((state) => state.answered <= at);
    if (answered === -1) continue;
    const might = states.slice(answered).flatMap(({ value, began }, n) => (n === 0 || began <= at ? [value] : []));
    const answer = await call("GET", path);
    const is = answer.status === 404 ? undefined : await shown(path, answer);
    if (!might.includes(is)) lost.push({ path, is, might });
  }
  return lost;
}

async function shown(path: string, answer: Response): Promise<string> {
  if (path.endsWith("/content")) return answer.text();
  const { name, content } = (await answer.json()) as { name?: string; content?: string };
  return name ?? content ?? "";
}

/** The bytes of uploads come from outside the folder; by now they have their name. */
function copied(path: string): Buffer {
  const named = path.replace(/\.[\da-f-]{36}\.part$/, "");
  return readFileSync(existsSync(named) ? named : path);
}

/** The same for each run, or a failure could not be looked into. */
function chance(seed: number): () => number {
  let n = 0;
  return () => createHash("sha256").update(`${seed} ${n++}`).digest().readUInt32BE() / 2 ** 32;
}
