import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { expect, it, onTestFinished, vi } from "vitest";
import { freePort, startServer, type TestServer } from "../support/server.ts";

const program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].find((path) => existsSync(path));

/** A Redis of the test's own, in memory only. */
async function startRedis(port: number) {
  const redis = spawn(program ?? "", ["--port", String(port), "--save", "", "--appendonly", "no", "--dir", tmpdir()], {
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => redis.once("exit", () => resolve()));
  const end = () => {
    redis.kill("SIGKILL");
    return ended;
  };
  process.once("exit", end);
  onTestFinished(async () => {
    process.off("exit", end);
    await end();
  });
  await vi.waitFor(() => answers(port), 10_000);
  return { stop: () => redis.kill("SIGSTOP"), goOn: () => redis.kill("SIGCONT"), end };
}

const answers = (port: number) =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(void socket.destroy()));
    socket.once("error", reject);
  });

/** Tries to sign in with a wrong password so many times, and answers the statuses. */
async function tries(server: TestServer, email: string, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < times; n++) {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ email, password: "otra frase larga y rara" });
    statuses.push((await fetch(`${server.url}/v1/auth/signin`, { method: "POST", headers, body })).status);
  }
  return statuses;
}

/** It notices with the first attempt that is counted there again; an address has a hundred. */
async function isBack(server: TestServer, times: number): Promise<void> {
  await vi.waitFor(
    async () => {
      await tries(server, `${crypto.randomUUID()}@ejemplo.es`, 1);
      expect(server.printed().split("Redis vuelve a contestar")).toHaveLength(times + 1);
    },
    { timeout: 20_000, interval: 500 },
  );
}

it.runIf(program)("processes count attempts jointly in Redis, separately while Redis fails", async () => {
  const port = await freePort();
  const redis = await startRedis(port);
  // Processes of one installation have one secret, by which their counters are named.
  const env = { REDIS_URL: `redis://127.0.0.1:${port}`, SESSION_SECRET: "s".repeat(32) };
  const [one, other] = await Promise.all([startServer(env), startServer(env)]);
  onTestFinished(async () => {
    await Promise.all([one.stop(), other.stop()]);
  });
  expect(await tries(one, "ana@ejemplo.es", 10)).toEqual(Array(10).fill(401));
  expect(await tries(other, "ana@ejemplo.es", 1)).toEqual([429]);

  redis.stop();
  expect(await tries(other, "bea@ejemplo.es", 11)).toEqual([...Array(10).fill(401), 429]);
  expect(other.printed()).toContain("Redis no contesta");
  redis.goOn();
  await isBack(other, 1);

  await redis.end();
  expect(await tries(one, "carla@ejemplo.es", 11)).toEqual([...Array(10).fill(401), 429]);
  expect(await tries(other, "carla@ejemplo.es", 1)).toEqual([401]);

  await startRedis(port);
  await isBack(one, 1);
  await isBack(other, 2);
  expect(await tries(one, "dora@ejemplo.es", 10)).toEqual(Array(10).fill(401));
  expect(await tries(other, "dora@ejemplo.es", 1)).toEqual([429]);
});

it.runIf(program)("processes follow an address that leads to another Redis when theirs becomes a replica", async () => {
  const [first, second, port] = await Promise.all([freePort(), freePort(), freePort()]);
  await startRedis(first);
  await startRedis(second);
  let leads = first;
  const way = createServer((socket) => {
    const beyond = connect(leads, "127.0.0.1");
    for (const end of [socket, beyond]) end.on("error", () => end.destroy());
    socket.pipe(beyond).pipe(socket);
  }).listen(port, "127.0.0.1");
  const server = await startServer({ REDIS_URL: `redis://127.0.0.1:${port}` });
  onTestFinished(async () => {
    way.close();
    await server.stop();
  });
  expect(await tries(server, "ana@ejemplo.es", 10)).toEqual(Array(10).fill(401));
  leads = second;
  const asks = connect(first, "127.0.0.1", () => asks.end(`REPLICAOF 127.0.0.1 ${second}\r\n`));
  await once(asks.resume(), "close");
  await tries(server, "bea@ejemplo.es", 1);
  await isBack(server, 1);
});
