// Lists and search over 1,000,000 messages, in ms of the server's own time, on each engine that answers: `npm run bench -- million [messages]`.
import { sql } from "kysely";
import { searchPassages } from "../../app/db/search/find.server.ts";
import { quantise } from "../../app/db/search/quantise.server.ts";
import { searchWords } from "../../app/db/search/words.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { queryEngines } from "../support/engines.ts";

const messages = Number(process.argv[2] ?? 1_000_000);
const [people, chats, rounds] = [200, messages / 50, 15];

const version = "bench 768";
const meanings = 500;
const [model, second] = ["0190dddd-0000-7000-8000-000000000001", "0190dddd-0000-7000-8000-000000000002"];

let short = 0;
for (const engine of await queryEngines()) {
  const api = await openApi(engine);
  const admin = await api.signUp("Admin");
  const reader = await api.signUp("Ana");
  const begun = performance.now();
  await fill(api, reader);
  console.log(
    `\n${engine.name}: ${messages} mensajes, ${((performance.now() - begun) / 1000).toFixed(0)} s en llenarla`,
  );
  await measure(api, admin, reader);
  await api.close();
}
process.exit(short === 0 ? 0 : 1);

/** People, chats and messages by the engine's own series; texts and their words are of a few thousand kinds. */
async function fill({ db, services }: Api, reader: Account): Promise<void> {
  const series = (count: number) =>
    services.engine === "sqlite"
      ? sql`(with recursive s(n) as (select 0 union all select n + 1 from s where n + 1 < ${count}) select n from s) s`
      : sql`(select n::int from generate_series(0, ${count - 1}) n) s`;
  const hex = (width: number) =>
    services.engine === "sqlite" ? sql`printf(${`%0${width}x`}, n)` : sql`lpad(to_hex(n), ${width}, '0')`;
  const id = (kind: string) => sql`(${`${kind}-0000-7000-8000-`} || ${hex(12)})`;
  const of = (kind: string, n: ReturnType<typeof sql>) =>
    services.engine === "sqlite"
      ? sql`(${`${kind}-0000-7000-8000-`} || printf('%012x', ${n}))`
      : sql`(${`${kind}-0000-7000-8000-`} || lpad(to_hex((${n})::int), 12, '0'))`;
  const [user, chat, message] = ["0190aaaa", "0190bbbb", "0190cccc"];
  const owner = sql`case when n % 100 = 0 then ${reader.id} else ${of(user, sql`n % ${people}`)} end`;
  await sql`insert into users (id, "createdAt", "updatedAt", name, email, "emailKey", "passwordHash", role, status)
    select ${id(user)}, n, n, 'Persona ' || n, n || '@e.es', n || '@e.es', 'x', 'user', 'active' from ${series(people)} where true`.execute(
    db,
  );
  await sql`insert into chats (id, "createdAt", "updatedAt", "userId", title, titled, pinned, archived, "lastMessageAt")
    select ${id(chat)}, n, n, ${owner}, 'Charla ' || n, 1, 0, case when n % 9 = 0 then 1 else 0 end, n from ${series(chats)} where true`.execute(
    db,
  );
  await sql`insert into models (id, "createdAt", "updatedAt", name, provider, "externalId", "contextWindow", "maxOutputTokens", "acceptsImages", "systemPrompt", enabled, "isDefault", position)
    select column1, 1, 1, 'Modelo', 'local', column1, 1, 1, 0, '', 0, 0, 1 from (values (${model}), (${second})) v`.execute(
    db,
  );
  await sql`create table kinds (k integer primary key, body text, words text)`.execute(db);
  const kinds = Array.from({ length: 3000 }, (_, k) => {
    const body = `${words(k)} asunto${k} `.repeat(4);
    return { k, body, words: searchWords(body).join(" ") };
  });
  for (let at = 0; at < kinds.length; at += 300) {
    const rows = sql.join(kinds.slice(at, at + 300).map((kind) => sql`(${kind.k}, ${kind.body}, ${kind.words})`));
    await sql`insert into kinds values ${rows}`.execute(db);
  }
  for (let from = 0; from < messages; from += 50_000) {
    const part = series(Math.min(50_000, messages - from));
    const many =
      services.engine === "sqlite"
        ? sql`(select n + ${from} as n from ${part})`
        : sql`(select n + ${sql.lit(from)} as n from ${part})`;
    await sql`insert into messages (id, "createdAt", "updatedAt", "chatId", "userId", role, content, status, "modelId")
      select ${id(message)}, n, n, ${of(chat, sql`n % ${chats}`)}, case when (n % ${chats}) % 100 = 0 then ${reader.id} else ${of(user, sql`n % ${people}`)} end,
        case when n % 2 = 0 then 'user' else 'assistant' end, k.body,
        case when n % 5000 = 1 then 'failed' when n % 700 = 1 then 'stopped' else 'complete' end, case when n % 2 = 0 then null when n % 10001 = 1 then ${second} else ${model} end
      from ${many} s join kinds k on k.k = n % 3000`.execute(db);
    await sql`insert into passages ("ownerId", "messageId", "chatId", text, words)
      select m."userId", m.id, m."chatId", m.content, 'u' || replace(m."userId", '-', '') || ' ' || k.words
      from ${many} s join messages m on m.id = ${id(message)} join kinds k on k.k = n % 3000 order by n`.execute(db);
  }
  await sql`drop table kinds`.execute(db);
  await fillMeanings({ db, services });
  if (services.engine === "postgres") await sql`vacuum analyze`.execute(db);
}

/** Meaning of the kth text: as many numbers as most models say, between -1 and 1. */
function meaningOf(k: number) {
  return quantise(Array.from({ length: 768 }, (_, at) => Math.sin((k + 1) * 12.9898 + (at + 1) * 78.233)));
}

/** Each passage means one of a few hundred things. */
async function fillMeanings({ db, services }: Pick<Api, "db" | "services">): Promise<void> {
  const isSqlite = services.engine === "sqlite";
  await sql`create table kinds (k integer primary key, bits ${isSqlite ? sql`blob` : sql`varbit`}, vector ${isSqlite ? sql`blob` : sql`bytea`})`.execute(
    db,
  );
  for (let k = 0; k < meanings; k++) {
    const { bits, vector } = meaningOf(k);
    const text = Array.from(bits, (byte) => byte.toString(2).padStart(8, "0")).join("");
    const stored = isSqlite ? sql`${bits}` : sql`cast(${text} as text)::varbit`;
    await sql`insert into kinds values (${k}, ${stored}, ${Buffer.from(vector.buffer)})`.execute(db);
  }
  await sql`insert into vectors (seq, "ownerId", "fileId", "ofMessage", version, bits, vector)
    select p.seq, p."ownerId", null, 1, ${version}, k.bits, k.vector from passages p join kinds k on k.k = p.seq % ${sql.lit(meanings)}
    order by p.seq`.execute(db);
  await sql`drop table kinds`.execute(db);
}

function words(k: number): string {
  const stock =
    "casa libro tren ciudad río montaña comida viaje trabajo música historia ciencia jardín puerta ventana camino noche mañana amigo fiesta".split(
      " ",
    );
  return Array.from({ length: 12 }, (_, at) => stock[(k * 7 + at * at * 3 + at) % stock.length]).join(" ");
}

async function measure(api: Api, admin: Account, reader: Account): Promise<void> {
  const list = (query: Record<string, string | object>) =>
    `/api/message?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))}`;
  const first = (await api.call("GET", list({ limit: "50" }), { token: admin.token })).body as {
    items: { chatId: string; userId: string }[];
    nextCursor: string;
  };
  const { chatId = "", userId = "" } = first.items[0] ?? {};
  const asked: [what: string, path: string, reach: number, as?: Account][] = [
    ["list of messages", list({}), 50],
    ["its second page", list({ cursor: first.nextCursor, limit: "50" }), 50],
    ["oldest first", list({ sort: { createdAt: "asc" } }), 50],
    ["role", list({ filter: { role: "assistant" } }), 200],
    ["status that is rare", list({ filter: { status: "failed" } }), 200],
    ["status and role", list({ filter: { status: "failed", role: "user" } }), 200],
    ["status that nobody has", list({ filter: { status: "interrupted" } }), 200],
    ["common status", list({ filter: { status: "complete" } }), 200],
    ["of a chat", list({ filter: { chatId } }), 200],
    ["of a person", list({ filter: { userId } }), 200],
    ["of a person, rare status", list({ filter: { userId, status: "failed" } }), 200],
    ["of a model", list({ filter: { modelId: model } }), 200],
    ["of a model that is rarely used", list({ filter: { modelId: second } }), 200],
    ["search, a common word", list({ q: "ciudad" }), 200],
    ["search, a rare word", list({ q: "asunto17" }), 200],
    ["search, nothing", list({ q: "zanahoria" }), 200],
    ["search and status", list({ q: "ciudad", filter: { status: "failed" } }), 200],
    ["list of chats", "/api/chat", 50],
    ["chats by title", "/api/chat?sort=%7B%22title%22%3A%22asc%22%7D", 200],
    ["chats, search", "/api/chat?q=charla%2019", 200],
    ["figures of 90 days", "/api/usage/figures?days=90", 200],
    ["own messages", list({}), 50, reader],
    ["own search", "/api/search?q=jard%C3%ADn%20ventana%20hist", 20, reader],
    ["own search, not all words", "/api/search?q=ciudad%20puerta%20asunto17%20casas%20zanahoria", 50, reader],
  ];
  for (const [what, path, reach, { token } = admin] of asked) {
    await time(what, reach, async () => {
      const answer = await api.call("GET", path, { token });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    });
  }
  const { db, engine } = api.services;
  for (const [what, meaning] of [
    ["passages, by words", undefined],
    ["passages, by words and meaning", { ...meaningOf(7), version }],
  ] as const) {
    const search = { question: "¿qué asunto600 hay en la ciudad?", meaning, except: [], limit: 6 };
    await time(what, 50, async () => {
      const found = await searchPassages(db, engine, { ...search, owners: [reader.id] });
      if (found.length === 0) throw new Error(`${what}: nothing`);
    });
  }
}

async function time(what: string, reach: number, work: () => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds && (times[0] ?? 0) < 3000; round++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  const p50 = times[Math.floor(times.length / 2)] ?? 0;
  if (p50 > reach) short++;
  console.log(
    `${p50 > reach ? "✗" : "✓"} ${what.padEnd(30)} ${p50.toFixed(1).padStart(8)} ms (${reach})  worst ${times.at(-1)?.toFixed(1)}`,
  );
}
