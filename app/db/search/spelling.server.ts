import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { Db, Engine } from "../engine.server.ts";
import type { WordRow } from "../tables.ts";

/** Shorter words have too many neighbours; longer ones are codes. */
const shortest = 4;
const longest = 24;
// From this length on a word may differ in two places.
const longWord = 8;
const alternativesAtMost = 4;
// Few enough that storing them causes no noticeable pause.
const wordsAtOnce = 50;
const keysAtOnce = 400;

/** Whether an indexed word is one that can be misspelt. */
export const canBeMisspelt = (word: string): boolean =>
  word.length >= shortest && word.length <= longest && /^\p{L}+$/u.test(word);

/**
 * The keys that words of nearly the same spelling share: the word itself, the word without each one of its letters (two words that
 * differ by one change share such a key: W. Garbe's symmetric delete), and the sound of the word.
 */
export function keysOf(word: string): string[] {
  const letters = [...word];
  const shorter = letters.map((_, index) => letters.toSpliced(index, 1).join(""));
  return [...new Set([word, ...shorter, `~${soundOf(word)}`])];
}

/** A word as it sounds to those who write v for b, s for c and z, ll for y, and leave out h. */
function soundOf(word: string): string {
  return word
    .replace(/h/g, "")
    .replace(/v/g, "b")
    .replace(/qu(?=[ei])/g, "k")
    .replace(/gu(?=[ei])/g, "g")
    .replace(/g(?=[ei])/g, "j")
    .replace(/c(?=[ei])|z/g, "s")
    .replace(/c|q/g, "k")
    .replace(/ll/g, "y")
    .replace(/x/g, "s")
    .replace(/m(?=[pb])/g, "n")
    .replace(/(.)\1+/g, "$1");
}

/** Adds words that are not known yet. */
export async function learnWords(db: Db, words: Iterable<string>): Promise<void> {
  const given = [...new Set(words)].filter(canBeMisspelt);
  for (let at = 0; at < given.length; at += wordsAtOnce) {
    const some = given.slice(at, at + wordsAtOnce);
    const known = await db.selectFrom("words").where("word", "in", some).select("word").execute();
    const unknown = new Set(some).difference(new Set(known.map(({ word }) => word)));
    if (unknown.size === 0) continue;
    await db.transaction().execute(async (trx) => {
      const rows = [...unknown].map((word) => ({ word }));
      // Another process may learn the same words.
      await trx
        .insertInto("words")
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const keys = [...unknown].flatMap((word) => keysOf(word).map((key) => ({ key, word })));
      for (let from = 0; from < keys.length; from += keysAtOnce) {
        const part = keys.slice(from, from + keysAtOnce);
        await trx
          .insertInto("wordKeys")
          .values(part)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    });
    // SQLite runs synchronously; this lets other requests run in between.
    await setImmediate();
  }
}

/** Gives, for each word, the known words of nearly the same spelling or sound, nearest first, without the word itself. */
export async function nearWords(db: Db, words: string[]): Promise<Map<string, string[]>> {
  const asked = words.filter(canBeMisspelt);
  const near = new Map<string, string[]>();
  if (asked.length === 0) return near;
  const keys = [...new Set(asked.flatMap(keysOf))];
  const found = await db.selectFrom("wordKeys").where("key", "in", keys).select(["key", "word"]).execute();
  const byKey = Map.groupBy(found, ({ key }) => key);
  for (const word of asked) {
    const candidates = new Set(keysOf(word).flatMap((key) => (byKey.get(key) ?? []).map((one) => one.word)));
    candidates.delete(word);
    const sound = soundOf(word);
    const ranked = [...candidates]
      .map((one) => ({ one, distance: soundOf(one) === sound ? 0.5 : distanceOf(word, one) }))
      .filter(({ distance }) => distance <= (word.length >= longWord ? 2 : 1))
      .sort((a, b) => a.distance - b.distance);
    near.set(
      word,
      ranked.slice(0, alternativesAtMost).map(({ one }) => one),
    );
  }
  return near;
}

/** Damerau and Levenshtein's distance: letters left out, added, changed, or two of them swapped. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** The indexed words of a passage, as `passages.words` has them, without its owner's. */
export const wordsIn = (indexed: string): string[] => indexed.split(" ").slice(1);

/**
 * Removes those of the next `count` words after `word` that no passage has any more, so that they do not tell what was deleted. Returns
 * the last word that was checked; empty: no word comes after it.
 */
export async function forgetUnused(db: Db, engine: Engine, word: string, count: number): Promise<string> {
  const next = db.selectFrom("words").where("word", ">", word).orderBy("word").limit(count).select("word");
  const looked = (await next.execute()).map((row) => row.word);
  const last = looked.at(-1);
  if (last === undefined) return "";
  const asked = sql.join(looked.map((one) => sql`(${one}, ${engine === "sqlite" ? `"${one}"` : one})`));
  const { rows } =
    engine === "sqlite"
      ? await sql<WordRow>`select column1 as word from (values ${asked}) a
          where not exists (select 1 from passages_index where passages_index match a.column2)`.execute(db)
      : await sql<WordRow>`select a.word from (values ${asked}) a(word, query)
          where not exists (select 1 from passages p where p.vector @@ to_tsquery('simple', a.query))`.execute(db);
  const unused = rows.map((row) => row.word);
  if (unused.length > 0) await db.deleteFrom("words").where("word", "in", unused).execute();
  return looked.length < count ? "" : last;
}
