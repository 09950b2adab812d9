import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { z } from "zod";
import type { Db, Engine } from "../db/engine.server.ts";
import { type Meaning, storeMeanings } from "../db/search/meaning.server.ts";
import type { PassageRow } from "../db/tables.ts";
import type { JobRules } from "../jobs/jobs.server.ts";
import { ReplyError } from "../replies/errors.server.ts";
import { isVersionOf, type SearchModel } from "./search-model.server.ts";

type MeaningServices = { db: Db; engine: Engine; searchModel: SearchModel };

const every = 10_000;
// Texts of one request: a server on a small machine answers it in a few seconds.
const passagesAtOnce = 32;
// Passages that are checked again: a transaction that began earlier may have ended later.
const overlap = 200;
// Refused passages that are remembered; beyond them, only the last `overlap` passages are looked at again.
const refusedAtMost = 500;
const forgottenAtOnce = 1_000;

/** State for the next run: the passages from `from` to `to` have a vector of this version, but for refused ones. */
const memory = z.object({
  version: z.string().default(""),
  from: z.number().default(0),
  to: z.number().default(0),
  /** Hashes of texts that the server has refused, which are not asked for again: SQLite gives numbers of deleted passages to others. */
  refused: z.array(z.string()).default([]),
});
type Memory = z.output<typeof memory>;
type Passage = Pick<PassageRow, "ownerId" | "fileId" | "messageId" | "text"> & { seq: number; title: string | null };

/**
 * Asks the search model for the meanings of passages: new passages first, then older ones, back to the first. With another model the
 * work begins anew. If the model's server does not answer, the next run continues; the model's row says why.
 */
export const meaningsLearning = ({ db, engine, searchModel }: MeaningServices): JobRules => ({
  atOnce: 1,
  retries: [],
  every,
  async work({ data, signal, remember, progress }) {
    const model = await searchModel.current();
    if (!model) return forgetWithoutModels(db);
    const newest = await newestPassage(db);
    const anew = (version: string): Memory => ({ version, from: newest + 1, to: newest, refused: [] });
    const before = memory.parse(JSON.parse(data));
    let known = isVersionOf(model, before.version)
      ? { ...before, to: Math.max(before.from, before.to - overlap) }
      : anew("");
    let count: { done: number; total: number } | undefined;
    while (!signal.aborted) {
      const passages = await nextPassages(db, known);
      if (passages.length === 0) break;
      const { refused } = known;
      const unknown = await withoutVector(db, passages, known.version);
      const missing = unknown.filter(({ text }) => !refused.includes(hashOf(text)));
      if (missing.length > 0) {
        const asked = missing.map(({ title, text }) => (title ? `${title}\n${text}` : text));
        const ask = (texts: string[]) => searchModel.meaningsOf(model, texts, signal);
        const meanings = await askOneByOneIfRefused(ask, asked).catch((error) => {
          if (error instanceof ReplyError || signal.aborted) return undefined;
          throw error;
        });
        if (!meanings) return;
        const version = meanings.find(Boolean)?.version ?? known.version;
        await storeMeanings(
          db,
          engine,
          missing.flatMap((passage, index) => {
            const meaning = meanings[index];
            return meaning ? [{ ...passage, meaning }] : [];
          }),
        );
        if (version !== known.version && known.version) {
          // The server gives other numbers than before: the passages from `from` to `to` have none of the new ones yet.
          known = anew(version);
          continue;
        }
        const refusedNow = missing.flatMap(({ text }, index) => (meanings[index] ? [] : [hashOf(text)]));
        known = { ...known, version, refused: [...refused, ...refusedNow].slice(-refusedAtMost) };
        count ??= await countMeanings(db, version);
        count.done += missing.length;
        await progress(Math.min(count.done, count.total), count.total);
      }
      const seqs = passages.map(({ seq }) => seq);
      known = { ...known, from: Math.min(known.from, ...seqs), to: Math.max(known.to, ...seqs) };
      await remember(JSON.stringify(known));
      await setImmediate();
    }
  },
});

/**
 * Meanings of texts. If a server refuses them together, it gets each by itself: undefined for a text that it refuses as too long, or on
 * which it fails always (`bge-m3` in Ollama fails on some texts). Rejects if the server fails on a plain word as well.
 */
async function askOneByOneIfRefused(
  ask: (texts: string[]) => Promise<Meaning[]>,
  texts: string[],
): Promise<(Meaning | undefined)[]> {
  try {
    return await ask(texts);
  } catch (error) {
    if (!isAboutTexts(error)) throw error;
  }
  await ask(["palabra"]);
  const meanings: (Meaning | undefined)[] = [];
  for (const text of texts) {
    const [meaning] = await ask([text]).catch((error) => {
      if (isAboutTexts(error)) return [];
      throw error;
    });
    meanings.push(meaning);
  }
  return meanings;
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 12);

/** Whether a failure may be due to one of the texts: the server has answered, and others would get another answer. */
const isAboutTexts = (error: unknown) =>
  error instanceof ReplyError &&
  (error.status === 413 || ["parameter", "broken", "nonsense"].includes(error.kind ?? ""));

async function newestPassage(db: Db): Promise<number> {
  const row = await db.selectFrom("passages").orderBy("seq", "desc").limit(1).select("seq").executeTakeFirst();
  return Number(row?.seq ?? 0);
}

/** The next passages after those that are known, or before them if there is none after. */
async function nextPassages(db: Db, { from, to }: Memory): Promise<Passage[]> {
  const passages = db
    .selectFrom("passages as p")
    .leftJoin("files as f", "f.id", "p.fileId")
    .leftJoin("trainings as t", "t.id", "p.trainingId")
    // Files of a temporary conversation are for its model alone.
    .where("f.sessionId", "is", null)
    .limit(passagesAtOnce)
    .select(["p.seq", "p.ownerId", "p.fileId", "p.messageId", "p.text"])
    .select((e) => e.fn.coalesce("f.name", "t.title").as("title"));
  const after = await passages.where("p.seq", ">", to).orderBy("p.seq").execute();
  const rows = after.length > 0 ? after : await passages.where("p.seq", "<", from).orderBy("p.seq", "desc").execute();
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

async function withoutVector(db: Db, passages: Passage[], version: string): Promise<Passage[]> {
  const rows = await db
    .selectFrom("vectors")
    .where(
      "seq",
      "in",
      passages.map(({ seq }) => seq),
    )
    .where("version", "=", version)
    .select("seq")
    .execute();
  const known = new Set(rows.map(({ seq }) => Number(seq)));
  return passages.filter(({ seq }) => !known.has(seq));
}

async function countMeanings(db: Db, version: string): Promise<{ done: number; total: number }> {
  const { rows } = await sql<{ done: number; total: number }>`select
    (select count(*) from vectors where version = ${version}) as done, (select count(*) from passages) as total`.execute(
    db,
  );
  return { done: Number(rows[0]?.done), total: Number(rows[0]?.total) };
}

/** Deletes the vectors once the last search model is deleted, as nobody compares them any more; one that is only disabled keeps them. */
async function forgetWithoutModels(db: Db): Promise<void> {
  if (await db.selectFrom("searchModels").select("id").limit(1).executeTakeFirst()) return;
  for (;;) {
    const { numDeletedRows } = await db
      .deleteFrom("vectors")
      .where("seq", "in", (e) => e.selectFrom("vectors").select("seq").limit(forgottenAtOnce))
      .executeTakeFirst();
    if (numDeletedRows === 0n) return;
    await setImmediate();
  }
}
