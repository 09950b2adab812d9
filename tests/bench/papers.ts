// How much of papers is read, by kind: words, their order and the time, beside poppler and pandoc where they are there. `npm run bench -- read`.
import { spawnSync } from "node:child_process";
import { extname, join } from "node:path";
import { isPicture, papers, readPaper, rightText } from "../papers/reading.ts";

type Read = {
  words: number;
  found: number;
  moved: number;
  pairs: number;
  ms: number;
  files: number;
  refused: string[];
};

// The mark of a note stands apart from its word, however it is written; a power is one word with what it is of.
const wordsIn = (text: string) =>
  text
    .replace(/(?<=\p{L}{2})[¹²³⁰⁴-⁹ⁱ]+/gu, " ")
    .replace(/(?<=\w)\^(?=\w)/g, "")
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+(?:[.,:/%-][\p{L}\p{N}]+)*/gu) ?? [];

// Words that the right texts have of their own: ticks, and what comes beside a text.
const notes = /\[[x ]\]|\([x ]\)|^(?:Asunto|Notas|Nota de [^:]*|Comentario de [^:]*):|\(cifrado, no se puede leer\)/gm;

/** Prints a line for each kind of paper. Returns whether 99 % of words are read of documents, 95 % of scans. */
export async function readPapers(): Promise<boolean> {
  const kinds = new Map<string, Read>();
  const others = new Map<string, Read>();
  for (const name of papers) {
    const kind = isPicture(name) ? "scans and photos" : extname(name).slice(1);
    const begun = performance.now();
    const text = await readPaper(name).catch((error: Error) => error);
    if (text === undefined) continue;
    const right = wordsIn(rightText(name).replace(notes, ""));
    const took = performance.now() - begun;
    count(kinds, kind, right, text instanceof Error ? [] : wordsIn(text), took);
    if (text instanceof Error) kinds.get(kind)?.refused.push(`${name} ${text.message}`);
    const judged = judge(name);
    if (judged !== undefined) count(others, kind, right, wordsIn(judged), 0);
  }
  let isReached = true;
  console.log("  kind               files   words   order      ms   by poppler or pandoc");
  for (const [kind, read] of kinds) {
    const other = others.get(kind);
    const reached = share(read) >= (kind === "scans and photos" ? 0.95 : 0.99);
    isReached &&= reached || read.refused.length === 0;
    console.log(
      `${reached ? "✓" : "✗"} ${kind.padEnd(18)} ${String(read.files).padStart(5)} ${percent(share(read))} ${percent(order(read))} ${(read.ms / read.files).toFixed(0).padStart(7)}   ${other ? `${percent(share(other))} ${percent(order(other))}` : ""}`,
    );
    for (const one of read.refused) console.log(`    ${one}`);
  }
  return isReached;
}

const share = ({ found, words }: Read) => found / words;
/** Share of neighbouring words that stand in another order. */
const order = ({ moved, pairs }: Read) => (pairs === 0 ? 0 : moved / pairs);
const percent = (part: number) => `${(100 * part).toFixed(1)} %`.padStart(7);

function count(kinds: Map<string, Read>, kind: string, right: string[], got: string[], ms: number): void {
  const read = kinds.get(kind) ?? { words: 0, found: 0, moved: 0, pairs: 0, ms: 0, files: 0, refused: [] };
  kinds.set(kind, read);
  const places = Map.groupBy(got.keys(), (at) => got[at] ?? "");
  read.files++;
  read.ms += ms;
  read.words += right.length;
  let last: number | undefined;
  for (const word of right) {
    const at = places.get(word)?.shift();
    if (at === undefined) continue;
    read.found++;
    if (last !== undefined) {
      read.pairs++;
      if (at < last) read.moved++;
    }
    last = at;
  }
}

/** The text of a paper by a program that somebody else wrote; undefined if none reads it or is there. */
function judge(name: string): string | undefined {
  const path = join(import.meta.dirname, "../papers/set", name);
  const [program, ...given] = name.endsWith(".pdf")
    ? ["pdftotext", path, "-"]
    : /\.(?:docx|odt|epub|html|rtf)$/.test(name)
      ? ["pandoc", "-t", "plain", "--wrap=none", path]
      : [];
  if (!program) return undefined;
  const { status, stdout } = spawnSync(program, given, { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
