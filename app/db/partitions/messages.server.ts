import { sql } from "kysely";
import type { Db, Trx } from "../engine.server.ts";

// Months whose partitions exist before anything is written to them.
const ahead = 3;

/** Messages up to the end of the month in which the table was partitioned. */
const first = "messages_until";
const rest = "messages_rest";

/** Whether messages lie in one table for each month. PostgreSQL only. */
export async function arePartitioned(db: Db): Promise<boolean> {
  const { rows } = await sql<{ relkind: string }>`
    select relkind from pg_class where oid = 'messages'::regclass`.execute(db);
  return rows[0]?.relkind === "p";
}

/**
 * Splits the table of messages by month. Existing rows become the first partition in place, and each later month has its own. Ids are
 * UUIDv7, so they are in the order of time, and everything else stays: the primary key, the references, every query. Each wait for a lock
 * on `messages` is given up after `lockWait`; references are checked afterwards, while the service runs. A failed run throws PostgreSQL's
 * error, has changed nothing and can be repeated; or it throws BoundLeft. `now`: epoch ms.
 */
export async function partitionMessages(db: Db, now: number): Promise<void> {
  if (!(await arePartitioned(db))) {
    const end = startOf(monthAfter(now, 1));
    try {
      await dropBound(db);
      // Checked while the service runs, so that attaching the table does not have to read its rows again.
      await briefly(db, `alter table messages add constraint ${bound} check (id < '${end}') not valid`);
      await sql.raw(`alter table messages validate constraint ${bound}`).execute(db);
      await db.transaction().execute((trx) => split(trx, end));
    } catch (error) {
      await dropBoundSurely(db);
      throw error;
    }
  }
  await addPartitions(db, now);
  await validateReferences(db);
}

/** Constraint that all messages are from before the split. If it stayed, it would refuse every message of the next month. */
const bound = "messages_before";
// Requests for messages wait behind a waiting lock.
const lockWait = "set local lock_timeout = '5s'";
const triesToDrop = 12;

/** Runs a statement that locks `messages`; throws if a long query keeps it waiting. */
const briefly = (db: Db, statement: string) => db.transaction().execute((trx) => run(trx, [lockWait, statement]));

async function dropBound(db: Db): Promise<void> {
  const isThere = `select conname as name from pg_constraint where conrelid = 'messages'::regclass and conname = '${bound}'`;
  if ((await named(db, isThere)).length > 0) await briefly(db, `alter table messages drop constraint ${bound}`);
}

/** Thrown if the bound could not be dropped; the next run that ends well drops it. */
export class BoundLeft extends Error {}

async function dropBoundSurely(db: Db): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await dropBound(db);
    } catch (cause) {
      if (tries === triesToDrop) throw new BoundLeft(bound, { cause });
    }
  }
}

/** Makes the tables of the months that come next, where messages are partitioned. */
export async function addPartitions(db: Db, now: number): Promise<void> {
  for (let month = 1; month <= ahead; month++) {
    const [from, to] = [startOf(monthAfter(now, month)), startOf(monthAfter(now, month + 1))];
    const name = `messages_${new Date(monthAfter(now, month)).toISOString().slice(0, 7).replace("-", "_")}`;
    const { rows } = await sql<{ there: string | null }>`select to_regclass(${name}) as there`.execute(db);
    if (rows[0]?.there) continue;
    await sql.raw(`create table ${name} partition of messages for values from ('${from}') to ('${to}')`).execute(db);
  }
}

type Named = { name: string; owner: string; definition: string };

async function split(trx: Trx, end: string): Promise<void> {
  await run(trx, [lockWait, "lock table messages in access exclusive mode"]);
  const indexes = await named(
    trx,
    `select indexname as name, '' as owner, indexdef as definition from pg_indexes
     where schemaname = current_schema() and tablename = 'messages' and indexname not in ('messages_pkey', 'messages_userId_key', 'messages_streaming')`,
  );
  const triggers = await named(
    trx,
    `select tgname as name, '' as owner, pg_get_triggerdef(oid) as definition from pg_trigger
     where tgrelid = 'messages'::regclass and not tgisinternal`,
  );
  const own = await constraints(trx, "conrelid");
  const references = await constraints(trx, "confrelid");

  await run(trx, [
    ...references.map(({ name, owner }) => `alter table ${owner} drop constraint "${name}"`),
    ...triggers.map(({ name }) => `drop trigger "${name}" on messages`),
    ...indexes.map(({ name }) => `alter index "${name}" rename to "${name}_until"`),
    `alter index messages_pkey rename to ${first}_pkey`,
    ...uniqueApart,
    `alter table messages rename to ${first}`,
    `create table messages (like ${first} including defaults) partition by range (id)`,
    `alter table messages add constraint messages_pkey primary key (id)`,
    ...own.map(({ name, definition }) => `alter table messages add constraint "${name}" ${definition}`),
    // Indexes on a table without partitions take no time; indexes that the first partition has already are used.
    ...indexes.map(({ definition }) => definition),
    `alter table messages attach partition ${first} for values from (minvalue) to ('${end}')`,
    `alter table ${first} drop constraint ${bound}`,
    // Takes messages of clocks that are months ahead: no message is refused.
    `create table ${rest} partition of messages default`,
    ...triggers.map(({ definition }) => definition),
    uniqueTrigger,
    ...references.map(
      ({ name, owner, definition }) => `alter table ${owner} add constraint "${name}" ${definition} not valid`,
    ),
  ]);
}

/**
 * A unique index of a partitioned table has to contain the partition key. Two separate tables replace two unique indexes: a message is
 * sent once (its key), and a chat has one running reply. The tables refuse the same rows as the indexes did, with the same error.
 */
const uniqueApart = [
  `create table "messageKeys" ("userId" text collate "C" not null, key text not null, primary key ("userId", key))`,
  `insert into "messageKeys" select "userId", key from messages where key is not null`,
  `drop index "messages_userId_key"`,
  `create table "runningChats" ("chatId" text collate "C" primary key)`,
  `insert into "runningChats" select "chatId" from messages where status = 'streaming'`,
  `drop index "messages_streaming"`,
  `create function message_unique() returns trigger language plpgsql as $$ begin
     if tg_op <> 'INSERT' then
       if old.key is not null then delete from "messageKeys" where "userId" = old."userId" and key = old.key; end if;
       if old.status = 'streaming' then delete from "runningChats" where "chatId" = old."chatId"; end if;
     end if;
     if tg_op <> 'DELETE' then
       if new.key is not null then insert into "messageKeys" values (new."userId", new.key); end if;
       if new.status = 'streaming' then insert into "runningChats" values (new."chatId"); end if;
     end if;
     return null;
   end $$`,
];
const uniqueTrigger = `create trigger message_unique after insert or delete or update of key, status on messages
  for each row execute function message_unique()`;

/** The foreign keys of messages (`conrelid`), or those that refer to them (`confrelid`). */
const constraints = (db: Db, side: "conrelid" | "confrelid") =>
  named(
    db,
    `select conname as name, conrelid::regclass::text as owner, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and ${side} = 'messages'::regclass and conparentid = 0`,
  );

/** Validates the references one by one, each for as long as its table takes to be read; writing goes on. */
async function validateReferences(db: Db): Promise<void> {
  const open = await named(
    db,
    `select conname as name, conrelid::regclass::text as owner, '' as definition from pg_constraint
     where contype = 'f' and confrelid = 'messages'::regclass and not convalidated and conparentid = 0`,
  );
  await run(
    db,
    open.map(({ name, owner }) => `alter table ${owner} validate constraint "${name}"`),
  );
}

const named = async (db: Db, query: string) => (await sql.raw<Named>(query).execute(db)).rows;

async function run(db: Db, statements: string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** The first moment, in UTC, of the month that comes `months` after the month of `now`. */
function monthAfter(now: number, months: number): number {
  const day = new Date(now);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months, 1);
}

/** The text that every UUIDv7 of this moment or later comes after: its first 48 bits are the time in ms (RFC 9562, 5.7). */
function startOf(at: number): string {
  const hex = at.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
