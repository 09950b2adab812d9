import { createHash } from "node:crypto";
import type { Db } from "./connection.server.ts";
import type { Tables } from "./tables.ts";

// Each after those that it refers to.
const tables = [
  "users",
  "sessions",
  "projects",
  "models",
  "chats",
  "messages",
  "files",
  "attachments",
  "prompts",
  "summaries",
  "trainings",
  "subscriptions",
  "usage",
  "audit",
  "emails",
  "pages",
  "passwordResets",
  "authenticators",
  "apiKeys",
  "idempotency",
  "shares",
] as const satisfies Exclude<keyof Tables, "passages">[];

const atOnce = 200;

type Row = Record<string, string | number | null>;

/** All rows of a table, some at a time. */
async function* rowsOf(db: Db, table: (typeof tables)[number]): AsyncGenerator<Row[]> {
  for (let last = ""; ; ) {
    const page = db
      .selectFrom(table as "users")
      .where("id", ">", last)
      .orderBy("id")
      .limit(atOnce);
    const rows = await page.selectAll().execute();
    if (rows.length > 0) yield rows as Row[];
    if (rows.length < atOnce) return;
    last = rows.at(-1)?.id ?? "";
  }
}

async function* passagesOf(db: Db): AsyncGenerator<Row[]> {
  const columns = [
    "ownerId",
    "messageId",
    "trainingId",
    "chatId",
    "fileId",
    "position",
    "page",
    "text",
    "words",
  ] as const;
  for (let last = -1; ; ) {
    const page = db.selectFrom("passages").where("seq", ">", last).orderBy("seq").limit(atOnce);
    const rows = await page.select(["seq", ...columns]).execute();
    // The number is the database's own.
    if (rows.length > 0) yield rows.map(({ seq, ...row }) => row);
    if (rows.length < atOnce) return;
    last = rows.at(-1)?.seq ?? 0;
  }
}

/** One figure for what each table holds, the same on both engines and whatever the order of its rows. */
export async function contentHashes(db: Db): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const table of tables) hashes[table] = await sumOf(rowsOf(db, table));
  return { ...hashes, passages: await sumOf(passagesOf(db)) };
}

async function sumOf(pages: AsyncGenerator<Row[]>): Promise<string> {
  let sum = 0n;
  for await (const rows of pages) {
    for (const row of rows) {
      const fields = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
      const hash = createHash("sha256").update(JSON.stringify(fields)).digest("hex");
      sum = BigInt.asUintN(256, sum + BigInt(`0x${hash}`));
    }
  }
  return sum.toString(16);
}

/** Copies all rows into a database that holds nothing but what its migrations made, in one transaction. Throws when the two then differ. */
export async function copyContent(from: Db, to: Db): Promise<number> {
  return to.transaction().execute(async (trx) => {
    for (const table of tables.toReversed()) await trx.deleteFrom(table).execute();
    let rows = 0;
    for (const table of tables) {
      for await (const some of rowsOf(from, table)) {
        await trx
          .insertInto(table as "users")
          .values(some as never)
          .execute();
        rows += some.length;
      }
    }
    for await (const some of passagesOf(from)) {
      await trx
        .insertInto("passages")
        .values(some as never)
        .execute();
      rows += some.length;
    }
    const [here, there] = [await contentHashes(from), await contentHashes(trx)];
    const wrong = Object.keys(here).filter((table) => here[table] !== there[table]);
    if (wrong.length > 0) throw new Error(`the copy differs in ${wrong.join(", ")}`);
    return rows;
  });
}
