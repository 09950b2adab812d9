import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import type { Db } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { forGroupsOf } from "../../db/people/groups.server.ts";
import type { SharedClock } from "../../db/processes/clock.server.ts";
import type { FileRow, FolderRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules, Jobs } from "../../jobs/jobs.server.ts";
import { decrypt } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import type { Files } from "../files.server.ts";
import { documentTypes, textTypes } from "../formats/types.server.ts";
import { FileRefused, NoRoom } from "../refused.server.ts";
import { type Account, DriveRefused, download, type Entry, listFolder } from "./webdav.server.ts";

type LookServices = { db: Db; clock: SharedClock; files: Files; toolKey: Buffer };

// In ms, for one look at a folder, so that a slow server holds up no others.
const patience = 10 * 60_000;
// In ms. A server that has lost its disk for an hour deletes nothing here.
const patienceWithRefusals = 24 * 60 * 60_000;
const documentsAtMost = 500;
const failuresInARow = 3;
const foldersAtMost = 200;

/**
 * A file that was not taken, or a folder that could not be read, and why: what follows its name. `tag`: of the content that was refused, which
 * is not fetched again; empty where it may be taken the next time. `closedAt`: since when a folder is, epoch ms.
 */
const skippedFile = z.object({
  path: z.string(),
  tag: z.string(),
  reason: z.string(),
  closedAt: z.number().optional(),
});
export type Skipped = z.infer<typeof skippedFile>;
export const skippedIn = ({ skipped }: Pick<FolderRow, "skipped">): Skipped[] =>
  z.array(skippedFile).parse(JSON.parse(skipped));
const skippedAtMost = 50;

const endings = new Set([...Object.keys(documentTypes), ...textTypes.keys(), "docm", "dotx", "xlsm", "pptm", "ppsx"]);
const isDocument = ({ path }: Entry) => endings.has(path.slice(path.lastIndexOf(".") + 1).toLowerCase());

/** How folders are looked at: their documents are taken, renewed and deleted as they are at their server. */
export const lookingAtFolders = (services: LookServices): JobRules => ({
  atOnce: 4,
  retries: [60_000],
  work: (job) => look(services, job),
  async failed({ subjectId }, problem) {
    await services.db.updateTable("folders").set({ problem }).where("id", "=", subjectId).execute();
  },
});

/**
 * Deletes documents of folders that are gone with their account, server or project; of people of whom nothing is deleted, they become
 * files of theirs.
 */
export async function sweepFolders({ db, files }: Pick<LookServices, "db" | "files">): Promise<void> {
  const left = db.updateTable("files").where("remotePath", "is not", null).where("folderId", "is", null);
  await left
    .set({ remotePath: null, remoteTag: null, projectId: null })
    .where("userId", "in", db.selectFrom("holds").select("userId"))
    .execute();
  const gone = await db
    .selectFrom("files")
    .where("remotePath", "is not", null)
    .where("folderId", "is", null)
    .select("id")
    .execute();
  await files.delete(gone.map(({ id }) => id));
}

/** Has all folders looked at that nobody is looking at. */
export async function lookAtAll({ db, jobs }: { db: Db; jobs: Jobs }): Promise<void> {
  const due = await db
    .selectFrom("folders")
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom("jobs")
            .whereRef("jobs.subjectId", "=", "folders.id")
            .where("kind", "=", "folder")
            .where("state", "in", ["waiting", "running"])
            .select("jobs.id"),
        ),
      ),
    )
    .select(["id", "userId"])
    .execute();
  for (const { id, userId } of due) await jobs.add({ kind: "folder", userId, subjectId: id });
  jobs.wake("folder");
}

async function look(services: LookServices, { subjectId, progress, signal }: JobAtWork): Promise<void> {
  const { db, clock } = services;
  const folder = await db.selectFrom("folders").where("id", "=", subjectId).selectAll().executeTakeFirst();
  if (!folder) return;
  const now = clock.now();
  const outcome = async (): Promise<Partial<FolderRow>> => {
    const account = await accountOf(services, folder);
    if (!account)
      throw new DriveRefused("Ahora no puedes usar ese servidor, o no escribes en el proyecto.", { refused: true });
    const within = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
    const { documents, closed, isCut } = await documentsIn(account, folder.path, within);
    const known = skippedIn(folder);
    const shut = closed.map(
      (path) => known.find((one) => one.path === path && one.closedAt) ?? closedFolder(path, now),
    );
    const kept = shut
      .filter(({ closedAt = now }) => closedAt > now - patienceWithRefusals)
      .map(({ path }) => `${path}/`);
    await deleteGone(
      services,
      folder,
      (path) => documents.some((one) => one.path === path) || kept.some((one) => path.startsWith(one)),
    );
    const skipped = await takeNew(services, folder, { account, documents, signal: within, progress });
    const problem = isCut ? `Tiene más de lo que cabe: están ${documents.length} documentos.` : null;
    return { problem, refusedAt: null, skipped: JSON.stringify([...shut, ...skipped].slice(0, skippedAtMost)) };
  };
  const came = await outcome().catch((error): Partial<FolderRow> => {
    if (signal.aborted || !(error instanceof DriveRefused)) throw error;
    // A server that is away says nothing of rights: only a look that succeeds ends a refusal.
    return { problem: error.message, ...(error.refused && { refusedAt: folder.refusedAt ?? now }) };
  });
  await db
    .updateTable("folders")
    .set({ ...came, lookedAt: now, updatedAt: now })
    .where("id", "=", folder.id)
    .execute();
  // Nobody keeps here for long what its person may not read there any more.
  if (came.refusedAt && came.refusedAt < now - patienceWithRefusals) await deleteGone(services, folder, () => false);
}

const closedFolder = (path: string, closedAt: number): Skipped => ({
  path,
  tag: "",
  reason: "no se puede leer ahora.",
  closedAt,
});

/** The account of a folder, while its person may use the server and writes in the project. */
async function accountOf({ db, toolKey }: LookServices, folder: FolderRow): Promise<Account | undefined> {
  const found = await db
    .selectFrom("driveAccounts as a")
    .innerJoin("drives", "drives.id", "a.driveId")
    .innerJoin("users as u", "u.id", "a.userId")
    .innerJoin("projects as p", (join) => join.on("p.id", "=", folder.projectId))
    .leftJoin("projectMembers as m", (join) =>
      join.onRef("m.projectId", "=", "p.id").onRef("m.userId", "=", "u.id").on("m.role", "=", "writes"),
    )
    .where("a.id", "=", folder.accountId)
    .where("drives.enabled", "=", 1)
    .where("u.status", "=", "active")
    .where((e) => e.or([forGroupsOf("drives", folder.userId), e("u.role", "=", "admin")]))
    .where((e) => e.or([e("p.userId", "=", folder.userId), e("m.id", "is not", null)]))
    .select(["a.id", "a.username", "a.password", "drives.address"])
    .executeTakeFirst();
  return found && { ...found, password: decrypt(found.password, toolKey, found.id) };
}

/** Documents below a folder, as many as a project may have of one. Throws DriveRefused. */
async function documentsIn(account: Account, path: string, signal: AbortSignal) {
  const documents: Entry[] = [];
  /** Folders inside that may not be read, or are gone between two lists. */
  const closed: string[] = [];
  const waiting = [path];
  for (let listed = 0; waiting.length > 0; listed++) {
    if (listed >= foldersAtMost) return { documents, closed, isCut: true };
    const next = waiting.shift() ?? "";
    const entries = await listFolder(account, next, signal).catch((error) => {
      const isInside = next !== path && error instanceof DriveRefused && error.refused && !error.ofPassword;
      if (!isInside) throw error;
      closed.push(next);
      return [];
    });
    for (const entry of entries) {
      if (basename(entry.path).startsWith(".")) continue;
      if (entry.isFolder) waiting.push(entry.path);
      else if (isDocument(entry)) {
        if (documents.length >= documentsAtMost) return { documents, closed, isCut: true };
        documents.push(entry);
      }
    }
  }
  return { documents, closed, isCut: false };
}

/** Deletes what is not at the server any more, but for people of whom nothing is deleted. */
async function deleteGone(
  { db, files }: LookServices,
  folder: FolderRow,
  isThere: (path: string) => boolean,
): Promise<void> {
  const gone = (await takenFrom(db, folder)).filter(({ remotePath }) => !isThere(remotePath ?? ""));
  if (gone.length > 0 && !(await isOnHold(db, folder))) await files.delete(gone.map(({ id }) => id));
}

const isOnHold = async (db: Db, { userId }: Pick<FolderRow, "userId">): Promise<boolean> =>
  (await db.selectFrom("holds").where("userId", "=", userId).select("id").executeTakeFirst()) !== undefined;

type Taking = { account: Account; documents: Entry[]; signal: AbortSignal; progress: JobAtWork["progress"] };

/** Takes what is new or has changed. Returns what was not taken. Throws DriveRefused. */
async function takeNew(services: LookServices, folder: FolderRow, { account, documents, signal, progress }: Taking) {
  const taken = new Map((await takenFrom(services.db, folder)).map((row) => [row.remotePath, row]));
  const before = new Map(skippedIn(folder).map((one) => [one.path, one]));
  const skipped: Skipped[] = [];
  let failures = 0;
  const place = await mkdtemp(join(tmpdir(), "tertulia-recibido-"));
  const to = join(place, "documento");
  try {
    for (const [at, { path, size: told, tag }] of documents.entries()) {
      await progress(at, documents.length);
      const row = taken.get(path);
      const known = before.get(path);
      if (row?.remoteTag === tag) continue;
      // A file that was refused is not fetched again until it has changed.
      if (known?.tag && known.tag === tag) {
        skipped.push(known);
        continue;
      }
      // Its text as it was is being read: it is renewed at the next look.
      if (row && row.ready === 0 && row.problem === null) continue;
      try {
        if ((told ?? 0) > limits.document) throw new FileRefused(tooLarge);
        const size = await download(account, path, { to, most: limits.document, signal });
        await take(services, folder, { row, sent: { path: to, name: basename(path), size }, path, tag });
        failures = 0;
      } catch (error) {
        signal.throwIfAborted();
        const isContent = error instanceof FileRefused && !(error instanceof NoRoom);
        if (!(error instanceof FileRefused || error instanceof DriveRefused)) throw error;
        // One file that its server does not give is its own; several in a row are the server's trouble.
        if (error instanceof DriveRefused && !error.refused && ++failures === failuresInARow) throw error;
        const reason = error instanceof DriveRefused ? `no se ha podido traer. ${error.message}` : error.message;
        skipped.push({ path, tag: isContent ? tag : "", reason });
      }
    }
  } finally {
    await rm(place, { recursive: true, force: true });
  }
  return skipped;
}

const tooLarge = `pesa más de ${limits.document / 1024 / 1024} MB.`;

type Found = {
  row: FileRow | undefined;
  sent: { path: string; name: string; size: number };
  path: string;
  tag: string;
};

async function take({ db, files }: LookServices, folder: FolderRow, { row, sent, path, tag }: Found): Promise<void> {
  if (row && !(await isOnHold(db, folder))) return files.replace(row, sent, tag);
  // Of whom nothing is deleted, what it was stays theirs.
  const own = { folderId: null, remotePath: null, remoteTag: null };
  if (row) await db.updateTable("files").set(own).where("id", "=", row.id).execute();
  const { id: folderId, userId, projectId } = folder;
  const remote = { folderId, remotePath: path, remoteTag: tag };
  await files.take(sent, { userId, projectId, temporary: false, remote }).catch((error) => {
    // Another look has taken it meanwhile.
    if (!isTaken(error)) throw error;
  });
}

const takenFrom = (db: Db, { id }: FolderRow) =>
  db.selectFrom("files").where("folderId", "=", id).selectAll().execute();
