// All papers of the set in one account, and what a clerk asks about them: how many answers are in the first passage and among six.
import { statSync } from "node:fs";
import { join } from "node:path";
import { searchPassages } from "../../app/db/search/find.server.ts";
import { learnWords, wordsIn } from "../../app/db/search/spelling.server.ts";
import { papers, questions, says } from "../papers/reading.ts";
import { openApi } from "../support/api.ts";
import type { TestEngine } from "../support/engines.ts";

const among = 6;
// In ms: between two looks at what is still being read.
const lookEvery = 500;

/** Prints how many of the questions are answered. Returns whether those are 95 %, as a clerk may expect. */
export async function askPapers(engine: TestEngine): Promise<boolean> {
  const api = await openApi(engine);
  const { id: userId } = await api.signUp("Ana");
  const { files } = api.services;
  const keep = { userId, projectId: null, temporary: false };
  for (const name of papers.filter((one) => !one.endsWith(".zip"))) {
    const path = join(import.meta.dirname, "../papers/set", name);
    const row = await files.take({ path, name, size: statSync(path).size }, keep);
    if (row.mediaType.startsWith("image/")) await files.readPicture(row);
  }
  const unread = api.db.selectFrom("jobs").where("state", "in", ["waiting", "running"]).select("id");
  while (await unread.where("kind", "in", ["file", "picture"]).executeTakeFirst()) {
    await new Promise((resolve) => setTimeout(resolve, lookEvery));
  }
  const passages = await api.db.selectFrom("passages").select("words").execute();
  await learnWords(
    api.db,
    passages.flatMap(({ words }) => wordsIn(words)),
  );
  const asked = questions.filter(({ file, gap }) => !gap && !file.endsWith(".zip"));
  const found = { first: 0, among: 0 };
  for (const { ask: question, answer, file } of asked) {
    const hits = await searchPassages(api.db, engine.name, { question, owners: [userId], except: [], limit: among });
    const at = hits.findIndex(({ text }) => says(text, answer));
    if (at === 0) found.first++;
    if (at >= 0) found.among++;
    else console.log(`    ✗ ${file}: ${question} ${answer}`);
  }
  await api.close();
  const percent = (count: number) => `${Math.round((100 * count) / asked.length)} %`;
  const isReached = found.among >= 0.95 * asked.length;
  console.log(
    `${isReached ? "✓" : "✗"} ${asked.length} questions over all papers at once: first ${percent(found.first)}, among ${among} ${percent(found.among)}`,
  );
  return isReached;
}
