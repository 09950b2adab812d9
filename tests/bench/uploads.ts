// Memory of a server after many uploads: `npm run bench -- uploads`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { papers } from "../papers/reading.ts";
import { password } from "../support/password.ts";
import { startServer } from "../support/server.ts";
import { add, finish } from "./figures.ts";
import { memoryOf } from "./process.ts";

const uploads = 1_700;
const perRequest = 8;
// In ms: between two looks at what is still being read, and between the last upload and the look at the memory.
const lookEvery = 1_000;
const rest = 20_000;

// Recognising the text of pictures takes seconds each, in another process.
const documents = papers.filter((name) => !/\.(?:png|jpe?g|webp|avif|apng|bmp|tiff|heic|zip)$|^escaneo/.test(name));
const bytes = new Map(documents.map((name) => [name, readFileSync(join(import.meta.dirname, "../papers/set", name))]));

const server = await startServer({ LOG_LEVEL: "silent" });
const memory = () => memoryOf(server.process.pid);

await send(await signUp(), documents.slice(0, perRequest));
await allRead();
const before = memory();
add("memory after the first uploads", before, "MB");
// The same file of the same person is kept once, so each set is another person's.
const begun = performance.now();
for (let sent = 0; sent < uploads; sent += documents.length) {
  const token = await signUp();
  for (let at = 0; at < documents.length; at += perRequest) await send(token, documents.slice(at, at + perRequest));
}
await allRead();
add(`${uploads} uploads read in`, (performance.now() - begun) / 1000, "s");
add("memory right after them, times that before", memory() / before, "");
await wait(rest);
add("memory 20 s later, times that before", memory() / before, "", 1.3);
await server.stop();
finish();

async function signUp(): Promise<string> {
  const body = JSON.stringify({ name: "Ana", email: `${crypto.randomUUID()}@ejemplo.es`, password });
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${server.url}/v1/auth/signup`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`signing up answered ${answer.status}`);
  return answer.text();
}

async function send(token: string, names: string[]): Promise<void> {
  const body = new FormData();
  for (const name of names) body.append("files", new File([new Uint8Array(bytes.get(name) ?? [])], name));
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}/v1/api/file/uploads`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`uploading answered ${answer.status}: ${await answer.text()}`);
}

/** Resolves when no upload is waiting to be read. */
async function allRead(): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(join(server.dataDir, "tertulia.db"), { readOnly: true });
  const unread = database.prepare(
    "select count(*) as n from jobs where kind = 'file' and state in ('waiting', 'running')",
  );
  while (Number(unread.get()?.n) > 0) await wait(lookEvery);
  database.close();
}
