// Partitions ten million messages with PostgreSQL, while messages are written, and compares before and after: `npm run bench -- partition [messages]`.
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import { partitionMessages } from "../../app/db/partitions/messages.server.ts";
import { messageRow } from "../../app/db/rows.server.ts";
import { sharedEngines } from "../support/engines.ts";
import { add, finish, percentile } from "./figures.ts";

const messages = Number(process.argv[2] ?? 10_000_000);
const [people, chats, rounds] = [messages / 5_000, messages / 50, 300];
const engine = (await sharedEngines())[0];
if (!engine) throw new Error("no PostgreSQL answers");
const { db, drop } = await engine.open();
const id = (kind: string, n: string) => `'${kind}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0')`;
const day = 24 * 60 * 60_000;
const begun = performance.now();

await sql
  .raw(`insert into users (id, "createdAt", "updatedAt", name, email, "emailKey", "passwordHash", role, status)
  select ${id("0190aaaa", "n")}, n, n, 'Persona', n || '@e.es', n || '@e.es', 'x', 'user', 'active' from generate_series(0, ${people - 1}) n`)
  .execute(db);
await sql
  .raw(`insert into chats (id, "createdAt", "updatedAt", "userId", title, titled, pinned, archived, "lastMessageAt")
  select ${id("0190bbbb", "n")}, n, n, ${id("0190aaaa", `n % ${people}`)}, 'Charla', 1, 0, 0, n from generate_series(0, ${chats - 1}) n`)
  .execute(db);
await sql.raw("alter table messages disable trigger user").execute(db);
const step = 500_000;
for (let from = 0; from < messages; from += step) {
  // Two years, each chat within some minutes, as people write.
  const at = `(${Date.now() - 730 * day} + n::bigint * ${Math.floor((730 * day) / messages)})`;
  const uuid = `substr(lpad(to_hex(${at}), 12, '0'), 1, 8) || '-' || substr(lpad(to_hex(${at}), 12, '0'), 9, 4) || '-7' || lpad(to_hex(n % 4096), 3, '0') || '-8000-' || lpad(to_hex(n), 12, '0')`;
  await sql
    .raw(`insert into messages (id, "createdAt", "updatedAt", "chatId", "userId", role, content, status)
    select ${uuid}, ${at}, ${at}, ${id("0190bbbb", "n / 50")}, ${id("0190aaaa", `(n / 50) % ${people}`)},
      case when n % 2 = 0 then 'user' else 'assistant' end, repeat('palabra ', 15 + n % 40), 'complete'
    from generate_series(${from}, ${Math.min(from + step, messages) - 1}) n`)
    .execute(db);
}
await sql.raw("alter table messages enable trigger user").execute(db);
await sql.raw("vacuum analyze").execute(db);
add(`${messages} messages, filled in`, (performance.now() - begun) / 1000, "s");
const size = async (what: string) =>
  Number((await sql.raw<{ bytes: string }>(`select ${what} as bytes`).execute(db)).rows[0]?.bytes) / 1e9;
add("their table", await size("pg_table_size('messages')"), "GB");
add("their indexes", await size("pg_indexes_size('messages')"), "GB");

await measure("before");
let stopped = false;
let worst = 0;
let written = 0;
const writing = (async () => {
  while (!stopped) {
    const sent = performance.now();
    await write();
    worst = Math.max(worst, performance.now() - sent);
    written++;
  }
})();
const split = performance.now();
await partitionMessages(db, Date.now());
add("partitioned, all in all", (performance.now() - split) / 1000, "s");
stopped = true;
await writing;
add(`  meanwhile ${written} messages were written; the longest wait`, worst, "ms", 1000);
await measure("after");
await partitionMessages(db, Date.now() + 31 * day);
await sql.raw("analyze messages").execute(db);
const hot = (
  await sql
    .raw<{ name: string }>(`select tableoid::regclass::text as name from messages order by id desc limit 1`)
    .execute(db)
).rows[0]?.name;
await vacuum("the whole table before", "messages_until");
await vacuum("a month's table", "messages_rest");
console.log(`  new messages lie in ${hot}`);
await drop();
finish();

async function write(): Promise<void> {
  const n = Math.floor(Math.random() * chats)
    .toString(16)
    .padStart(12, "0");
  const user = (Number.parseInt(n, 16) % people).toString(16).padStart(12, "0");
  const row = { chatId: `0190bbbb-0000-7000-8000-${n}`, userId: `0190aaaa-0000-7000-8000-${user}`, parentId: null };
  await db
    .insertInto("messages")
    .values(messageRow(Date.now(), { ...row, content: "Hola", key: newId() }))
    .execute();
}

/** Cost of a page of a chat and of a message, in ms at the median and the 95th percentile. */
async function measure(when: string): Promise<void> {
  const [pages, lists, writes]: number[][] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const n = Math.floor(Math.random() * chats)
      .toString(16)
      .padStart(12, "0");
    pages?.push(
      await time(() =>
        db.selectFrom("messages").where("chatId", "=", `0190bbbb-0000-7000-8000-${n}`).selectAll().execute(),
      ),
    );
    lists?.push(
      await time(() =>
        db.selectFrom("messages").orderBy("createdAt", "desc").orderBy("id", "desc").limit(25).selectAll().execute(),
      ),
    );
    writes?.push(await time(write));
  }
  for (const [what, times = []] of [
    ["a chat's messages", pages],
    ["the newest of all", lists],
    ["a message written", writes],
  ] as const) {
    add(`${when}: ${what}, p50`, percentile(times, 50), "ms");
    add(`${when}: ${what}, p95`, percentile(times, 95), "ms", 20);
  }
}

async function vacuum(what: string, table: string): Promise<void> {
  add(`${what}, vacuumed`, (await time(() => sql.raw(`vacuum (analyze, freeze) ${table}`).execute(db))) / 1000, "s");
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
