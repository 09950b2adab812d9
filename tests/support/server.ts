import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TestServer = {
  url: string;
  dataDir: string;
  process: ChildProcess;
  /** Its log so far. */
  printed(): string;
  /** Ends it (SIGTERM by default) and answers its exit code; its data stays. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Ends it and deletes its data. */
  stop(): Promise<void>;
};

/** A port that nobody listens on, for a server that has to know its address. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Starts the built server as `npm start` does, on a port of its own; `on` is what its command begins with, to run it on another host. */
export async function startServer(env: Record<string, string> = {}, on: string[] = []): Promise<TestServer> {
  if (!existsSync("build/server/start.js")) throw new Error("there is no build: `node prepare.mjs build`");
  const dataDir = env.DATA_DIR ?? mkdtempSync(join(tmpdir(), "tertulia-"));
  const [program = "", ...args] = [...on, process.execPath, "--max-semi-space-size=16", "build/server/start.js"];
  const child = spawn(program, args, {
    env: {
      PATH: process.env.PATH,
      // Passed on, so that modules preloaded into the tests, as by tests/mutations, are also preloaded into their servers.
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      PORT: "0",
      HOST: "127.0.0.1",
      OLLAMA_BASE_URL: "http://127.0.0.1:9",
      DATA_DIR: dataDir,
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (data: Buffer) => {
      output += data;
      const port = /Tertulia escucha en \S+:(\d+)/.exec(output)?.[1];
      if (port) resolve(`http://127.0.0.1:${port}`);
    });
    void exited.then((code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  const end = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return exited;
  };
  return {
    url,
    dataDir,
    process: child,
    printed: () => output,
    end,
    async stop() {
      await end("SIGINT");
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Pages and API in two processes; the environment is the API's, `PORT` and `PUBLIC_URL` are where the pages are. */
export async function startPair({ PORT = "0", ...env }: Record<string, string>): Promise<TestServer> {
  // It prints PUBLIC_URL, where the pages are.
  const port = String(await freePort());
  const api = await startServer({ ...env, PORT: port, TRUST_PROXY: "1" });
  const { PUBLIC_URL } = env;
  const front = await startServer({
    PORT,
    ...(PUBLIC_URL && { PUBLIC_URL }),
    API_BASE_URL: `http://127.0.0.1:${port}/v1`,
  });
  return {
    ...front,
    async stop() {
      await front.stop();
      await api.stop();
    },
  };
}
