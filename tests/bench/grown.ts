// Cost of a reply and a page for each part of a grown set-up: `npm run bench -- grown`.

import { readdirSync, readFileSync } from "node:fs";
import { createClient } from "@redis/client";
import pg from "pg";
import { Browser, hiddenFields } from "../support/browser.ts";
import { findPostgres, queryEngines } from "../support/engines.ts";
import { password } from "../support/password.ts";
import { startServer } from "../support/server.ts";
import { add, finish, percentile } from "./figures.ts";
import { startModel } from "./model.ts";
import { cpuOf } from "./process.ts";
import { load, type Person, readers } from "./readers.ts";

// Of each process.
const repliesEach = 100;
const within = 10;
const shown = 300;
const redisUrl = process.env.TEST_REDIS_URL ?? "redis://127.0.0.1:6379";

const settings = { LOG_LEVEL: "silent", OPENAI_API_KEY: "x", SESSION_SECRET: "s".repeat(32) };

const postgres = await findPostgres();
if (!postgres) throw new Error("no PostgreSQL answers");
const redis = createClient({ url: redisUrl });
await redis.connect();

const one = await measure("one process, SQLite", {});
const two = await withDatabase((DATABASE_URL) =>
  measure("two processes, PostgreSQL and Redis", { DATABASE_URL, REDIS_URL: redisUrl, PROCESSES: "2" }),
);
await withDatabase((DATABASE_URL) =>
  measure("the same, replies of 240 tokens", { DATABASE_URL, REDIS_URL: redisUrl, PROCESSES: "2" }, 240),
);
add("CPU of a reply, two processes with PostgreSQL / one with SQLite", two.reply.app / one.reply.app, "×", 1.25);
await withDatabase(measureAcross);
await redis.quit();
finish();

/** CPU in ms; `wal`, what is written to the log, and `disk` in bytes. */
type Costs = {
  app: number;
  postgres: number;
  redis: number;
  commits: number;
  rows: number;
  wal: number;
  commands: number;
  disk: number;
};

/** The costs of one reply, read through the API, and of one page of a chat. */
async function measure(name: string, env: Record<string, string>, length = 60): Promise<{ reply: Costs; page: Costs }> {
  const model = await startModel(length);
  const server = await startServer({ ...settings, OPENAI_BASE_URL: model.url, ...env });
  // Each process is as warm as the only one, and has as many replies at once: what is told apart is what sharing costs.
  const processes = Number(env.PROCESSES ?? 1);
  const count = repliesEach * processes;
  const people: Person[] = [];
  for (let n = 0; n < Math.ceil(count / 16); n++) people.push(await signUp(server.url));
  const read = (n: number) => readers.api(people[n % people.length] as Person);
  // Warm: code is compiled, connections are open.
  await load(server.process.pid, { count, within: 5, length }, read);

  const room = await sizeOf(env.DATABASE_URL);
  const before = await counted(server.process.pid, env.DATABASE_URL);
  const replies = await load(server.process.pid, { count, within, length }, read);
  const between = await counted(server.process.pid, env.DATABASE_URL);
  add(`${name}: not completed`, count - replies.ended, "", 0);
  add(`${name}: delay of a later token, p95`, percentile(replies.delays, 95), "ms", 100);
  const [person] = people;
  const browser =
    person && (await (await fetch(`${server.url}/conversation/chat`, { headers: { Cookie: person.cookie } })).text());
  const chat = /href="(\/conversation\/chat\/[\w-]{36})"/.exec(browser ?? "")?.[1];
  for (let n = 0; n < shown; n++)
    await (await fetch(`${server.url}${chat}`, { headers: { Cookie: person?.cookie ?? "" } })).text();
  const after = await counted(server.process.pid, env.DATABASE_URL);
  const reply = { ...each(before, between, count), disk: ((await sizeOf(env.DATABASE_URL)) - room) / count };
  const page = each(between, after, shown);
  for (const [what, costs] of [
    ["a reply", reply],
    ["a page", page],
  ] as const) {
    add(`${name}: ${what}, CPU of Tertulia`, costs.app, "ms");
    if (!env.DATABASE_URL) continue;
    add(`${name}: ${what}, CPU of PostgreSQL`, costs.postgres, "ms");
    add(`${name}: ${what}, CPU of Redis`, costs.redis, "ms");
    add(`${name}: ${what}, transactions`, costs.commits, "");
    add(`${name}: ${what}, rows written`, costs.rows, "");
    add(`${name}: ${what}, written to the log`, costs.wal / 1000, "kB");
    add(`${name}: ${what}, commands of Redis`, costs.commands, "");
  }
  await server.stop();
  model.stop();
  return { reply, page };
}

/** Delay of a page without script whose reply another process writes. */
async function measureAcross(DATABASE_URL: string): Promise<void> {
  const model = await startModel();
  const env = { ...settings, OPENAI_BASE_URL: model.url, DATABASE_URL, REDIS_URL: redisUrl };
  const [writer, other] = [await startServer(env), await startServer(env)];
  const person = await signUp(writer.url);
  const through = async (shows: string) => {
    const { delays } = await load(other.process.pid, { count: 15, within: 2 }, () => async (ask) => {
      const headers = {
        Cookie: person.cookie,
        Origin: writer.url,
        "Content-Type": "application/x-www-form-urlencoded",
      };
      const body = new URLSearchParams({ ...person.form, content: "Cuéntame" }).toString();
      const { location = "" } = await ask({ url: `${writer.url}/conversation/chat`, method: "POST", headers, body });
      await ask({ url: new URL(location, shows).href, headers: { Cookie: person.cookie } });
    });
    return percentile(delays, 95);
  };
  await through(other.url);
  const own = await through(writer.url);
  const across = await through(other.url);
  add("a token on a page of the process that writes it, p95", own, "ms");
  add("what is added where another process shows the page, p95", across - own, "ms", 100);
  await writer.stop();
  await other.stop();
  model.stop();
}

async function counted(pid = 0, databaseUrl = ""): Promise<Costs> {
  const app = treeOf(pid).reduce((sum, one) => sum + cpuOf(one), 0) * 1000;
  if (!databaseUrl) return { app, postgres: 0, redis: 0, commits: 0, rows: 0, wal: 0, commands: 0, disk: 0 };
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `select xact_commit as commits, tup_inserted + tup_updated + tup_deleted as rows, pg_current_wal_lsn() - '0/0' as wal from pg_stat_database where datname = current_database()`,
  );
  await client.end();
  const info = await redis.info();
  const said = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
  const numbers = Object.fromEntries(Object.entries(rows[0] as object).map(([name, value]) => [name, Number(value)]));
  const postgresCpu = namedProcesses("postgres").reduce((sum, one) => sum + cpuOf(one), 0) * 1000;
  return {
    ...(numbers as Pick<Costs, "commits" | "rows" | "wal">),
    app,
    disk: 0,
    postgres: postgresCpu,
    redis: (said("used_cpu_sys") + said("used_cpu_user")) * 1000,
    commands: said("total_commands_processed"),
  };
}

/** Bytes of a database without what its rows have left behind. */
async function sizeOf(databaseUrl: string | undefined): Promise<number> {
  if (!databaseUrl) return 0;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("vacuum full");
  const { rows } = await client.query("select pg_database_size(current_database()) as size");
  await client.end();
  return Number(rows[0].size);
}

function each(before: Costs, after: Costs, times: number): Costs {
  const share = ([name, value]: [string, number]) => [name, Math.max(0, (value - before[name as keyof Costs]) / times)];
  return Object.fromEntries(Object.entries(after).map(share)) as Costs;
}

/** A process, and those that it has started. */
function treeOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean)
    .map(Number);
  return [pid, ...children.flatMap(treeOf)];
}

function namedProcesses(name: string): number[] {
  const isNamed = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === name;
    } catch {
      // It has ended meanwhile.
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && isNamed(entry))
    .map(Number);
}

async function withDatabase<Result>(use: (url: string) => Promise<Result>): Promise<Result> {
  const engine = (await queryEngines()).find((one) => one.name === "postgres");
  const database = await engine?.open();
  if (!database) throw new Error("no PostgreSQL answers");
  try {
    return await use(database.url);
  } finally {
    await database.drop();
  }
}

async function signUp(url: string): Promise<Person> {
  const json = { name: "Ana", email: `${crypto.randomUUID()}@ejemplo.es`, password };
  const headers = { "Content-Type": "application/json" };
  const token = await (
    await fetch(`${url}/v1/auth/signup`, { method: "POST", headers, body: JSON.stringify(json) })
  ).text();
  const browser = new Browser(url);
  await browser.signIn(json.email);
  // A key would make one message of all.
  const { key: _, ...form } = hiddenFields(await browser.html("/conversation/chat"), "/conversation/chat");
  return { url, token, cookie: [...browser.cookies].map((pair) => pair.join("=")).join("; "), form };
}
