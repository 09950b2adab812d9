import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copy } from "./project.ts";

const preloads = join(copy, "..", "preloads");

/** Outcome of a run of a test file. */
type Outcome = { passed: boolean; ms: number };

/**
 * Runs test files of the changed project one after the other, with one of its mistakes switched on; on the first failure it ends.
 * They are all of one kind. `within`: in ms, after which they are killed.
 */
export async function runWith(mutant: string, files: string[], within: number): Promise<Outcome> {
  return run(files, preload(mutant, `globalThis.__stryker__ = { activeMutant: "${mutant}" };`), within);
}

/** Runs one test file without any mistake, and answers which ones it would have come across. */
export async function reach(file: string): Promise<Outcome & { reached: Set<string> }> {
  const seen = join(copy, "..", "reached", file.replaceAll("/", "-"));
  rmSync(seen, { recursive: true, force: true });
  mkdirSync(seen, { recursive: true });
  // Each process and thread writes a file of its own, as tests start servers and workers. Vitest kills its processes
  // without an `exit` event, so the executed mutants are written every 100 ms.
  const source = `
    import { writeFileSync } from "node:fs";
    import { threadId } from "node:worker_threads";
    let written = 0;
    const write = () => {
      const reached = Object.keys(globalThis.__stryker__?.mutantCoverage?.static ?? {});
      if (reached.length === written) return;
      written = reached.length;
      writeFileSync(${JSON.stringify(seen)} + "/" + process.pid + "-" + threadId, reached.join("\\n"));
    };
    process.on("exit", write);
    setInterval(write, 100).unref();`;
  const outcome = await run([file], preload(file.replaceAll("/", "-"), source), 300_000);
  const reached = readdirSync(seen).flatMap((name) => readFileSync(join(seen, name), "utf8").split("\n"));
  return { ...outcome, reached: new Set(reached) };
}

function preload(name: string, source: string): string {
  mkdirSync(preloads, { recursive: true });
  const path = join(preloads, `${name}.mjs`);
  writeFileSync(path, source);
  return path;
}

/** The program that runs a test file, and with which configuration. */
export function kindOf(file: string): "vitest" | "long" | "chromium" {
  if (file.endsWith(".spec.ts")) return "chromium";
  return file.includes(".long.") ? "long" : "vitest";
}

// Browser tests run without script, which exercises the server the most; only those of with-script files run with it.
function commandFor(files: string[]): string[] {
  const [first = ""] = files;
  const project = first.includes("with-script") ? "js" : "nojs";
  const once = ["--bail", "1", "--maxWorkers", "1", ...files];
  switch (kindOf(first)) {
    case "chromium":
      return ["playwright", "test", "-x", "--workers=1", `--project=${project}`, ...files];
    case "long":
      return ["vitest", "run", "--config", "vitest.long.config.ts", ...once];
    case "vitest":
      return ["vitest", "run", ...once];
  }
}

function run(files: string[], preloaded: string, within: number): Promise<Outcome> {
  const begun = performance.now();
  const child = spawn("npx", ["--no-install", ...commandFor(files)], {
    cwd: copy,
    env: { ...process.env, NODE_OPTIONS: `--import=${preloaded}` },
    stdio: "ignore",
    // A process group of its own, so that a timeout also kills the servers that the tests have started.
    detached: true,
  });
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, "SIGKILL"), within);
  return new Promise((resolve) => {
    child.once("exit", (code) => {
      clearTimeout(timer);
      resolve({ passed: code === 0, ms: performance.now() - begun });
    });
  });
}
