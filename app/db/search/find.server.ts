import { sql } from "kysely";
import { limits } from "../../process/limits.ts";
import type { Db, Engine } from "../engine.server.ts";
import type { PassageRow } from "../tables.ts";
import { isEnglish } from "./english.server.ts";
import { type Meaning, nearestPassages } from "./meaning.server.ts";
import { ownerWord } from "./passages.server.ts";
import { rank } from "./rank.server.ts";
import { countedAtMost, type Saying, termsOf } from "./terms.server.ts";
import { questionWords, searchWords, typedWords, withTilde } from "./words.server.ts";

export type Hit = Omit<PassageRow, "seq" | "words" | "ownerId">;
/** `covered`: how many of the question's words the hit has, in some form; `near`: whether its meaning is much nearer than the average. */
export type RankedHit = Hit & { covered: number; near: boolean };

type Search = {
  question: string;
  /** Other wordings of the question, which are searched too. */
  otherwise?: string[];
  /** Meaning of the question, if there is a search model to give it. */
  meaning?: Meaning | undefined;
  owners: string[];
  /** Messages to leave out. */
  except: string[];
  /** false: no messages are searched. */
  messages?: boolean;
  /** Only passages of these files are searched; undefined: those of all the owners' files. */
  files?: string[];
  limit: number;
};

// Passages that the engine finds by its own measure, to be ranked here.
const candidates = 200;

/**
 * The passages that best answer a question, among those of the owners, best first: by its words, and by its meaning if that is given.
 * The question itself belongs in `except`, because it would be its own best answer.
 */
export async function searchPassages(db: Db, engine: Engine, search: Search): Promise<RankedHit[]> {
  const asked = [search.question, ...(search.otherwise ?? [])];
  const lists = await Promise.all([
    ...asked.map(async (question, index) => ({
      weight: index === 0 ? 1 : weightOtherwise,
      hits: await findSaid(db, engine, { ...search, question }),
    })),
    findMeant(db, engine, search).then((hits) => ({ weight: 1, hits })),
  ]);
  const hits = distinct(joined(lists), search.limit);
  return (await withRestOfPaper(db, search, hits)).map(({ seq: _, ...hit }) => hit);
}

// Passages of a short paper, such as a letter or an invoice.
const shortPaper = 6;
// Share of the question's words with which a passage is likely to answer it by itself.
const wholeAnswer = 0.8;

/**
 * Puts the rest of the first hit's paper in the last places, if the paper is short, and the hit has more of the question's words than
 * hits elsewhere, but not nearly all: «Solicitud de Ana Ruiz» names the paper, and the account that is asked for stands further down
 * without any of those words.
 */
async function withRestOfPaper(db: Db, { question, owners, limit }: Search, hits: Found[]): Promise<Found[]> {
  const [first] = hits;
  if (!first?.fileId || first.covered >= questionWords(question).length * wholeAnswer) return hits;
  const isOfPaper = ({ fileId }: Hit) => fileId === first.fileId;
  if (hits.some((hit) => !isOfPaper(hit) && hit.covered >= first.covered)) return hits;
  const rows = await db
    .selectFrom("passages")
    .where("fileId", "=", first.fileId)
    .where("ownerId", "in", owners)
    .orderBy("position")
    .limit(shortPaper + 1)
    .select(["seq", "messageId", "trainingId", "chatId", "fileId", "position", "page", "text"])
    .execute();
  if (rows.length > shortPaper) return hits;
  const rest = rows
    .map((row) => ({ ...row, seq: Number(row.seq), covered: 0, near: false }))
    .filter(({ seq }) => hits.every((hit) => hit.seq !== seq))
    .slice(0, Math.floor(limit / 2));
  const own = hits.filter(isOfPaper).length;
  let places = limit - rest.length - own;
  return [...hits.filter((hit) => isOfPaper(hit) || places-- > 0), ...rest].slice(0, limit);
}

type Found = RankedHit & { seq: number };

async function findSaid(db: Db, engine: Engine, search: Search): Promise<Found[]> {
  const words = questionWords(search.question);
  if (words.length === 0) return [];
  const { terms, total } = await termsOf(db, engine, search.owners, words, isEnglish(search.question));
  const found = await findCandidates(db, engine, { ...search, limit: candidates }, terms.flat());
  const ranks = rank(
    found.map((hit) => hit.words.split(" ")),
    terms,
    total,
  );
  return (
    found
      .map(({ words: _, ...hit }, index) => ({ ...hit, ...(ranks[index] ?? { score: 0, covered: 0 }), near: false }))
      // At equal scores, the newer version of a document comes first.
      .sort((a, b) => b.score - a.score || b.seq - a.seq)
      .map(({ score: _, ...hit }) => hit)
  );
}

// Further down the list, the order of meanings says nothing any more.
const meantAtMost = 60;
// A meaning that is nearer than the average of the picked ones by this many standard deviations is about the same thing.
const standsOut = 2;

async function findMeant(db: Db, engine: Engine, search: Search): Promise<Found[]> {
  if (!search.meaning) return [];
  const nearest = await nearestPassages(db, engine, search, search.meaning);
  const mean = nearest.reduce((sum, { similarity }) => sum + similarity, 0) / Math.max(1, nearest.length);
  const variance =
    nearest.reduce((sum, { similarity }) => sum + (similarity - mean) ** 2, 0) / Math.max(1, nearest.length);
  const first = nearest.slice(0, meantAtMost);
  const hits = await readPassages(db, search, first);
  return first.flatMap(({ seq, similarity }) => {
    const hit = hits.get(seq);
    const near = similarity - mean >= standsOut * Math.sqrt(variance) && variance > 0;
    return hit ? [{ ...hit, covered: 0, near }] : [];
  });
}

// The constant of reciprocal rank fusion: how little the first places differ. With the usual 60, a passage anywhere in both lists
// goes before one that is first in a single list; with 8, the 9th place in both lists (of weight 1) equals the first place in one.
const flatness = 8;
// The person's own words count as much as two other wordings.
const weightOtherwise = 0.5;

/** Joins several lists into one by reciprocal rank: a hit that is high in two lists goes before one that is first in a single list. */
function joined(lists: { weight: number; hits: Found[] }[]): Found[] {
  const [only, ...others] = lists.filter((list) => list.hits.length > 0);
  if (!only || others.length === 0) return only?.hits ?? [];
  const hits = new Map<number, Found>();
  const scores = new Map<number, number>();
  for (const list of lists) {
    for (const [place, hit] of list.hits.entries()) {
      const known = hits.get(hit.seq);
      hits.set(hit.seq, known ? { ...known, near: known.near || hit.near } : hit);
      scores.set(hit.seq, (scores.get(hit.seq) ?? 0) + list.weight / (flatness + place));
    }
  }
  return [...hits.values()].sort((a, b) => (scores.get(b.seq) ?? 0) - (scores.get(a.seq) ?? 0));
}

/**
 * The passages to rank: those that have any of the words, leaving out words that thousands of passages have. If all words are that
 * common, the newest passages that have all of them, or else any of them: the engine would take too long to rank thousands.
 */
async function findCandidates(db: Db, engine: Engine, search: Search, said: Saying[]): Promise<Worded[]> {
  const telling = said.filter(({ found }) => found < countedAtMost);
  const words = [...new Set((telling.length > 0 ? telling : said).map(({ word }) => word))];
  if (words.length === 0) return [];
  const any = engine === "sqlite" ? quoted(words, " OR ") : words.join("|");
  if (telling.length > 0) return findPassages(db, engine, search, any);
  const all = engine === "sqlite" ? quoted(words, " AND ") : words.join("&");
  const found = await findPassages(db, engine, search, all, "newest");
  return found.length > 0 ? found : findPassages(db, engine, search, any, "newest");
}

// Share of the typed words that a passage needs if no passage has all of them.
const most = 0.6;

/**
 * The passages that contain all words of a search field, the last one as a prefix; best first. If there is none, those that have most
 * of the words, also as synonyms or in another spelling, and those with nearly the same meaning.
 */
export async function searchTyped(
  db: Db,
  engine: Engine,
  search: Search,
  meaningOf: (question: string) => Promise<Meaning | undefined>,
): Promise<Hit[]> {
  const words = typedWords(search.question);
  if (words.length === 0) return [];
  const all = await findPassages(db, engine, search, allOf(engine, words));
  if (all.length > 0) return all.map(({ words: _, seq: __, ...hit }) => hit);
  const alike = await searchPassages(db, engine, { ...search, meaning: await meaningOf(search.question) });
  return alike.filter(({ covered, near }) => near || covered >= words.length * most);
}

type Worded = Hit & Pick<PassageRow, "words"> & { seq: number };

async function findPassages(
  db: Db,
  engine: Engine,
  { owners, except, messages, files, limit }: Search,
  match: string,
  first: "best" | "newest" = "best",
): Promise<Worded[]> {
  const hidden = sql.join([...except, ""]);
  const owned = sql`p."ownerId" in (${sql.join(owners)})`;
  const ownerWords = owners.map(ownerWord);
  const columns = sql`p.seq, p."messageId", p."trainingId", p."chatId", p."fileId", p.position, p.page, p.text, p.words`;
  const ofMessages = messages === false ? sql`p."messageId" is null` : sql`1 = 1`;
  const ofFiles = files ? sql`(p."fileId" is null or p."fileId" in (${sql.join([...files, ""])}))` : sql`1 = 1`;
  const { rows } =
    engine === "sqlite"
      ? await sql<Worded>`
          select ${columns} from passages_index i join passages p on p.seq = i.rowid
          where passages_index match ${`(${quoted(ownerWords, " OR ")}) AND (${match})`}
            and ${owned} and coalesce(p."messageId", '-') not in (${hidden}) and ${ofMessages} and ${ofFiles}
          order by ${first === "best" ? sql`rank` : sql`i.rowid desc`} limit ${limit}`.execute(db)
      : await sql<Worded>`
          select ${columns} from passages p, to_tsquery('simple', ${`(${ownerWords.join("|")}) & (${match})`}) q
          where p.vector @@ q and ${owned} and coalesce(p."messageId", '-') not in (${hidden}) and ${ofMessages} and ${ofFiles}
          order by ${first === "best" ? sql`ts_rank(p.vector, q, 1) desc,` : sql``} p.seq desc limit ${limit}`.execute(
          db,
        );
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

/** Passages by their `seq`, without those that may not be found. */
async function readPassages(
  db: Db,
  { owners, except }: Search,
  passages: { seq: number }[],
): Promise<Map<number, Hit & { seq: number }>> {
  const rows = await db
    .selectFrom("passages")
    .where("seq", "in", [-1, ...passages.map(({ seq }) => seq)])
    .where("ownerId", "in", owners)
    .where((e) => e.or([e("messageId", "is", null), e("messageId", "not in", [...except, ""])]))
    .select(["seq", "messageId", "trainingId", "chatId", "fileId", "position", "page", "text"])
    .execute();
  return new Map(rows.map((row) => [Number(row.seq), { ...row, seq: Number(row.seq) }]));
}

// A passage is quoted beside the best one if it has at least this share of the best one's matching words.
const nearlyAsGood = 0.7;
// Two passages with at least this Jaccard similarity count as the same.
const alike = 0.75;

/** Filters hits (best first): keeps those nearly as good as the best one, or near by their meaning. */
export function bestHits(hits: RankedHit[]): RankedHit[] {
  const best = Math.max(0, ...hits.map(({ covered }) => covered));
  return hits.filter(({ covered, near }) => near || covered >= best * nearlyAsGood);
}

/** The first hits, without those that repeat an earlier hit, such as another version of a document or a quoted text. */
function distinct<Kind extends Hit>(hits: Kind[], limit: number): Kind[] {
  const kept: { hit: Kind; words: Set<string> }[] = [];
  for (const hit of hits) {
    if (kept.length >= limit) break;
    const words = new Set(searchWords(hit.text));
    if (!kept.some((one) => overlap(one.words, words) > alike)) kept.push({ hit, words });
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
  const words = typedWords(typed);
  if (words.length === 0) return sql<string>`(select '')`;
  const owner = ownerId === undefined ? [] : [ownerWord(ownerId)];
  const owned = ownerId === undefined ? sql`1 = 1` : sql`p."ownerId" = ${ownerId}`;
  const found = sql`${owned} and p."messageId" is not null`;
  const newest = limits.listSearched;
  return engine === "sqlite"
    ? sql<string>`(select p."messageId" from passages_index i join passages p on p.seq = i.rowid
        where passages_index match ${[...quotedEach(owner), allOf(engine, words)].join(" AND ")} and ${found}
        order by i.rowid desc limit ${newest})`
    : sql<string>`(select p."messageId" from passages p
        where p.vector @@ to_tsquery('simple', ${[...owner, allOf(engine, words)].join("&")}) and ${found}
        order by p.seq desc limit ${newest})`;
}

// A prefix of one or two letters matches too many words.
const shortestBeginning = 3;

/** The query for all words of a search field, each also with ñ where it has an n, the last one as a beginning. */
function allOf(engine: Engine, words: string[]): string {
  const each = words.map((word, at) => {
    const isBeginning = at === words.length - 1 && word.length >= shortestBeginning;
    const forms = [word, ...withTilde(word)];
    return engine === "sqlite"
      ? `(${quotedEach(forms)
          .map((form) => form + (isBeginning ? " *" : ""))
          .join(" OR ")})`
      : `(${forms.map((form) => form + (isBeginning ? ":*" : "")).join("|")})`;
  });
  return each.join(engine === "sqlite" ? " AND " : "&");
}

const quotedEach = (words: string[]) => words.map((word) => `"${word}"`);
const quoted = (words: string[], between: string) => quotedEach(words).join(between);
