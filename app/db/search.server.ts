import { stemmer } from "@orama/stemmers/spanish";
import { sql } from "kysely";
import { limits } from "../process/limits.ts";
import type { Db, Engine } from "./connection.server.ts";
import { prepared } from "./prepared.server.ts";
import type { PassageRow } from "./tables.ts";

const passageLength = 900;

// Stop words: they would match every message.
const stopWords = new Set(
  "a al algo como con cual cuales cuando cuanto cuantos de del desde donde el ella ellos en entre era es esa ese eso esta este esto estos fue ha haber hace hay he la las le les lo los mas me mi mis muy nada ni no nos o os para pero por porque puede pueden que quien quienes se ser si sin sobre son soy su sus te tengo ti tiene todo tu tus un una uno unos y ya yo".split(
    " ",
  ),
);

const longestWord = 60;

/** Lowercase words without accents (ñ stays: «ano» is not «año»), stemmed with Snowball's Spanish rules. */
export function searchWords(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .normalize("NFC")
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  // Longer than any real word. Stemming a word of a hundred thousand letters would take minutes.
  const short = words.filter((word) => word.length <= longestWord);
  return short.map((word) => fold(singular(stemmer(word)))).filter((word) => word.length > 0);
}

// Snowball keeps the plural of short words: «años» would not find «año».
const singular = (stem: string) => (stem.length > 3 ? stem.replace(/(?<=[aeiou])s$/, "") : stem);

function fold(word: string): string {
  return word.replaceAll("ñ", "\u0001").normalize("NFD").replace(/\p{M}/gu, "").replaceAll("\u0001", "ñ");
}

/** The words of a question without stop words; all of them if it has only stop words. */
function questionWords(question: string): string[] {
  const asked =
    question
      .toLowerCase()
      .normalize("NFC")
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = asked.filter((word) => !stopWords.has(fold(word)) && word.length > 1);
  return [...new Set(searchWords((telling.length > 0 ? telling : asked).join(" ")))].slice(0, 24);
}

/** The owner id of passages that everyone may find. */
export const everyone = "";

const ownerWord = (ownerId: string) => `u${ownerId.replaceAll("-", "") || "paratodos"}`;

/** Cuts a text into passages at paragraph, sentence or word ends. */
export function cutPassages(text: string): string[] {
  const passages: string[] = [];
  let rest = text.trim();
  while (rest.length > passageLength) {
    const window = rest.slice(0, passageLength);
    const end =
      [/\n\s*\n(?![\s\S]*\n\s*\n)/, /[.!?…]\s(?![\s\S]*[.!?…]\s)/, /\s(?!\S*\s)(?=\S*$)/]
        .map((edge) => window.search(edge))
        .find((at) => at > passageLength / 3) ?? passageLength - 1;
    passages.push(rest.slice(0, end + 1).trim());
    rest = rest.slice(end + 1).trim();
  }
  if (rest) passages.push(rest);
  return passages;
}

/** Indexes a message or training for its owner. Call it in the transaction that stores the text. */
export async function indexText(
  db: Db,
  text: string,
  ownerId: string,
  refers: Partial<Pick<PassageRow, "messageId" | "trainingId" | "chatId">>,
): Promise<void> {
  const rows = cutPassages(text).map((passage) => ({
    ...noReference,
    ...refers,
    ownerId,
    text: passage,
    words: [ownerWord(ownerId), ...searchWords(passage)].join(" "),
  }));
  for (const row of rows) await insertPassage(db, row);
}

const insertPassage = prepared((db, row: Omit<PassageRow, "seq">) => db.insertInto("passages").values(row));

type Cut = Pick<PassageRow, "text" | "words"> & Partial<Pick<PassageRow, "position" | "page">>;

/** Indexes passages that were cut elsewhere; their `words` come from `searchWords`. */
export async function indexPassages(
  db: Db,
  ownerId: string,
  refers: Partial<Pick<PassageRow, "messageId" | "chatId" | "fileId">>,
  passages: Cut[],
): Promise<void> {
  if (passages.length === 0) return;
  const rows = passages.map((passage) => ({
    ...noReference,
    ...refers,
    ...passage,
    ownerId,
    words: `${ownerWord(ownerId)} ${passage.words}`,
  }));
  await db.insertInto("passages").values(rows).execute();
}

const noReference = { messageId: null, trainingId: null, chatId: null, fileId: null, position: null, page: null };

export type Hit = Omit<PassageRow, "seq" | "words" | "ownerId">;

type Search = {
  question: string;
  owners: string[];
  /** Messages to leave out. */
  except: string[];
  /** false: no messages are searched. */
  messages?: boolean;
  /** Only the passages of these files; without it, of all the owners' files. */
  files?: string[];
  limit: number;
};

/**
 * The passages that best answer a question, among those of the owners, best first.
 * The question itself belongs in `except`, because it would be its own best answer.
 */
export function searchPassages(db: Db, engine: Engine, search: Search): Promise<Hit[]> {
  return findPassages(db, engine, search, questionWords(search.question), "any");
}

/** The passages that contain all words of a search field, the last one as a prefix; best first. */
export function searchTyped(db: Db, engine: Engine, search: Search): Promise<Hit[]> {
  return findPassages(db, engine, search, questionWords(search.question), "all");
}

async function findPassages(
  db: Db,
  engine: Engine,
  { owners, except, messages, files, limit }: Search,
  words: string[],
  wanted: "any" | "all",
): Promise<Hit[]> {
  if (words.length === 0) return [];
  const hidden = sql.join([...except, ""]);
  const owned = sql`p."ownerId" in (${sql.join(owners)})`;
  const ownerWords = owners.map(ownerWord);
  const columns = sql`p."messageId", p."trainingId", p."chatId", p."fileId", p.position, p.page, p.text`;
  const ofMessages = messages === false ? sql`p."messageId" is null` : sql`1 = 1`;
  const ofFiles = files ? sql`(p."fileId" is null or p."fileId" in (${sql.join([...files, ""])}))` : sql`1 = 1`;
  const { rows } =
    engine === "sqlite"
      ? await sql<Hit>`
          select ${columns} from passages_index i join passages p on p.seq = i.rowid
          where passages_index match ${`(${quoted(ownerWords, " OR ")}) AND (${wanted === "any" ? quoted(words, " OR ") : `${quoted(words, " AND ")}${openEnd(words, " *")}`})`}
            and ${owned} and coalesce(p."messageId", '-') not in (${hidden}) and ${ofMessages} and ${ofFiles}
          order by rank limit ${limit}`.execute(db)
      : await sql<Hit>`
          select ${columns} from passages p, to_tsquery('simple', ${`(${ownerWords.join("|")}) & (${wanted === "any" ? words.join("|") : `${words.join("&")}${openEnd(words, ":*")}`})`}) q
          where p.vector @@ q and ${owned} and coalesce(p."messageId", '-') not in (${hidden}) and ${ofMessages} and ${ofFiles}
          order by ts_rank(p.vector, q, 1) desc, p.seq desc limit ${limit}`.execute(db);
  return rows;
}

// A passage is quoted beside the best one if it has at least this share of the best one's matching words.
const nearlyAsGood = 0.7;
// Two passages with at least this Jaccard similarity count as the same.
const alike = 0.75;

/** Filters hits (best first): keeps those nearly as good as the best one, without near-duplicates. */
export function bestHits(question: string, hits: Hit[]): Hit[] {
  const asked = questionWords(question);
  const found = hits.map((hit) => ({ hit, words: new Set(searchWords(hit.text)) }));
  const answered = ({ words }: { words: Set<string> }) => asked.filter((word) => words.has(word)).length;
  const best = Math.max(0, ...found.map(answered));
  const kept: typeof found = [];
  for (const one of found) {
    const repeats = kept.some(({ words }) => overlap(words, one.words) > alike);
    if (answered(one) >= best * nearlyAsGood && !repeats) kept.push(one);
  }
  return kept.map(({ hit }) => hit);
}

/** Jaccard similarity of two sets, from 0 to 1. */
function overlap(a: Set<string>, b: Set<string>): number {
  const shared = a.intersection(b).size;
  return shared / Math.max(1, a.size + b.size - shared);
}

/**
 * A subquery of ids: the newest messages that contain all words of a search field, of one owner or of all. Limited to the newest,
 * so that a common word costs no more than a rare one.
 */
export function messagesSaying(engine: Engine, typed: string, ownerId: string | undefined) {
  const words = questionWords(typed);
  if (words.length === 0) return sql<string>`(select '')`;
  const owner = ownerId === undefined ? [] : [ownerWord(ownerId)];
  const owned = ownerId === undefined ? sql`1 = 1` : sql`p."ownerId" = ${ownerId}`;
  const found = sql`${owned} and p."messageId" is not null`;
  const most = limits.listSearched;
  return engine === "sqlite"
    ? sql<string>`(select p."messageId" from passages_index i join passages p on p.seq = i.rowid
        where passages_index match ${`${quoted([...owner, ...words], " AND ")}${openEnd(words, " *")}`} and ${found}
        order by i.rowid desc limit ${most})`
    : sql<string>`(select p."messageId" from passages p
        where p.vector @@ to_tsquery('simple', ${`${[...owner, ...words].join("&")}${openEnd(words, ":*")}`}) and ${found}
        order by p.seq desc limit ${most})`;
}

// A prefix of one or two letters matches too many words.
const openEnd = (words: string[], mark: string) => ((words.at(-1)?.length ?? 0) > 2 ? mark : "");

const quoted = (words: string[], between: string) => words.map((word) => `"${word}"`).join(between);

export type Excerpt = { text: string; hit: boolean }[];

const excerptLength = 220;

/** An excerpt around the first match, cut into parts at the matching words so that they can be marked. */
export function excerptOf(text: string, question: string): Excerpt {
  const words = new Set(questionWords(question));
  const begun = [...words].at(-1) ?? "";
  const isHit = (word: string) => {
    const [stem = ""] = searchWords(word);
    return words.has(stem) || (begun.length > 2 && stem.startsWith(begun));
  };
  const hits = [...text.matchAll(/[\p{L}\p{N}]+/gu)].filter(([word]) => isHit(word));
  const first = hits[0]?.index ?? 0;
  const space = text.indexOf(" ", Math.max(0, first - excerptLength / 3));
  const start = first < excerptLength / 3 ? 0 : space < 0 || space >= first ? first : space + 1;
  const end = Math.min(text.length, start + excerptLength);
  const parts: Excerpt = start > 0 ? [{ text: "…", hit: false }] : [];
  let at = start;
  for (const { 0: word, index } of hits) {
    if (index < start || index + word.length > end) continue;
    parts.push({ text: text.slice(at, index), hit: false }, { text: word, hit: true });
    at = index + word.length;
  }
  parts.push({ text: text.slice(at, end) + (end < text.length ? "…" : ""), hit: false });
  return parts.filter((part) => part.text !== "").map(({ text, hit }) => ({ text: text.toWellFormed(), hit }));
}
