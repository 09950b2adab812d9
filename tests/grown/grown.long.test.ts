import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { counted, startCountingModel } from "../support/counting-model.ts";
import { sharedEngines } from "../support/engines.ts";
import { S3Store } from "../support/s3-store.ts";
import { freePort, startServer, type TestServer } from "../support/server.ts";

const root = join(import.meta.dirname, "../..");
const caddy = ["/usr/bin/caddy", "/usr/local/bin/caddy"].find((path) => existsSync(path));
const redis = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].find((path) => existsSync(path));
const shared = await sharedEngines();
const password = "una frase larga y rara";
const metricsToken = "dieciseis-letras-y-mas";
const metricsHeaders = { Authorization: `Bearer ${metricsToken}` };
const replies = 200;
const people = 50;

/**
 * The set-up of compose.grown.yaml, without containers: two processes with folders of their own behind Caddy, on PostgreSQL, Redis and an
 * S3 store.
 */
describe.runIf(caddy && redis).each(shared)("two machines behind Caddy, on $name, Redis and S3", (engine) => {
  let database: Awaited<ReturnType<typeof engine.open>>;
  let store: S3Store;
  let model: Awaited<ReturnType<typeof startCountingModel>>;
  let env: Record<string, string>;
  let front: string;
  let counting: ChildProcess;
  /** Of the people. They sign up once: one network may do so 200 times an hour. */
  let tokens: string[];
  const machines: TestServer[] = [];
  const ports: number[] = [];
  const children: ChildProcess[] = [];
  const folder = mkdtempSync(join(tmpdir(), "tertulia-grown-"));

  const start = async (n: number) => {
    const machine = await startServer({ ...env, DATA_DIR: join(folder, `machine-${n}`), PORT: String(ports[n]) });
    machines[n] = machine;
    return machine;
  };

  beforeAll(async () => {
    [database, store, model] = await Promise.all([engine.open(), S3Store.start(), startCountingModel(150)]);
    for (let n = 0; n < 4; n++) ports.push(await freePort());
    const [, , redisPort, frontPort] = ports;
    counting = spawn(redis ?? "", ["--port", String(redisPort), "--save", "", "--appendonly", "no"], {
      stdio: "ignore",
    });
    children.push(counting);
    front = `http://127.0.0.1:${frontPort}`;
    env = {
      DATABASE_URL: database.url,
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      ...store.environment(),
      SESSION_SECRET: "s".repeat(32),
      TRUST_PROXY: "1",
      PUBLIC_URL: front,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "clave",
      METRICS_TOKEN: metricsToken,
      ACCESS_LOG: "on",
    };
    // Both at the same moment, on an empty database.
    await Promise.all([start(0), start(1)]);
    const settings = { SITE: front, UPSTREAMS: `127.0.0.1:${ports[0]} 127.0.0.1:${ports[1]}` };
    const caddyFile = ["run", "--adapter", "caddyfile", "--config", join(root, "deploy/Caddyfile")];
    children.push(
      spawn(caddy ?? "", caddyFile, { env: { ...process.env, ...settings, HOME: folder }, stdio: "ignore" }),
    );
    await vi.waitFor(async () => expect((await fetch(`${front}/ready`)).status).toBe(200), {
      timeout: 30_000,
      interval: 200,
    });
    tokens = await Promise.all(
      Array.from({ length: people }, async () => {
        const email = `${crypto.randomUUID()}@ejemplo.es`;
        const answer = await call("POST", "/auth/signup", "", { name: "Ana", email, password });
        expect(answer.status).toBe(201);
        return answer.text();
      }),
    );
  });
  afterAll(async () => {
    await Promise.all(machines.map((machine) => machine.end("SIGINT")));
    for (const child of children) child.kill("SIGKILL");
    model.stop();
    await store.delete();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (method: string, path: string, token = "", json?: object) =>
    fetch(`${front}/v1${path}`, {
      method,
      headers: {
        ...(json && { "Content-Type": "application/json" }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      ...(json && { body: JSON.stringify(json) }),
    });

  let round = 0;
  /** Waits until Caddy sends requests to both machines: it finds a restarted one healthy up to 3 s later. */
  const bothServe = () =>
    vi.waitFor(
      async () => {
        round++;
        await Promise.all(Array.from({ length: 8 }, () => fetch(`${front}/v1/round-${round}`)));
        await vi.waitFor(() => {
          for (const n of [0, 1]) expect(machines[n]?.printed()).toContain(`/v1/round-${round}"`);
        });
      },
      { timeout: 30_000, interval: 200 },
    );

  /** Gives each of the people some replies under way, on both machines. Answers the ids of the replies. */
  async function begin(): Promise<string[]> {
    await bothServe();
    const begun = Array.from({ length: replies }, async (_, n) => {
      const answer = await call("POST", "/api/intelligence/conversation", tokens[n % people], {
        content: `Cuenta ${n}`,
      });
      const reader = answer.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      await reader?.cancel();
      const [, id] = /"messageId":"([^"]+)"/.exec(new TextDecoder().decode(value)) ?? [];
      if (!id) throw new Error(`no reply has begun: ${answer.status}`);
      return id;
    });
    const ids = await Promise.all(begun);
    await vi.waitFor(
      async () => expect((await rows(ids)).every(({ content }) => content.length > 3)).toBe(true),
      30_000,
    );
    return ids;
  }

  const rows = (ids: string[]) =>
    database.db
      .selectFrom("messages")
      .where("id", "in", ids)
      .select(["content", "status", "error", "writer", "takeovers", "heartbeatAt"])
      .execute();

  const allCounted = (ids: string[]) =>
    vi.waitFor(
      async () => {
        const now = await rows(ids);
        expect(now.filter(({ status }) => status !== "complete")).toEqual([]);
        return now;
      },
      { timeout: 180_000, interval: 500 },
    );

  /** Asks for a page all the time, until `stop`; answers how often each status came. */
  function keepAsking() {
    let isOver = false;
    const statuses: Record<string, number> = {};
    const asking = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const status = await fetch(`${front}/auth/signin`).then(
          async (answer) => {
            await answer.text();
            return String(answer.status);
          },
          (error: Error) => String(error.cause ?? error),
        );
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    });
    return async () => {
      isOver = true;
      await Promise.all(asking);
      return statuses;
    };
  }

  it("makes one of everything", async () => {
    await vi.waitFor(async () => {
      const models = await database.db.selectFrom("models").select("externalId").execute();
      expect(models.map(({ externalId }) => externalId).sort()).toEqual(["cuenta", "local"]);
    }, 10_000);
    const pages = await database.db.selectFrom("pages").select("slug").execute();
    expect(new Set(pages.map(({ slug }) => slug)).size).toBe(pages.length);
  });

  it(`finish all ${replies} replies and requests while replaced in sequence`, async () => {
    const ids = await begin();
    const stop = keepAsking();
    for (const n of [0, 1]) {
      expect(await machines[n]?.end("SIGTERM")).toBe(0);
      await start(n);
    }
    const statuses = await stop();
    expect(Object.keys(statuses)).toEqual(["200"]);
    const now = await allCounted(ids);
    expect(now.filter(({ content }) => content !== counted)).toEqual([]);
  });

  it(`finish all ${replies} replies when one machine is killed`, async () => {
    const ids = await begin();
    const before = await rows(ids);
    machines[0]?.process.kill("SIGKILL");
    const writers = new Map(Object.entries(Object.groupBy(before, ({ writer }) => writer ?? "")));
    expect(writers.size).toBe(2);
    await vi.waitFor(async () => expect(new Set((await rows(ids)).map(({ writer }) => writer)).size).toBe(1), {
      timeout: 180_000,
      interval: 250,
    });
    const now = await allCounted(ids);
    expect(now.filter(({ content }) => content !== counted)).toEqual([]);
    await start(0);
  });

  it("a stalled machine adds nothing to replies after coming back", async () => {
    const ids = await begin();
    machines[0]?.process.kill("SIGSTOP");
    await vi.waitFor(async () => expect(new Set((await rows(ids)).map(({ writer }) => writer)).size).toBe(1), {
      timeout: 180_000,
      interval: 250,
    });
    machines[0]?.process.kill("SIGCONT");
    const now = await allCounted(ids);
    expect(now.filter(({ content }) => content !== counted)).toEqual([]);
  });

  it("share files between machines, and recover after the store fails", async () => {
    const [token = ""] = tokens;
    const body = new FormData();
    body.append("files", new File(["Hola, Soria"], "hola.txt"));
    const headers = { Authorization: `Bearer ${token}` };
    const sent = await fetch(`http://127.0.0.1:${ports[0]}/v1/api/file/uploads`, { method: "POST", headers, body });
    const { items } = (await sent.json()) as { items: { id: string }[] };
    const read = () => fetch(`http://127.0.0.1:${ports[1]}/v1/api/file/${items[0]?.id}/content`, { headers });
    expect(await (await read()).text()).toBe("Hola, Soria");
    await store.stop();
    onTestFinished(() => store.start());
    expect((await read()).status).toBe(503);
    await store.start();
    expect(await (await read()).text()).toBe("Hola, Soria");
  });

  it("accept new accounts while Redis is gone or empty again", async () => {
    const signUp = () =>
      call("POST", "/auth/signup", "", { name: "Ana", email: `${crypto.randomUUID()}@ejemplo.es`, password });
    counting.kill("SIGKILL");
    expect((await signUp()).status).toBe(201);
    const port = String(ports[2]);
    counting = spawn(redis ?? "", ["--port", port, "--save", "", "--appendonly", "no"], { stdio: "ignore" });
    children.push(counting);
    expect((await signUp()).status).toBe(201);
  });

  it("what each says to Prometheus is what Prometheus takes", async () => {
    const promtool = spawnSync("promtool", ["--version"]).status === 0;
    const text = await (await fetch(`http://127.0.0.1:${ports[0]}/metrics`, { headers: metricsHeaders })).text();
    expect(text).toContain("tertulia_pool_connections");
    // The library's own names are not all as Prometheus would have them.
    const said = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
    if (promtool) expect(said.stderr.split("\n").filter((line) => !line.startsWith("nodejs_"))).toEqual([""]);
  });
});
