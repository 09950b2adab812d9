import type { Db } from "../engine.server.ts";
import type { AuditRow } from "../tables.ts";
import { cutBefore, firstSealed } from "./cut.server.ts";
import { erasureMark, isFollowed, newest, openKeys, type Seal, type SealKey, signs } from "./keys.server.ts";
import { detailsOf, sealOf } from "./seal.server.ts";

export type AuditCheck = {
  /** How many sealed rows were looked at, and how many are still to be sealed. */
  sealed: number;
  unsealed: number;
  last: Seal | undefined;
  /** Rows that are not as they were sealed, in sentences; at most `problemsAtMost`. */
  problems: string[];
};

const problemsAtMost = 20;
const atOnce = 500;

/**
 * Goes through the whole audit trail and says what is not as it was sealed and signed. `known`: a seal that was noted elsewhere, as in
 * the log; with it, the check also finds that somebody has restored an older state of the whole database.
 */
export async function checkAudit(db: Db, auditKey: Buffer, known?: Seal): Promise<AuditCheck> {
  const keys = await openKeys(db, auditKey);
  const problems: string[] = [];
  const say = (sentence: string) => problems.length < problemsAtMost && problems.push(sentence);
  const signing = keys.filter(signs);
  const heads = signing.flatMap((key) => key.head ?? []);
  if (signing.length === 0 && keys.some(isFollowed)) say("Falta la clave con la que se firma.");
  if (signing.length > 1) say("Hay más de una clave que firma: alguien ha quitado y vuelto a poner la de antes.");
  if (heads.length < signing.length) say("La firma del último apunte no es la que se puso.");
  if (await isNumberedBelowOne(db)) say("Hay apuntes con un número que no se da.");
  let last = await beginning(db, keys, say);
  let sealed = 0;
  let met = known === undefined || known.seq <= last.seq;
  for (let after = 0; ; after = last.seq) {
    const rows = await rowsAfter(db, after);
    for (const row of rows) {
      if (row.seq !== last.seq + 1) say(`Faltan los apuntes del ${last.seq + 1} al ${row.seq - 1}.`);
      for (const sentence of await wrongIn(db, row, last, keys)) say(sentence);
      last = { seq: row.seq, hash: row.hash };
      if (heads.some(({ seq, hash }) => seq === row.seq && hash !== row.hash)) {
        say(`El apunte ${row.seq} no es el que se firmó como último.`);
      }
      if (known?.seq === row.seq) {
        met = true;
        if (known.hash !== row.hash) say(`El sello del apunte ${row.seq} no es el que se anotó.`);
      }
    }
    sealed += rows.length;
    if (rows.length < atOnce) break;
    // Other requests have their turn: SQLite reads synchronously.
    await new Promise(setImmediate);
  }
  const head = newest(heads);
  if (head && head.seq > last.seq) {
    say(`Faltan los últimos: se selló hasta el apunte ${head.seq}, y acaba en el ${last.seq}.`);
  }
  if (!met) say(`El apunte ${known?.seq}, que se anotó, ya no está: faltan los últimos.`);
  const { count } = await db
    .selectFrom("audit")
    .where("seq", "is", null)
    .select((e) => e.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return { sealed, unsealed: Number(count), last: sealed > 0 ? last : undefined, problems };
}

/** Whether a check that starts at row 1 would miss rows. */
async function isNumberedBelowOne(db: Db): Promise<boolean> {
  return !!(await db.selectFrom("audit").where("seq", "<=", 0).select("id").limit(1).executeTakeFirst());
}

type SealedRow = AuditRow & { seq: number; hash: string };

async function rowsAfter(db: Db, seq: number): Promise<SealedRow[]> {
  const rows = await db.selectFrom("audit").where("seq", ">", seq).orderBy("seq").limit(atOnce).selectAll().execute();
  return rows.map((row) => ({ ...row, seq: Number(row.seq), hash: row.hash ?? "" }));
}

/** The seal before the first existing row: an empty seal, or the seal of the last row that retention was allowed to delete. */
async function beginning(db: Db, keys: SealKey[], say: (sentence: string) => void): Promise<Seal> {
  const first = await firstSealed(db);
  if (first === undefined || first === 1) return { seq: 0, hash: "" };
  const cut = keys.some(signs) ? newest(keys.map((key) => key.cut)) : await cutBefore(db);
  if (cut?.seq === first - 1) return cut;
  // A deletion that broke off goes on within the hour; the seal of the last row that it has deleted is gone.
  if (!cut || cut.seq < first - 1) {
    say(`Faltan los apuntes del 1 al ${first - 1}, sin que conste que los borrara una regla de conservación.`);
  }
  return { seq: first - 1, hash: "" };
}

async function wrongIn(db: Db, row: SealedRow, before: Seal, keys: SealKey[]): Promise<string[]> {
  const key = keys.find(({ id }) => id === row.sealKeyId)?.key;
  if (!key) return [`El apunte ${row.seq} se selló con otro secreto, y no se puede comprobar.`];
  const wrong: string[] = [];
  const details = row.details ?? "";
  // Missing rows before it have been told already.
  const follows = before.seq === row.seq - 1 && before.hash !== "" ? before.hash : undefined;
  const known = row.seq === 1 ? "" : follows;
  if (known !== undefined && sealOf(key, known, row.seq, row, details) !== row.hash) {
    wrong.push(`El apunte ${row.seq} no es el que se selló.`);
  }
  const [changes, ip] = details.split(".");
  const [changesNow, ipNow] = detailsOf(key, row).split(".");
  if (changes === changesNow && ip === ipNow) return wrong;
  const erased = await erasedIn(db, row, keys);
  const isChangesKept = changes === changesNow || (row.changes === "{}" && erased.size > 0);
  const isIpKept = ip === ipNow || (row.ip === "" && erased.has(row.actorId));
  if (!isChangesKept || !isIpKept) wrong.push(`Los detalles del apunte ${row.seq} no son los que se sellaron.`);
  return wrong;
}

/** The deleted accounts that this row is about: the details of the row were deleted with the accounts. */
async function erasedIn(db: Db, row: SealedRow, keys: SealKey[]): Promise<Set<string | null>> {
  const aboutPerson = row.resource === "user" ? row.resourceId : null;
  const people = [row.actorId, row.ownerId, aboutPerson].filter((id) => id !== null);
  if (people.length === 0) return new Set();
  const living = await db.selectFrom("users").where("id", "in", people).select("id").execute();
  const marks = await db.selectFrom("erasures").where("personId", "in", people).selectAll().execute();
  const signed = marks.filter(({ personId, mark }) => keys.some((key) => erasureMark(key, personId) === mark));
  // Older versions recorded an erasure in a later row alone.
  const signsFrom = Math.min(...keys.flatMap((key) => (signs(key) ? (key.adopted ?? []) : [])));
  const deletions = await db
    .selectFrom("audit")
    .where("resource", "=", "user")
    .where("action", "=", "delete")
    .where("resourceId", "in", people)
    .where("seq", ">=", row.seq)
    .$if(Number.isFinite(signsFrom), (query) => query.where("seq", "<=", signsFrom))
    .select("resourceId")
    .execute();
  const erased = new Set([...signed.map(({ personId }) => personId), ...deletions.map(({ resourceId }) => resourceId)]);
  for (const { id } of living) erased.delete(id);
  return erased;
}
