import { sql } from "kysely";
import type { Db, Engine } from "../../db/engine.server.ts";
import { forGroupsOf } from "../../db/people/groups.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { bestHits, type Hit, type RankedHit, searchPassages } from "../../db/search/find.server.ts";
import type { Meanings } from "../../db/search/meaning.server.ts";
import { everyone } from "../../db/search/passages.server.ts";
import { questionWords } from "../../db/search/words.server.ts";
import type { FileRow, MessageRow } from "../../db/tables.ts";
import { cutText } from "../../process/text/cut-text.ts";
import type { Source } from "../chunk.ts";
import { withNeighbours } from "./neighbours.server.ts";
import { ofProject } from "./of-project.server.ts";
import { isLittle } from "./other-words.server.ts";
import type { AttachedFile } from "./turns.server.ts";

/** A document that a model is given whole. */
export type WholeDocument = { n: number; fileId: string; name: string; text: string };
/** `around`: by the number of a source, the passage with what stands before and after it in its document. */
export type FoundDocuments = {
  sources: Source[];
  whole: WholeDocument[];
  around: Map<number, string>;
  /** Other ways to say the question that were searched, too. */
  searched: string[];
};

type FileText = Pick<FileRow, "id" | "name"> & { text: string; messageId: string };
type Wanted = {
  local: boolean;
  projectId: string | null;
  attached: AttachedFile[];
  room: number;
  /** Documents of an assistant, which may be somebody else's. */
  lent?: { ownerId: string; fileIds: string[] };
  /** A guest of a room asks: the messages and files of the person who opened the room are not the guest's. */
  ofGuest: boolean;
  /** Says the question in other words if its own words find little; undefined if no model is to be asked. */
  otherWords?: (question: string) => Promise<string[]>;
};

const passagesInPrompt = 6;
// More passages are used if a sent document does not fit in the prompt as a whole.
const passagesOfDocuments = 14;
const quoteLength = 900;
// Each owner costs a separate search.
const ownersAtMost = 8;

/**
 * Finds the sources for a question and numbers them: first documents sent on this branch, whole if they fit in `room`
 * characters; then passages of the other ones, of the project's documents and of trainings. The local assistant gets
 * passages only, also of the person's own messages; a language model already has the conversation in its prompt.
 */
export async function findSources(
  { db, engine, searchModel }: { db: Db; engine: Engine; searchModel: Meanings },
  question: MessageRow,
  { local, projectId, attached, room, otherWords, lent = { ownerId: question.userId, fileIds: [] }, ofGuest }: Wanted,
): Promise<FoundDocuments> {
  // A guest is in no group.
  const member = ofGuest ? "" : question.userId;
  const documents = await documentsOfBranch(db, question, attached);
  const whole = local ? [] : fitting(documents, room);
  const cut = documents.filter(({ id }) => !whole.some((one) => one.id === id));
  const inProject = await projectDocuments(db, projectId);
  const ownInProject = (inProject.get(question.userId) ?? []).filter((id) => !whole.some((one) => one.id === id));
  const files = [...cut.map(({ id }) => id), ...ownInProject];
  // The search costs a good part of what starting a reply does, and most conversations have nothing to be searched.
  const isSearched =
    local || files.length > 0 || (await findKnowledge(db, { userId: member, projectId })).rows.length > 0;
  const sought = isSearched || lent.fileIds.length > 0 || inProject.size > 0 ? await soughtBy(db, question) : undefined;
  const asked = {
    question: sought?.text ?? question.content,
    meaning: sought && (await searchModel.meaningOf(sought.text)),
  };
  const search = async (otherwise: string[]) => {
    const said = { ...asked, otherwise };
    const own = isSearched
      ? await searchPassages(db, engine, {
          ...said,
          owners: ofGuest ? [everyone] : [everyone, question.userId],
          except: [question.id, ...(sought?.except ?? [])],
          files,
          messages: local && !ofGuest,
          limit: cut.length > 0 && !local ? passagesOfDocuments : passagesInPrompt,
        })
      : [];
    return [...own, ...(await hitsOfOthers(db, engine, said, lent, question.userId, inProject))];
  };
  let hits = await search([]);
  const searched = sought && otherWords && isLittle(sought.text, hits) ? await otherWords(sought.text) : [];
  if (searched.length > 0) hits = await search(searched);
  const telling = local ? bestHits(hits) : hits;
  const found = [...(await beginnings(db, question, cut, hits)), ...telling].slice(0, passagesOfDocuments);
  const passages = await named(db, found, member, projectId);
  const sources = numbered(whole, passages, lent.ownerId === question.userId && !ofGuest ? [] : lent.fileIds);
  return {
    searched,
    sources,
    around: local ? new Map() : await withNeighbours(db, sources.slice(whole.length), room),
    whole: whole.map(({ id, name, text }, index) => ({ n: index + 1, fileId: id, name, text })),
  };
}

/** Sources with their numbers: whole documents, then passages. `lent`: files of somebody else, which can be cited, not opened. */
function numbered(whole: FileText[], passages: Omit<Source, "n">[], lent: string[]): Source[] {
  const documents = whole.map(({ id, name, text }) => ({
    kind: "file" as const,
    title: name,
    quote: cutText(text, quoteLength),
    chatId: null,
    messageId: null,
    fileId: id,
    position: 0,
  }));
  const cited = passages.map((source) =>
    source.fileId && lent.includes(source.fileId) ? { ...source, fileId: null } : source,
  );
  return [...documents, ...cited].map((source, index) => ({ n: index + 1, ...source }));
}

/**
 * Passages of other people: from the lender of an assistant's documents only these, from other members only the documents that they have
 * put into the project. Each owner is searched separately.
 */
async function hitsOfOthers(
  db: Db,
  engine: Engine,
  asked: Pick<Parameters<typeof searchPassages>[2], "question" | "otherwise" | "meaning">,
  lent: NonNullable<Wanted["lent"]>,
  userId: string,
  inProject: Map<string, string[]>,
) {
  const members = [...inProject].filter(([ownerId]) => ownerId !== userId).slice(0, ownersAtMost);
  const lenders: [string, string[]][] = lent.fileIds.length > 0 ? [[lent.ownerId, lent.fileIds]] : [];
  const hits: RankedHit[] = [];
  for (const [ownerId, files] of [...lenders, ...members]) {
    const theirs = { ...asked, owners: [ownerId], except: [], files, messages: false, limit: passagesInPrompt };
    hits.push(...(await searchPassages(db, engine, theirs)));
  }
  return hits;
}

// A question of at most this many words depends on the question before it: «¿y en 2023?».
const fewWords = 3;
const earlierLength = 500;

/** The text to search for, and the earlier question that completes it, which is excluded because it would be the best hit. */
async function soughtBy(db: Db, { content, parentId }: MessageRow): Promise<{ text: string; except: string[] }> {
  if (!parentId || questionWords(content).length > fewWords) return { text: content, except: [] };
  const before = await db
    .selectFrom("messages as reply")
    .innerJoin("messages as asked", "asked.id", "reply.parentId")
    .where("reply.id", "=", parentId)
    .select(["asked.id", "asked.content"])
    .executeTakeFirst();
  if (!before) return { text: content, except: [] };
  return { text: `${content}\n${before.content.slice(0, earlierLength)}`, except: [before.id] };
}

const findKnowledge = prepared((db, { userId, projectId }: { userId: string; projectId: string | null }) =>
  db
    .selectFrom("trainings")
    .where("enabled", "=", 1)
    .where("kind", "=", "knowledge")
    .where(ofProject(projectId))
    .where(forGroupsOf("trainings", userId))
    .select("id")
    .limit(1),
);

/** The documents sent with the messages that lead to this one, the newest first. */
async function documentsOfBranch(db: Db, question: MessageRow, attached: AttachedFile[]): Promise<FileText[]> {
  const documents = attached.filter(({ readable }) => readable).reverse();
  if (documents.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    with recursive branch as (
      select id, "parentId" from messages where id = ${question.id}
      union all
      select m.id, m."parentId" from messages m join branch b on m.id = b."parentId"
    ) select id from branch`.execute(db);
  const branch = new Set(rows.map(({ id }) => id));
  const ids = new Map(
    documents
      .filter(({ messageId }) => branch.has(messageId))
      .flatMap(({ fileId, messageId }) => (fileId ? [[fileId, messageId] as const] : [])),
  );
  const files = await db
    .selectFrom("files")
    .where("id", "in", [...ids.keys(), ""])
    .select(["id", "name", "text"])
    .execute();
  return [...ids].flatMap(([fileId, messageId]) => {
    const file = files.find(({ id }) => id === fileId);
    return file ? [{ ...file, text: file.text ?? "", messageId }] : [];
  });
}

function fitting(documents: FileText[], room: number): FileText[] {
  let left = room;
  return documents.filter(({ text }) => {
    if (text.length > left) return false;
    left -= text.length;
    return true;
  });
}

/** The documents of a project, by owner. */
async function projectDocuments(db: Db, projectId: string | null): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (!projectId) return found;
  const rows = await db
    .selectFrom("files")
    .where("projectId", "=", projectId)
    .where("ready", "=", 1)
    .select(["id", "userId"])
    .execute();
  for (const { id, userId } of rows) found.set(userId, [...(found.get(userId) ?? []), id]);
  return found;
}

/** The first passages of documents that were sent with this question but that search did not find, as with «resúmelo». */
async function beginnings(db: Db, question: MessageRow, documents: FileText[], hits: Hit[]): Promise<Hit[]> {
  const unfound = documents.filter(
    ({ id, messageId }) => messageId === question.id && !hits.some(({ fileId }) => fileId === id),
  );
  const perDocument = Math.max(1, Math.floor(passagesInPrompt / Math.max(1, unfound.length)));
  const lists = unfound.map(({ id }) =>
    db
      .selectFrom("passages")
      .where("fileId", "=", id)
      .where("position", "<", perDocument)
      .orderBy("position")
      .select(["messageId", "trainingId", "chatId", "fileId", "position", "page", "text"])
      .execute(),
  );
  return (await Promise.all(lists)).flat();
}

/** Hits with the title of what they are from; those of trainings that do not apply here are left out. */
async function named(db: Db, hits: Hit[], userId: string, projectId: string | null): Promise<Omit<Source, "n">[]> {
  if (hits.length === 0) return [];
  const ids = (column: "chatId" | "trainingId" | "fileId") => hits.map((hit) => hit[column] ?? "");
  const [chats, trainings, files] = await Promise.all([
    db.selectFrom("chats").where("id", "in", ids("chatId")).select(["id", "title"]).execute(),
    db
      .selectFrom("trainings")
      .where("id", "in", ids("trainingId"))
      .where("enabled", "=", 1)
      .where(ofProject(projectId))
      .where(forGroupsOf("trainings", userId))
      .select(["id", "title"])
      .execute(),
    db.selectFrom("files").where("id", "in", ids("fileId")).select(["id", "name as title"]).execute(),
  ]);
  const titles = new Map([...chats, ...trainings, ...files].map(({ id, title }) => [id, title]));
  return hits.flatMap(({ messageId, trainingId, chatId, fileId, position, page, text }) => {
    const from = fileId ?? trainingId ?? chatId;
    const title = from && titles.get(from);
    if (!title) return [];
    const kind = fileId ? ("file" as const) : trainingId ? ("training" as const) : ("message" as const);
    const where = page ? `${title}, página ${page}` : title;
    return [{ kind, title: where, quote: text, chatId, messageId, fileId, position: position && Number(position) }];
  });
}
