import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startServer } from "../support/server.ts";

function startWith(env: Record<string, string>): { status: number | null; said: string } {
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  const { status, stdout, stderr } = spawnSync(process.execPath, ["server.ts"], {
    env: { PATH: process.env.PATH, PORT: "0", DATA_DIR: dataDir, ...env },
    encoding: "utf8",
    timeout: 20_000,
  });
  rmSync(dataDir, { recursive: true, force: true });
  return { status, said: `${stdout}${stderr}`.trim() };
}

describe("a start", () => {
  it.each([
    [{ PORT: "abc" }, "PORT"],
    [{ PORT: "70000" }, "PORT"],
    [{ DATABASE_URL: "mysql://x" }, "DATABASE_URL"],
    [{ DATABASE_URL: "postgres://nadie@127.0.0.1:1/nada" }, "DATABASE_URL"],
    [{ SESSION_SECRET: "corto" }, "SESSION_SECRET"],
    [{ OPENAI_BASE_URL: "ftp://x" }, "OPENAI_BASE_URL"],
    [{ SIGNUP: "quizá" }, "SIGNUP"],
    [{ TRUST_PROXY: "sí" }, "TRUST_PROXY"],
    [{ DATA_DIR: "/dev/null/x" }, "DATA_DIR"],
  ])("with %j stops with one sentence that names the variable", (env, name) => {
    const { status, said } = startWith(env as Record<string, string>);
    expect(status).toBe(1);
    expect(said).toMatch(new RegExp(`^[^\\n]*${name}[^\\n]*\\.$`));
  });

  it("is refused when another process uses the same data", async () => {
    const first = await startServer();
    onTestFinished(() => first.stop());
    const { status, said } = startWith({ DATA_DIR: first.dataDir });
    expect(status).toBe(1);
    expect(said).toMatch(/^Otro proceso de Tertulia ya usa los datos de [^\n]*\.$/);
  });

  it("loads only ASCII code, which takes half the memory", () => {
    const files = globSync("build/server/**/*.js").filter((file) => !file.includes(".worker."));
    const others = files.filter((file) => readFileSync(file).some((byte) => byte > 127));
    expect(files.length).toBeGreaterThan(50);
    expect(others).toEqual([]);
  });

  it("finds Ollama and makes its first model the default", async () => {
    const ollama = createServer((_, response) =>
      response.end(JSON.stringify({ models: [{ name: "gemma3:27b" }, { name: "nomic-embed-text" }] })),
    );
    await new Promise<void>((resolve) => ollama.listen(0, "127.0.0.1", resolve));
    const server = await startServer({ OLLAMA_BASE_URL: `http://127.0.0.1:${(ollama.address() as AddressInfo).port}` });
    onTestFinished(async () => {
      await server.stop();
      ollama.close();
    });
    const browser = new Browser(server.url);
    await browser.signUp();
    await expect
      .poll(() => browser.html("/conversation/chat"))
      .toMatch(/<option value="[^"]+" selected="">gemma3:27b<\/option>/);
    expect(readable(await browser.html("/conversation/chat"))).not.toContain("nomic-embed-text");
  });
});
