import type { Db } from "../engine.server.ts";
import { prepared } from "../prepared.server.ts";
import type { PassageRow } from "../tables.ts";
import { searchWords } from "./words.server.ts";

const passageLength = 900;
// Longest row of a table's column names.
const columnsLength = passageLength / 3;
// A heading is cut to this length: a longer one is a text.
const headingLength = 120;

/** The owner id of passages that everyone may find. */
export const everyone = "";

/** The word by which the passages of an owner are found in the index. */
export const ownerWord = (ownerId: string) => `u${ownerId.replaceAll("-", "") || "paratodos"}`;

/**
 * Cuts a text into passages at the ends of paragraphs, rows, sentences or words. A passage that begins within a table gets the
 * first row of the table before it: the names of the columns.
 */
export function cutPassages(text: string): string[] {
  const passages: string[] = [];
  let rest = text.trim();
  let columns = "";
  while (columns.length + rest.length > passageLength) {
    const end = endOfPassage(rest.slice(0, passageLength - columns.length));
    const passage = `${columns}${rest.slice(0, end + 1).trim()}`;
    passages.push(passage);
    columns = isRow(passage.slice(passage.lastIndexOf("\n") + 1)) && rest[end] === "\n" ? columnsOf(passage) : "";
    rest = rest.slice(end + 1).trim();
    if (!isRow(firstLine(rest))) columns = "";
  }
  if (rest) passages.push(`${columns}${rest}`);
  return passages;
}

/** Index of a passage's last character: the end of a paragraph, row, sentence or word, else the end of the window. */
function endOfPassage(window: string): number {
  const ends = [lastOf(window, /\n\s*\n/g), endOfRow(window), lastOf(window, /[.!?…]\s/g), lastOf(window, /\s/g)];
  return ends.find((at) => at > window.length / 3) ?? window.length - 1;
}

function lastOf(window: string, pattern: RegExp): number {
  let last = -1;
  for (const { index } of window.matchAll(pattern)) last = index;
  return last;
}

// The separator between the cells of a row, as the readers of documents write it and as Markdown has it.
const isRow = (line: string) => line.includes(" | ");
// Columns of a text that is printed in letters of one width.
const hasColumns = (line: string) => /\S {3,}\S/.test(line);
const firstLine = (text: string) => text.split("\n", 1)[0] ?? "";

/** End of the last whole line, if it is a row. */
function endOfRow(window: string): number {
  const end = window.lastIndexOf("\n");
  const line = window.slice(window.lastIndexOf("\n", end - 1) + 1, end);
  return isRow(line) || hasColumns(line) ? end : -1;
}

/** The first row of the table that a passage ends in, and a line break; nothing if it is too long to stand before each passage. */
function columnsOf(passage: string): string {
  const lines = passage.split("\n");
  const beforeTable = lines.findLastIndex((line) => !isRow(line));
  const columns = lines[beforeTable + 1] ?? "";
  return columns.length <= columnsLength ? `${columns}\n` : "";
}

/**
 * Gives the words to index for each passage of a document, in their order: those of the passage, of the document's title and of the last
 * Markdown heading before the passage.
 */
export function documentIndexer(): (passage: string) => string {
  let title: string | undefined;
  let heading = "";
  return (passage) => {
    title ??= headingsIn(passage)[0] ?? "";
    const above = [title, heading].filter((one) => one && !passage.includes(one));
    heading = headingsIn(passage).at(-1) ?? heading;
    return searchWords([...above, passage].join("\n")).join(" ");
  };
}

/** The words by which all passages of a document are found too: those of its name. */
export const nameWords = (name: string): string =>
  searchWords(name.replace(/\.[^.]*$/, "").replaceAll("_", " ")).join(" ");

const headingsIn = (passage: string) =>
  [...passage.matchAll(/^#{1,6} +(\S.*)$/gm)].map(([, heading = ""]) => heading.slice(0, headingLength));

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

/** Indexes passages that were cut elsewhere; their `words` come from `searchWords` or a `documentIndexer`. */
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
