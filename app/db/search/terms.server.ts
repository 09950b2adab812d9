import { sql } from "kysely";
import type { Db, Engine } from "../engine.server.ts";
import { translationsOf } from "./english.server.ts";
import { ownerWord } from "./passages.server.ts";
import { nearWords } from "./spelling.server.ts";
import { synonymsOf } from "./synonyms.server.ts";
import { withTilde } from "./words.server.ts";

/** A word that stands for a term. `weight`: how much it counts, 1 for the asked word; `found`: how many passages have it. */
export type Saying = { word: string; weight: number; found: number };
/** A word of a question, and the other words that stand for it. */
export type Term = Saying[];

const synonymWeight = 0.5;
const nearWeight = 0.8;
const tildeWeight = 0.9;
// A word that more passages than this have tells nothing; the count stops there.
export const countedAtMost = 2_000;
// A word that this many passages have is searched without its synonyms.
const plenty = 500;
const allCountedAtMost = 20_000;

/**
 * Terms of a question: each of its words with synonyms. A word that none of the owners' passages has also gets words of nearly the same
 * spelling and its Spanish translations; every word of an English question gets translations. `total`: how many passages the
 * owners have, counted to a limit.
 */
export async function termsOf(
  db: Db,
  engine: Engine,
  owners: string[],
  words: string[],
  inEnglish = false,
): Promise<{ terms: Term[]; total: number }> {
  const counts = await countPassages(db, engine, owners, words);
  const unknown = words.filter((word) => !counts.words.get(word));
  const near = unknown.length > 0 ? await nearWords(db, unknown) : new Map<string, string[]>();
  const synonyms = new Map(
    words.filter((word) => (counts.words.get(word) ?? 0) < plenty).map((word) => [word, synonymsOf(word)]),
  );
  const translated = new Map(
    words.filter((word) => inEnglish || !counts.words.get(word)).map((word) => [word, translationsOf(word)]),
  );
  const others = [
    ...new Set([...near.values(), ...synonyms.values(), ...translated.values(), ...words.map(withTilde)].flat()),
  ];
  const otherCounts =
    others.length > 0 ? await countEach(db, engine, owners, others, countedAtMost) : new Map<string, number>();
  const terms = words.map((word) => {
    const saying = (one: string, weight: number, of = otherCounts): Saying[] => {
      const found = of.get(one) ?? 0;
      return found > 0 ? [{ word: one, weight, found }] : [];
    };
    const meant = near.get(word) ?? [];
    return [
      ...saying(word, 1, counts.words),
      ...withTilde(word).flatMap((one) => saying(one, tildeWeight)),
      ...meant.flatMap((one) => saying(one, nearWeight)),
      ...(synonyms.get(word) ?? []).flatMap((one) => saying(one, synonymWeight)),
      ...(translated.get(word) ?? []).flatMap((one) => saying(one, synonymWeight)),
    ];
  });
  return { terms, total: counts.total };
}

/** How many passages of the owners have each word, up to `countedAtMost`, and how many there are in all, up to a higher limit. */
async function countPassages(db: Db, engine: Engine, owners: string[], words: string[]) {
  const [counted, all] = await Promise.all([
    countEach(db, engine, owners, words, countedAtMost),
    countEach(db, engine, owners, [""], allCountedAtMost),
  ]);
  return { words: counted, total: all.get("") ?? 0 };
}

/** The empty word is in every passage. */
async function countEach(db: Db, engine: Engine, owners: string[], words: string[], most: number) {
  const ofOwners = owners.map(ownerWord);
  const asked = words.map((word) => {
    const query =
      engine === "sqlite"
        ? `(${ofOwners.map((one) => `"${one}"`).join(" OR ")})${word && ` AND "${word}"`}`
        : `(${ofOwners.join("|")})${word && `&${word}`}`;
    return sql`(${word}, ${query})`;
  });
  const limit = sql.lit(most);
  const { rows } =
    engine === "sqlite"
      ? await sql<{ word: string; found: number }>`select column1 as word, (select count(*) from (
          select 1 from passages_index where passages_index match a.column2 limit ${limit})) as found
          from (values ${sql.join(asked)}) a`.execute(db)
      : await sql<{ word: string; found: number }>`select a.word, (select count(*) from (
          select 1 from passages p where p.vector @@ to_tsquery('simple', a.query) limit ${limit}) x) as found
          from (values ${sql.join(asked)}) a(word, query)`.execute(db);
  return new Map(rows.map(({ word, found }) => [word, Number(found)]));
}
