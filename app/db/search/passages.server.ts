import type { Db } from "../connection.server.ts";
import { prepared } from "../prepared.server.ts";
import type { PassageRow } from "../tables.ts";
import { searchWords } from "./words.server.ts";

const passageLength = 900;
// Of a heading or a file's name: what is longer is a text.
const headingLength = 120;

/** The owner id of passages that everyone may find. */
export const everyone = "";

/** The word by which the passages of an owner are found in the index. */
export const ownerWord = (ownerId: string) => `u${ownerId.replaceAll("-", "") || "paratodos"}`;

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

/**
 * What is indexed of each passage of a document: its words, and those of what it stands under: the title, and the last heading of
 * Markdown before it.
 */
export function indexedWords(passages: string[]): string[] {
  const title = headingsIn(passages[0] ?? "")[0] ?? "";
  let heading = "";
  return passages.map((passage) => {
    const above = [title, heading].filter((one) => one && !passage.includes(one));
    heading = headingsIn(passage).at(-1) ?? heading;
    return searchWords([...above, passage].join("\n")).join(" ");
  });
}

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

/** Indexes passages that were cut elsewhere; their `words` come from `searchWords` or `indexedWords`. */
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
