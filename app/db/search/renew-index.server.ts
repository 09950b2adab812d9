import { setImmediate } from "node:timers/promises";
import type { Db } from "../engine.server.ts";
import { documentIndexer, nameWords } from "./passages.server.ts";
import { searchWords } from "./words.server.ts";

/** Number of the present rules by which words are indexed. To be raised when `stemOf` or `searchWords` change. */
export const indexRules = 3;

// Few enough that a transaction causes no noticeable pause.
const passagesAtOnce = 50;

/**
 * Indexes the passages after `seq` again, and yields the last passage up to which it has done so. A document is begun again at its first
 * passage, because the words of its title and headings are indexed with all passages.
 */
export async function* renewIndex(db: Db, seq: number): AsyncGenerator<number> {
  let fileId: string | null = null;
  let indexer = documentIndexer();
  let done = seq;
  for (;;) {
    const passages = await db
      .selectFrom("passages as p")
      .leftJoin("files as f", "f.id", "p.fileId")
      .where("p.seq", ">", seq)
      .orderBy("p.seq")
      .limit(passagesAtOnce)
      .select(["p.seq", "p.fileId", "p.text", "p.words", "f.name"])
      .execute();
    if (passages.length === 0) return;
    const renewed: { seq: number; words: string }[] = [];
    for (const passage of passages) {
      if (passage.fileId !== fileId || fileId === null) {
        fileId = passage.fileId;
        indexer = documentIndexer();
        done = seq;
      }
      seq = Number(passage.seq);
      const [owner = ""] = passage.words.split(" ", 1);
      const said = fileId === null ? searchWords(passage.text).join(" ") : indexer(passage.text);
      const words = [owner, said, nameWords(passage.name ?? "")].filter(Boolean).join(" ");
      if (passage.words !== words) renewed.push({ seq, words });
    }
    await db.transaction().execute(async (trx) => {
      for (const { seq: at, words } of renewed)
        await trx.updateTable("passages").set({ words }).where("seq", "=", at).execute();
    });
    yield done;
    await setImmediate();
  }
}
