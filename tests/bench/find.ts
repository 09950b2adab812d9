// How well search finds: documents and questions of several kinds, made up, in tests/bench/find, beside plain BM25. `npm run bench -- find`
// asks the questions that search may be made better by; `npm run bench -- find kept` those that are kept apart: the other half of them,
// and a hundred and fifty over other documents, written by somebody who had not seen the code. They only measure: nothing is tuned by them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { searchPassages } from "../../app/db/search/find.server.ts";
import { storeMeanings } from "../../app/db/search/meaning.server.ts";
import { cutPassages } from "../../app/db/search/passages.server.ts";
import { learnWords, wordsIn } from "../../app/db/search/spelling.server.ts";
import { isLittle } from "../../app/replies/prompt/other-words.server.ts";
import { openApi } from "../support/api.ts";
import { queryEngines, type TestEngine } from "../support/engines.ts";
import { finish, percentile } from "./figures.ts";
import { standIn } from "./find-stand-in.ts";

type Question = { kind: string; question: string; document: string; answer: string };
type Finder = (question: string) => Promise<{ document: string; text: string }[]>;

const among = 6;
const folder = join(import.meta.dirname, "find");
const isShown = process.argv.includes("missed");
type QuestionSet = { name: string; documents: string; questions: string; otherWords?: Record<string, string[]> };
// Said by a language model that saw the questions alone, with the instructions of `other-words.server.ts`.
const otherWords = () =>
  JSON.parse(readFileSync(join(folder, "kept/other-words.json"), "utf8")) as Record<string, string[]>;
const sets: QuestionSet[] = process.argv.includes("kept")
  ? [
      { name: "kept half", documents: "documents", questions: "kept/own-half.json", otherWords: otherWords() },
      {
        name: "kept, of others",
        documents: "kept/documents",
        questions: "kept/questions.json",
        otherWords: otherWords(),
      },
    ]
  : [{ name: "to work with", documents: "documents", questions: "questions.json" }];
let documents: { name: string; path: string; text: string }[] = [];
let questions: Question[] = [];

for (const set of sets) {
  documents = readdirSync(join(folder, set.documents)).map((name) => {
    const path = join(folder, set.documents, name);
    return { name, path, text: readFileSync(path, "utf8") };
  });
  questions = JSON.parse(readFileSync(join(folder, set.questions), "utf8")) as Question[];
  console.log(`\n# ${set.name}: ${questions.length} questions over ${documents.length} documents`);
  await measure("plain BM25 (words as they are written)", plainBm25());
  for (const engine of await queryEngines()) await measureOn(engine, set);
}
finish();

async function measureOn(engine: TestEngine, set: QuestionSet): Promise<void> {
  const api = await openApi(engine);
  const ana = await api.signUp("Ana");
  const { files } = api.services;
  const names = new Map<string, string>();
  for (const { name, path, text } of documents) {
    const sent = { path, name, size: Buffer.byteLength(text) };
    const row = await files.take(sent, { userId: ana.id, projectId: null, temporary: false });
    await files.settled([row], 20_000);
    names.set(row.id, name);
  }
  const passages = await api.db.selectFrom("passages").select("words").execute();
  await learnWords(
    api.db,
    passages.flatMap(({ words }) => wordsIn(words)),
  );
  await measure(`${engine.name}, by words alone`, async (question) => {
    const hits = await searchPassages(api.db, engine.name, { question, owners: [ana.id], except: [], limit: among });
    return hits.map(({ fileId, text }) => ({ document: names.get(fileId ?? "") ?? "", text }));
  });
  if (set.otherWords) {
    await measure(`${engine.name}, by words, with a model that helps where they find little`, async (question) => {
      const search = { question, owners: [ana.id], except: [], limit: among };
      const hits = await searchPassages(api.db, engine.name, search);
      const otherwise = isLittle(question, hits) ? (set.otherWords?.[question] ?? []) : [];
      const all = otherwise.length > 0 ? await searchPassages(api.db, engine.name, { ...search, otherwise }) : hits;
      return all.map(({ fileId, text }) => ({ document: names.get(fileId ?? "") ?? "", text }));
    });
  }
  const meaningOf = standIn(questions);
  const stored = await api.db
    .selectFrom("passages")
    .select(["seq", "ownerId", "fileId", "messageId", "text"])
    .execute();
  await storeMeanings(
    api.db,
    engine.name,
    stored.map((row) => ({ ...row, seq: Number(row.seq), meaning: meaningOf(row.text) })),
  );
  await measure(`${engine.name}, both ways, with a stand-in for a model (see find-stand-in.ts)`, async (question) => {
    const search = { question, meaning: meaningOf(question), owners: [ana.id], except: [], limit: among };
    const hits = await searchPassages(api.db, engine.name, search);
    return hits.map(({ fileId, text }) => ({ document: names.get(fileId ?? "") ?? "", text }));
  });
  await api.close();
}

/** SQLite's full-text search by itself over the same passages. */
function plainBm25(): Finder {
  const db = new DatabaseSync(":memory:");
  db.exec("create virtual table p using fts5(document unindexed, text, tokenize='unicode61')");
  const add = db.prepare("insert into p values (?, ?)");
  for (const { name, text } of documents) for (const passage of cutPassages(text)) add.run(name, passage);
  const find = db.prepare(`select document, text from p where p match ? order by rank limit ${among}`);
  return async (question) => {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    return find.all(words.map((word) => `"${word}"`).join(" OR ")) as { document: string; text: string }[];
  };
}

/** Prints of each kind, and of all, how many answers are in the first passage and among the first six. */
async function measure(name: string, find: Finder): Promise<void> {
  const kinds = Map.groupBy(questions, ({ kind }) => kind);
  const totals = { first: 0, among: 0 };
  const times: number[] = [];
  console.log(`\n${name}`);
  for (const [kind, asked] of kinds) {
    const found = { first: 0, among: 0 };
    for (const { question, document, answer } of asked) {
      const begun = performance.now();
      const hits = await find(question);
      times.push(performance.now() - begun);
      const at = hits.findIndex((hit) => hit.document === document && plain(hit.text).includes(plain(answer)));
      if (at === 0) found.first++;
      if (at >= 0) found.among++;
      else if (isShown) console.log(`    ✗ ${question}  [${document}: ${answer}]`);
    }
    totals.first += found.first;
    totals.among += found.among;
    say(kind, found, asked.length);
  }
  say("all", totals, questions.length);
  console.log(`  one question: p50 ${percentile(times, 50).toFixed(1)} ms, p95 ${percentile(times, 95).toFixed(1)} ms`);
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ");
}

function say(kind: string, found: { first: number; among: number }, of: number): void {
  const percent = (count: number) => `${Math.round((count / of) * 100)} %`.padStart(6);
  console.log(`  ${kind.padEnd(14)} first ${percent(found.first)}   among ${among} ${percent(found.among)}`);
}
