import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import type { Program } from "../../app/tools/mcp/server.ts";
import { freePort } from "./server.ts";

const { resolve: pathOf } = createRequire(import.meta.url);
const program = (name: string) => pathOf(`@modelcontextprotocol/${name}/dist/index.js`);

/** `server-everything` over Streamable HTTP. */
export async function startEverything(port?: number): Promise<{ url: string; port: number; stop(): Promise<void> }> {
  const own = port ?? (await freePort());
  const child = spawn(process.execPath, [program("server-everything"), "streamableHttp"], {
    env: { PATH: process.env.PATH, PORT: String(own) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`server-everything ended with ${code}`)));
    child.stderr.on("data", (said: Buffer) => said.includes("listening") && resolve());
  });
  return {
    url: `http://127.0.0.1:${own}/mcp`,
    port: own,
    async stop() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

/** `server-memory` as a program, and what it has written: one line for each entity. */
export function memoryProgram(): { program: Program; written(): string[]; stop(): void } {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-memoria-"));
  const file = join(folder, "memoria.jsonl");
  return {
    program: { command: process.execPath, args: [program("server-memory")], env: { MEMORY_FILE_PATH: file } },
    written() {
      try {
        return readFileSync(file, "utf8").split("\n").filter(Boolean);
      } catch {
        return [];
      }
    },
    stop: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** `server-filesystem` as a program that may use this folder. */
export const filesProgram = (folder: string): Program => ({
  command: process.execPath,
  args: [program("server-filesystem"), folder],
  env: {},
});

export type Called = { name: string; input: unknown };

/** A message that has the scripted model call these tools, step by step, and then say this. */
export const steps = (calls: Called[][], say = "Hecho."): string => `Pasos: ${JSON.stringify({ calls, say })}`;

type Message = { role: string; content?: unknown };
const textOf = ({ content }: Message): string =>
  typeof content === "string" ? content : JSON.stringify(content ?? "");

/** A model that does what its last message says, in the formats of OpenAI, Anthropic and Google. */
export async function startScriptedModel(): Promise<LLMock> {
  const mock = new LLMock({ port: 0, chunkSize: 8 });
  mock.on({ systemMessage: /Pon título/ }, { content: "Charla de prueba" });
  mock.onMessage(/Pasos: /, (request) => {
    const messages = request.messages as Message[];
    const asked = messages.findLastIndex((message) => message.role === "user" && textOf(message).includes("Pasos: "));
    const said = textOf(messages[asked] ?? { role: "user" });
    const { calls, say } = JSON.parse(said.slice(said.indexOf("Pasos: ") + 7)) as { calls: Called[][]; say: string };
    const done = messages
      .slice(asked + 1)
      .filter(({ role }, index, after) => role === "tool" && after[index - 1]?.role !== "tool");
    const step = calls[done.length];
    if (!step) {
      const last = messages.findLast(({ role }) => role === "tool");
      return { content: say.replace("{resultado}", last ? textOf(last) : "") };
    }
    return {
      toolCalls: step.map(({ name, input }) => ({
        name,
        arguments: typeof input === "string" ? input : JSON.stringify(input),
      })),
    };
  });
  mock.onMessage(/.*/, { content: "Una respuesta **breve**." });
  await mock.start();
  return mock;
}
