import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { counted, startCountingModel } from "../support/counting-model.ts";
import { sharedEngines } from "../support/engines.ts";
import { Hosts, mayHaveHosts } from "../support/hosts.ts";
import { S3Store } from "../support/s3-store.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

const root = join(import.meta.dirname, "../..");
const caddy = ["/usr/bin/caddy", "/usr/local/bin/caddy"].find((path) => existsSync(path));
const redis = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].find((path) => existsSync(path));
const shared = await sharedEngines();
const people = 20;

describe.runIf(caddy && redis && mayHaveHosts()).each(shared)(
  "two hosts behind Caddy, on $name, Redis and S3",
  (engine) => {
    const folder = mkdtempSync(join(tmpdir(), "tertulia-hosts-"));
    const machines: TestServer[] = [];
    const children: ChildProcess[] = [];
    let hosts: Hosts;
    let database: Awaited<ReturnType<typeof engine.open>>;
    let store: S3Store;
    let model: Awaited<ReturnType<typeof startCountingModel>>;
    let front: string;
    const port = 8080;

    beforeAll(async () => {
      hosts = new Hosts(2);
      [database, store, model] = await Promise.all([engine.open(), S3Store.start(), startCountingModel(500)]);
      const [redisPort, frontPort] = [await freePort(), await freePort()];
      children.push(spawn(redis ?? "", ["--port", String(redisPort), "--save", ""], { stdio: "ignore" }));
      const there = (url: string) => url.replace("127.0.0.1", hosts.here);
      const postgres = new URL(database.url);
      for (const one of [Number(postgres.port || 5432), redisPort, store.port, Number(new URL(model.url).port)]) {
        await hosts.forward(one);
      }
      front = `http://127.0.0.1:${frontPort}`;
      const env = {
        DATABASE_URL: there(database.url),
        REDIS_URL: `redis://${hosts.here}:${redisPort}`,
        ...Object.fromEntries(Object.entries(store.environment()).map(([name, value]) => [name, there(value)])),
        SESSION_SECRET: "s".repeat(32),
        TRUST_PROXY: "1",
        PUBLIC_URL: front,
        OPENAI_BASE_URL: there(model.url),
        OPENAI_API_KEY: "clave",
        PORT: String(port),
      };
      for (const n of [0, 1]) {
        const own = { ...env, HOST: hosts.address(n), DATA_DIR: join(folder, String(n)) };
        machines.push(await startServer(own, hosts.on(n)));
      }
      const settings = { SITE: front, UPSTREAMS: `${hosts.address(0)}:${port} ${hosts.address(1)}:${port}` };
      const caddyFile = ["run", "--adapter", "caddyfile", "--config", join(root, "deploy/Caddyfile")];
      children.push(
        spawn(caddy ?? "", caddyFile, { env: { ...process.env, ...settings, HOME: folder }, stdio: "ignore" }),
      );
      await vi.waitFor(async () => expect((await fetch(`${front}/ready`)).status).toBe(200), 30_000);
    });
    afterAll(async () => {
      for (const n of [0, 1]) hosts.plugIn(n);
      await Promise.all(machines.map((machine) => machine.end("SIGKILL")));
      for (const child of children) child.kill("SIGKILL");
      model.stop();
      await store.delete();
      await database.drop();
      hosts.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const replies = () =>
      database.db
        .selectFrom("messages")
        .where("role", "=", "assistant")
        .select(["chatId", "content", "status", "writer"])
        .execute();
    const writers = async () =>
      new Set((await replies()).filter(({ status }) => status === "streaming").map(({ writer }) => writer));

    it("keep replies complete when one host's cable is pulled", async () => {
      const visitors = await Promise.all(
        Array.from({ length: people }, async () => {
          const browser = new Browser(front);
          await browser.signUp();
          return { browser, chat: await browser.say("Cuenta") };
        }),
      );
      await vi.waitFor(
        async () => expect((await replies()).every(({ content }) => content.length > 3)).toBe(true),
        20_000,
      );
      expect((await writers()).size).toBe(2);

      hosts.pullCable(0);
      await vi.waitFor(async () => expect((await writers()).size).toBe(1), { timeout: 180_000, interval: 250 });
      // A client of the one that is away asks again, and is served by the other.
      const asked = async () => {
        const answer = await visitors[0]?.browser.fetch("/user", { signal: AbortSignal.timeout(2_000) });
        return answer?.status;
      };
      await vi.waitFor(async () => expect(await asked()).toBe(200), { timeout: 60_000, interval: 100 });
      for (let n = 0; n < 20; n++) expect(await asked()).toBe(200);
      const late = new Browser(front);
      await late.signUp();
      await late.say("Hola");

      hosts.plugIn(0);
      const begun = visitors.map(({ chat }) => chat.split("/").at(-1));
      const now = await vi.waitFor(
        async () => {
          const all = (await replies()).filter(({ chatId }) => begun.includes(chatId));
          expect(all.filter(({ status }) => status !== "complete")).toEqual([]);
          return all;
        },
        { timeout: 180_000, interval: 500 },
      );
      expect(now.filter(({ content }) => content !== counted)).toEqual([]);
      const [first] = visitors;
      expect(readable((await first?.browser.html(first.chat)) ?? "")).toContain(counted);
    });

    it("and it serves again by itself", async () => {
      const ready = () => fetch(`http://${hosts.address(0)}:${port}/ready`).then(({ status }) => status);
      await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 180_000, interval: 500 });
      const browser = new Browser(`http://${hosts.address(0)}:${port}`);
      expect((await browser.fetch("/auth/signin")).status).toBe(200);
    });
  },
);
