// How many small mistakes in the code the tests would notice: `npm run test:mutaciones`, or with another number of mistakes,
// `npm run test:mutaciones -- 40`. The sample is the same each time; 200 take a few hours.
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import pLimit from "p-limit";
import { always } from "../long.ts";
import { copy, type Mutant, makeProject } from "./project.ts";
import { kindOf, reach, runWith } from "./suite.ts";

const wanted = Number(process.argv[2] ?? 200);
const folders = ["app/api/", "app/replies/", "app/db/", "app/files/", "app/routes/", "app/markdown/"];
// In ms of tests for one mistake. A mutant that they have not noticed by then counts as unnoticed.
const budget = 240_000;
// In ms: test files are batched until they took this long in the first run.
const together = 20_000;
const good = 75;

const mutants = await makeProject(folders);
console.log(`${mutants.length} errores posibles; se prueban ${wanted}.`);

const atOnce = pLimit(2);
// All that every change goes through, and Chromium's thirds. Only tests in subfolders of tests/: those directly in it check the source
// text, which the mutations change.
const files = globSync("tests/*/**/*.{test,spec}.ts", { cwd: copy }).filter(
  (file) => !/[-.]long\./.test(file) || always.includes(file),
);
type Test = Awaited<ReturnType<typeof reachTwice>>;
const tests: Test[] = await Promise.all(files.map((file) => atOnce(() => reachTwice(file))));
const broken = tests.filter(({ passed }) => !passed);
if (broken.length > 0) throw new Error(`Sin errores ya fallan: ${broken.map(({ file }) => file).join(", ")}`);

// Code that no test in Node comes across runs only in a browser, or is not tested at all.
const reached = mutants.filter(({ id }) => tests.some((test) => test.reached.has(id)));
console.log(`Las pruebas pasan por ${reached.length} de ${mutants.length}.`);
const sample = shuffled(reached).slice(0, wanted);
const unnoticed: string[] = [];
let done = 0;
await Promise.all(sample.map((mutant) => atOnce(() => judge(mutant))));

const score = Math.round((100 * (sample.length - unnoticed.length)) / sample.length);
console.log(
  `\nNo se notan:\n${unnoticed.sort().join("\n")}\n\n${score} % de ${sample.length} se notan (se espera ${good} %).`,
);
process.exit(score >= good ? 0 : 1);

/** Once more where it fails, as a busy machine makes some tests do. */
async function reachTwice(file: string) {
  const first = await reach(file);
  return { file, ...(first.passed ? first : await reach(file)) };
}

async function judge(mutant: Mutant): Promise<void> {
  const noticed = await isNoticed(mutant);
  const said = `${mutant.file}:${mutant.line} ${mutant.kind} → ${mutant.instead}`;
  if (!noticed) unnoticed.push(said);
  console.log(`${++done}/${sample.length} ${noticed ? "se nota" : "NO SE NOTA"} ${said}`);
}

/** The quickest tests that come across it first; each has five times its own time, as a busy machine is slow and what does not end counts as noticed. */
async function isNoticed({ id }: Mutant): Promise<boolean> {
  let spent = 0;
  for (const batch of batches(tests.filter(({ reached }) => reached.has(id)).sort((a, b) => a.ms - b.ms))) {
    if (spent > budget) return false;
    const took = batch.reduce((sum, { ms }) => sum + ms, 0);
    const outcome = await runWith(
      id,
      batch.map(({ file }) => file),
      5 * took + 20_000,
    );
    if (!outcome.passed) return true;
    spent += outcome.ms;
  }
  return false;
}

/** Test files that are started together, as starting takes longer than many of them: a few seconds' worth, of one program. */
function batches(sorted: Test[]): Test[][] {
  const made: Test[][] = [];
  for (const test of sorted) {
    const last = made.at(-1);
    const took = last?.reduce((sum, { ms }) => sum + ms, 0) ?? 0;
    const kind = kindOf(test.file);
    if (last?.[0] && kindOf(last[0].file) === kind && kind !== "chromium" && took < together) last.push(test);
    else made.push([test]);
  }
  return made;
}

/** A pseudo-random order by a hash of the file, line and replacement of a mutant: each run takes the same sample. */
function shuffled(all: Mutant[]): Mutant[] {
  const place = ({ id, ...what }: Mutant) => createHash("sha256").update(JSON.stringify(what)).digest("hex");
  const places = new Map(all.map((mutant) => [mutant, place(mutant)]));
  return all.toSorted((a, b) => (places.get(a) ?? "").localeCompare(places.get(b) ?? ""));
}
