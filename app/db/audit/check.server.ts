import type { Db } from "../connection.server.ts";
import type { AuditRow } from "../tables.ts";
import { detailsOf, type Seal, sealKeys, sealOf } from "./seal.server.ts";

export type AuditCheck = {
  /** How many sealed rows were looked at, and how many are still to be sealed. */
  sealed: number;
  unsealed: number;
  last: Seal | undefined;
  /** What is not as it was sealed, in sentences; at most `problemsAtMost`. */
  problems: string[];
};

const problemsAtMost = 20;
const atOnce = 500;

/**
 * Goes through the whole audit trail and says what is not as it was sealed. `known`: a seal that was noted earlier, as in the log;
 * without one, nobody can tell whether rows are missing at the end.
 */
export async function checkAudit(db: Db, auditKey: Buffer, known?: Seal): Promise<AuditCheck> {
  const keys = await sealKeys(db, auditKey);
  const problems: string[] = [];
  const say = (sentence: string) => problems.length < problemsAtMost && problems.push(sentence);
  let last = await beginning(db, say);
  let sealed = 0;
  let met = known === undefined || known.seq <= last.seq;
  for (let after = 0; ; after = last.seq) {
    const rows = await rowsAfter(db, after);
    for (const row of rows) {
      if (row.seq !== last.seq + 1) say(`Faltan los apuntes del ${last.seq + 1} al ${row.seq - 1}.`);
      for (const sentence of await wrongIn(db, row, last, keys)) say(sentence);
      last = { seq: row.seq, hash: row.hash };
      if (known?.seq === row.seq) {
        met = true;
        if (known.hash !== row.hash) say(`El sello del apunte ${row.seq} no es el que se anotó.`);
      }
    }
    sealed += rows.length;
    if (rows.length < atOnce) break;
    // Others have their turn: SQLite reads synchronously.
    await new Promise(setImmediate);
  }
  if (!met) say(`El apunte ${known?.seq}, que se anotó, ya no está: faltan los últimos.`);
  const { count } = await db
    .selectFrom("audit")
    .where("seq", "is", null)
    .select((e) => e.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return { sealed, unsealed: Number(count), last: sealed > 0 ? last : undefined, problems };
}

type SealedRow = AuditRow & { seq: number; hash: string };

async function rowsAfter(db: Db, seq: number): Promise<SealedRow[]> {
  const rows = await db.selectFrom("audit").where("seq", ">", seq).orderBy("seq").limit(atOnce).selectAll().execute();
  return rows.map((row) => ({ ...row, seq: Number(row.seq), hash: row.hash ?? "" }));
}

/** What comes before the first row there is: nothing, or what retention has deleted and said so in a later row. */
async function beginning(db: Db, say: (sentence: string) => void): Promise<Seal> {
  const first = await db.selectFrom("audit").where("seq", ">", 0).orderBy("seq").select("seq").executeTakeFirst();
  if (!first?.seq || first.seq === 1) return { seq: 0, hash: "" };
  const deletions = await db
    .selectFrom("audit")
    .where("action", "=", "retention")
    .where("resource", "=", "audit")
    .where("seq", "is not", null)
    .orderBy("seq", "desc")
    .limit(50)
    .select("changes")
    .execute();
  for (const { changes } of deletions) {
    const { before } = JSON.parse(changes) as { before?: { through?: Seal } };
    const through = before?.through;
    if (through?.seq === first.seq - 1) return through;
    // A deletion that broke off goes on within the hour; the seal of the last row that it has reached is gone.
    if (through && through.seq > first.seq - 1) return { seq: first.seq - 1, hash: "" };
  }
  say(`Faltan los apuntes del 1 al ${first.seq - 1}, sin que conste que los borrara una regla de conservación.`);
  return { seq: first.seq - 1, hash: "" };
}

async function wrongIn(db: Db, row: SealedRow, before: Seal, keys: Map<string, Buffer>): Promise<string[]> {
  const key = keys.get(row.sealKeyId ?? "");
  if (!key) return [`El apunte ${row.seq} se selló con otro secreto, y no se puede comprobar.`];
  const wrong: string[] = [];
  const details = row.details ?? "";
  // Where rows are missing before it, that has been said already.
  const follows = before.seq === row.seq - 1 && before.hash !== "" ? before.hash : undefined;
  const known = row.seq === 1 ? "" : follows;
  if (known !== undefined && sealOf(key, known, row.seq, row, details) !== row.hash) {
    wrong.push(`El apunte ${row.seq} no es el que se selló.`);
  }
  const [changes, ip] = details.split(".");
  const [changesNow, ipNow] = detailsOf(key, row).split(".");
  const isErased = (changes === changesNow || row.changes === "{}") && (ip === ipNow || row.ip === "");
  if ((changes !== changesNow || ip !== ipNow) && !(isErased && (await isOfDeletedAccount(db, row)))) {
    wrong.push(`Los detalles del apunte ${row.seq} no son los que se sellaron.`);
  }
  return wrong;
}

/** Whether a later row says that an account was deleted that this one is about: its details go with it. */
async function isOfDeletedAccount(db: Db, { seq, actorId, ownerId, resourceId }: SealedRow): Promise<boolean> {
  const people = [actorId, ownerId, resourceId].filter((id) => id !== null);
  if (people.length === 0) return false;
  const deletion = await db
    .selectFrom("audit")
    .where("resource", "=", "user")
    .where("action", "=", "delete")
    .where("resourceId", "in", people)
    .where((e) => e.or([e("seq", ">=", seq), e("seq", "is", null)]))
    .select("id")
    .limit(1)
    .executeTakeFirst();
  return deletion !== undefined;
}
