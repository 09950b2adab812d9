import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Db } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import type { FileRow, FolderRow } from "../../db/tables.ts";
import type { JobAtWork } from "../../jobs/jobs.server.ts";
import { limits } from "../../process/limits.ts";
import type { Files } from "../files.server.ts";
import { FileRefused, NoRoom } from "../refused.server.ts";
import { type Skipped, skippedIn } from "./skipped.server.ts";
import { type Account, DriveRefused, download, type Entry } from "./webdav.server.ts";

type TakeServices = { db: Db; files: Files };

const failuresInARow = 3;

/** Deletes the documents that are not at the server any more, unless a hold keeps everything of the person. */
export async function deleteGone(
  { db, files }: TakeServices,
  folder: FolderRow,
  isThere: (path: string) => boolean,
): Promise<void> {
  const gone = (await takenFrom(db, folder)).filter(({ remotePath }) => !isThere(remotePath ?? ""));
  if (gone.length > 0 && !(await isOnHold(db, folder))) await files.delete(gone.map(({ id }) => id));
}

const isOnHold = async (db: Db, { userId }: Pick<FolderRow, "userId">): Promise<boolean> =>
  (await db.selectFrom("holds").where("userId", "=", userId).select("id").executeTakeFirst()) !== undefined;

type Taking = { account: Account; documents: Entry[]; signal: AbortSignal; progress: JobAtWork["progress"] };

/** Takes new and changed documents. Returns those that were not taken. Throws DriveRefused. */
export async function takeNew(
  services: TakeServices,
  folder: FolderRow,
  { account, documents, signal, progress }: Taking,
) {
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
      // The previous version is still being read: the document is renewed at the next look.
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
        // One file that can't be fetched is a problem of the file; several in a row are a problem of the server.
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

async function take({ db, files }: TakeServices, folder: FolderRow, { row, sent, path, tag }: Found): Promise<void> {
  if (row && !(await isOnHold(db, folder))) return files.replace(row, sent, tag);
  // On hold nothing is deleted: the old version becomes the person's own file.
  const own = { folderId: null, remotePath: null, remoteTag: null };
  if (row) await db.updateTable("files").set(own).where("id", "=", row.id).execute();
  const { id: folderId, userId, projectId } = folder;
  const remote = { folderId, remotePath: path, remoteTag: tag };
  await files.take(sent, { userId, projectId, temporary: false, remote }).catch((error) => {
    // Another look has taken the document meanwhile.
    if (!isTaken(error)) throw error;
  });
}

const takenFrom = (db: Db, { id }: FolderRow) =>
  db.selectFrom("files").where("folderId", "=", id).selectAll().execute();
