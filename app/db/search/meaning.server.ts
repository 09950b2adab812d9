import { type RawBuilder, sql } from "kysely";
import type { Db, Engine } from "../engine.server.ts";
import type { PassageRow } from "../tables.ts";
import { type Quantised, similarity } from "./quantise.server.ts";

/** Meaning of a question. Only vectors of the same `version` can be compared: of the same model and length. */
export type Meaning = Quantised & { version: string };
/** Gives the meaning of a question; undefined if no model can give it, so that only words are searched. */
export type Meanings = { meaningOf(question: string): Promise<Meaning | undefined> };
type Among = { owners: string[]; files?: string[]; messages?: boolean };
/** `seq`: of the passage. */
export type Near = { seq: number; similarity: number };

// Vectors picked by the signs of their numbers alone: several times as many as are used, because that order is rough.
const picked = 300;

/**
 * The passages of these owners whose meaning is nearest, nearest first. All their vectors are looked at, by the database: some 3 ms
 * for ten thousand of 768 numbers with SQLite.
 */
export async function nearestPassages(
  db: Db,
  engine: Engine,
  { owners, files, messages }: Among,
  meaning: Meaning,
): Promise<Near[]> {
  const bits = bitsFor(engine, meaning.bits);
  const distance =
    engine === "sqlite"
      ? sql`vec_distance_hamming(vec_bit(v.bits), vec_bit(${bits}))`
      : sql`bit_count(v.bits # ${bits})`;
  const ofFiles = files ? sql`and (v."fileId" is null or v."fileId" in (${sql.join([...files, ""])}))` : sql``;
  const ofMessages = messages === false ? sql`and v."ofMessage" = 0` : sql``;
  const { rows } = await sql<{ seq: number; vector: Uint8Array }>`
    select n.seq, n.vector from (
      select v.seq from vectors v
      where v."ownerId" in (${sql.join(owners)}) and v.version = ${meaning.version} ${ofFiles} ${ofMessages}
      order by ${distance} limit ${picked}
    ) p join vectors n on n.seq = p.seq`.execute(db);
  return rows
    .map(({ seq, vector }) => ({ seq: Number(seq), similarity: similarity(meaning.vector, asNumbers(vector)) }))
    .sort((a, b) => b.similarity - a.similarity);
}

/** Stores the meanings of passages, in place of those from another model. Passages deleted meanwhile are left out. */
export async function storeMeanings(
  db: Db,
  engine: Engine,
  passages: (Pick<PassageRow, "ownerId" | "fileId" | "messageId"> & { seq: number; meaning: Meaning })[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const { seq, ownerId, fileId, messageId, meaning } of passages) {
      const { version, bits, vector } = meaning;
      const isMessage = messageId === null ? 0 : 1;
      await sql`insert into vectors (seq, "ownerId", "fileId", "ofMessage", version, bits, vector)
        select seq, ${ownerId}, ${fileId}, ${isMessage}, ${version}, ${bitsFor(engine, bits)}, ${Buffer.from(vector.buffer)}
        from passages where seq = ${seq}
        on conflict (seq) do update set version = excluded.version, bits = excluded.bits, vector = excluded.vector`.execute(
        trx,
      );
    }
  });
}

/** PostgreSQL counts bits only of its own bit strings. */
function bitsFor(engine: Engine, bits: Uint8Array): RawBuilder<unknown> {
  if (engine === "sqlite") return sql`${bits}`;
  return sql`cast(${Array.from(bits, (byte) => byte.toString(2).padStart(8, "0")).join("")} as text)::varbit`;
}

const asNumbers = (bytes: Uint8Array) => new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
