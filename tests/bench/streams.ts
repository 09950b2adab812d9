// Many replies at the same time, as programs, documents without script and pages with script read them, beside a relay that only
// passes them on.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { Browser, hiddenFields } from "../support/browser.ts";
import { password } from "../support/password.ts";
import { startServer } from "../support/server.ts";
import { add, percentile } from "./figures.ts";
import { startModel } from "./model.ts";
import { memoryOf } from "./process.ts";
import { load, type Person, type Reader, readers } from "./readers.ts";

// A person may have 16 replies at once.
const repliesOfEach = 16;

// Of the server after its replies, in ms.
const rest = 20_000;

/** `beyond`: by percentile, ms that may be added to the first token beyond what the relay adds. */
type Reach = { within: number; cpu?: number; first?: number; ratio?: number; beyond?: Record<number, number> };

/** `count` replies asked for within some seconds; prints the server's processor time, delays and memory. */
export async function measureStreams(kind: keyof typeof readers, count: number, reach: Reach): Promise<void> {
  const { within } = reach;
  const what = `${count} ${kind} within ${within} s`;
  const model = await startModel();
  const relay = spawn(process.execPath, [join(import.meta.dirname, "relay.ts"), model.url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [relayUrl] = (await once(relay.stdout, "data")) as [Buffer];
  const floor = await load(relay.pid, { count, within }, relayed(String(relayUrl).trim()));
  relay.kill();
  add(`${what}, through a relay: CPU`, floor.cpu, "s");
  add(`${what}, through a relay: added to the first token, p95`, percentile(floor.firsts, 95), "ms");

  const server = await startServer({ LOG_LEVEL: "silent", OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "x" });
  const people = kind === "rooms" ? await enterRoom(server.url, count) : await signUpFor(server.url, count);
  const before = memoryOf(server.process.pid);
  const read = readers[kind];
  const own = await load(server.process.pid, { count, within }, (n) => {
    const person = people[n % people.length];
    if (!person) throw new Error("nobody has signed up");
    return read(person);
  });
  add(`${what}: not completed`, count - own.ended, "", 0);
  add(`${what}: CPU`, own.cpu, "s", reach.cpu);
  if (kind === "api" && within === 2) add(`${what}: CPU, times the relay's`, own.cpu / floor.cpu, "", 2.5);
  if (kind === "door") add(`${what}: CPU, times the relay's`, own.cpu / floor.cpu, "", reach.ratio);
  for (const [percent, most] of Object.entries(reach.beyond ?? {})) {
    const more = percentile(own.firsts, Number(percent)) - percentile(floor.firsts, Number(percent));
    add(`${what}: added to the first token beyond the relay's, p${percent}`, more, "ms", most);
  }
  add(`${what}: added to the first token, p95`, percentile(own.firsts, 95), "ms", reach.first);
  add(`${what}: delay of a later token, p95`, percentile(own.delays, 95), "ms", kind === "api" ? 100 : undefined);
  add(`${what}: memory of each`, (own.most - before) / count, "MB", kind === "api" ? 0.1 : undefined);
  const log = join(server.dataDir, "tertulia.db-wal");
  add(`${what}: log of SQLite`, statSync(log).size / 1e6, "MB");
  await new Promise((resolve) => setTimeout(resolve, rest));
  add(`${what}: memory 20 s afterwards, times that before`, memoryOf(server.process.pid) / before, "", 1.2);
  add(`${what}: log of SQLite 20 s afterwards`, statSync(log).size / 1e6, "MB", 64);
  await server.stop();
  model.stop();
}

const relayed =
  (url: string): (() => Reader) =>
  () =>
  async (ask) => {
    const body = JSON.stringify({ model: "banco", stream: true, messages: [{ role: "user", content: "Cuéntame" }] });
    await ask({ url, method: "POST", headers: { "Content-Type": "application/json" }, body });
  };

async function signUpFor(url: string, count: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let n = 0; n < Math.ceil(count / repliesOfEach); n++) people.push(await signUp(url));
  return people;
}

/** Opens a room by its form, and lets so many come in by its one address. */
async function enterRoom(url: string, count: number): Promise<Person[]> {
  const host = new Browser(url);
  await host.signUp();
  await host.change("/conversation/assistant/crear", { name: "Profe" });
  const list = "/conversation/sala";
  const [, assistantId = ""] =
    /name="assistantId"[\s\S]*?<option value="([\w-]{36})"/.exec(await host.html(list)) ?? [];
  const limits = { hours: "2", people: String(count), messages: "5000", budget: "" };
  const opened = await host.submit(list, list, { name: "Clase", assistantId, showsTexts: "", ...limits });
  const [, address = ""] =
    /href="([^"]*\/sala\/[a-z\d]+)"/.exec(await host.html(opened.headers.get("Location") ?? "")) ?? [];
  const room = new URL(address).pathname;
  const people: Person[] = [];
  for (let n = 0; n < count; n++) {
    const guest = new Browser(url);
    await guest.submit(room, room, { does: "enter", name: "" });
    const form = { ...hiddenFields(await guest.html(room), room), does: "ask" };
    people.push({ url, token: "", cookie: cookieOf(guest), form, room });
  }
  return people;
}

const cookieOf = ({ cookies }: Browser) => [...cookies].map((pair) => pair.join("=")).join("; ");

async function signUp(url: string): Promise<Person> {
  const json = { name: "Ana", email: `${crypto.randomUUID()}@ejemplo.es`, password };
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${url}/v1/auth/signup`, { method: "POST", headers, body: JSON.stringify(json) });
  const browser = new Browser(url);
  await browser.signIn(json.email);
  // A key would make one message of all.
  const { key: _, ...form } = hiddenFields(await browser.html("/conversation/chat"), "/conversation/chat");
  return { url, token: await answer.text(), cookie: cookieOf(browser), form };
}
