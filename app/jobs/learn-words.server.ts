import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { Db, Engine } from "../db/engine.server.ts";
import { indexRules, renewIndex } from "../db/search/renew-index.server.ts";
import { forgetUnused, learnWords, wordsIn } from "../db/search/spelling.server.ts";
import type { JobRules } from "./jobs.server.ts";

const every = 60_000;
const passagesAtOnce = 100;
// Passages that are read again: a transaction that began earlier may have ended later.
const overlap = 200;
// Words that are looked at in one run: all of a large vocabulary in less than a day.
const forgottenAtOnce = 200;

/**
 * State for the next run: the last passage that was read, the last word that was looked at, and the rules by which all passages up to
 * `renewed` are indexed.
 */
const memory = z.object({
  seq: z.number().default(0),
  word: z.string().default(""),
  rules: z.number().default(1),
  renewed: z.number().default(0),
});

/**
 * Keeps the words that search knows up to date, a minute behind the passages: words of new passages are added, words that are in no
 * passage any more are removed. The job begins at the first passage, so it also fills a database that has no words. After an update that
 * indexes words in another way, it first indexes all passages again.
 */
export const wordsLearning = ({ db, engine }: { db: Db; engine: Engine }): JobRules => ({
  atOnce: 1,
  retries: [],
  every,
  async work({ data, signal, remember }) {
    let { seq, word, rules, renewed } = memory.parse(JSON.parse(data));
    if (rules < indexRules) {
      for await (renewed of renewIndex(db, renewed)) {
        await remember(JSON.stringify({ seq, word, rules, renewed }));
        if (signal.aborted) return;
      }
      [seq, rules, renewed] = [0, indexRules, 0];
    }
    const newest = await db.selectFrom("passages").orderBy("seq", "desc").limit(1).select("seq").executeTakeFirst();
    if (newest && Number(newest.seq) > seq) seq = Math.max(0, seq - overlap);
    while (!signal.aborted) {
      const passages = await db
        .selectFrom("passages")
        .where("seq", ">", seq)
        .orderBy("seq")
        .limit(passagesAtOnce)
        .select(["seq", "words"])
        .execute();
      if (passages.length === 0) break;
      await learnWords(
        db,
        passages.flatMap((passage) => wordsIn(passage.words)),
      );
      seq = Number(passages.at(-1)?.seq);
      await remember(JSON.stringify({ seq, word, rules, renewed }));
      await setImmediate();
    }
    word = await forgetUnused(db, engine, word, forgottenAtOnce);
    await remember(JSON.stringify({ seq, word, rules, renewed }));
  },
});
