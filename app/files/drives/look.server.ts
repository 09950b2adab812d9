import { basename } from "node:path";
import type { Db } from "../../db/engine.server.ts";
import { forGroupsOf } from "../../db/people/groups.server.ts";
import type { SharedClock } from "../../db/processes/clock.server.ts";
import type { FolderRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules, Jobs } from "../../jobs/jobs.server.ts";
import { decrypt } from "../../process/crypto.server.ts";
import type { Files } from "../files.server.ts";
import { documentTypes, textTypes } from "../formats/types.server.ts";
import { closedFolder, skippedIn } from "./skipped.server.ts";
import { deleteGone, takeNew } from "./take-documents.server.ts";
import { type Account, DriveRefused, type Entry, listFolder } from "./webdav.server.ts";

type LookServices = { db: Db; clock: SharedClock; files: Files; toolKey: Buffer };

// In ms, for one look at a folder, so that a slow server holds up no others.
const patience = 10 * 60_000;
// In ms. A server that has lost its disk for an hour deletes nothing here.
const patienceWithRefusals = 24 * 60 * 60_000;
const documentsAtMost = 500;
const foldersAtMost = 200;
const skippedAtMost = 50;

const endings = new Set([...Object.keys(documentTypes), ...textTypes.keys(), "docm", "dotx", "xlsm", "pptm", "ppsx"]);
const isDocument = ({ path }: Entry) => endings.has(path.slice(path.lastIndexOf(".") + 1).toLowerCase());

/** Job rules that look at folders: their documents are taken, renewed and deleted here as they are at the server. */
export const lookingAtFolders = (services: LookServices): JobRules => ({
  atOnce: 4,
  retries: [60_000],
  work: (job) => look(services, job),
  async failed({ subjectId }, problem) {
    await services.db.updateTable("folders").set({ problem }).where("id", "=", subjectId).execute();
  },
});

/**
 * Deletes documents of folders that are gone with their account, server or project. If a hold keeps everything of a person, the
 * documents become the person's own files.
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

/** Adds a job for each folder that has no waiting or running one. */
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
    const there = new Set(documents.map((one) => one.path));
    await deleteGone(services, folder, (path) => there.has(path) || kept.some((one) => path.startsWith(one)));
    const skipped = await takeNew(services, folder, { account, documents, signal: within, progress });
    const problem = isCut ? `Tiene más de lo que cabe: están ${documents.length} documentos.` : null;
    return { problem, refusedAt: null, skipped: JSON.stringify([...shut, ...skipped].slice(0, skippedAtMost)) };
  };
  const came = await outcome().catch((error): Partial<FolderRow> => {
    if (signal.aborted || !(error instanceof DriveRefused)) throw error;
    // An unreachable server says nothing about rights: only a look that succeeds ends a refusal.
    return { problem: error.message, ...(error.refused && { refusedAt: folder.refusedAt ?? now }) };
  });
  await db
    .updateTable("folders")
    .set({ ...came, lookedAt: now, updatedAt: now })
    .where("id", "=", folder.id)
    .execute();
  // Documents that their person may not read at the server any more are not kept here for long.
  if (came.refusedAt && came.refusedAt < now - patienceWithRefusals) await deleteGone(services, folder, () => false);
}

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

/** Documents below a folder, as many as a project may have from one folder. Throws DriveRefused. */
async function documentsIn(account: Account, path: string, signal: AbortSignal) {
  const documents: Entry[] = [];
  /** Subfolders that may not be read, or that were deleted between two lists. */
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
