import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Db, Engine } from "../db/engine.server.ts";
import { planWithoutRoom } from "../db/people/storage-use.server.ts";
import { newRow } from "../db/rows.server.ts";
import type { FileRow } from "../db/tables.ts";
import type { Jobs } from "../jobs/jobs.server.ts";
import { limits } from "../process/limits.ts";
import { FairQueue } from "../process/work/fair-queue.server.ts";
import { isImage, mediaTypeOf } from "./media-type.server.ts";
import { pictureBytes } from "./pictures/picture-bytes.server.ts";
import { documentReading } from "./read-job.server.ts";
import { FileRefused, NoRoom } from "./refused.server.ts";
import type { Storage } from "./storage/storage.server.ts";

/** Owner and purpose of a new file; `remote` where it is taken from a folder. `isOwn`: it is stored even if its owner has it already. */
export type Keep = { userId: string; projectId: string | null; temporary: boolean; remote?: Remote; isOwn?: true };
type Remote = Pick<FileRow, "folderId" | "remotePath" | "remoteTag">;
/** A file on disk, with the name that its sender gave it, or taken from an address of the web. */
export type Sent = { path: string; name: string; size: number; address?: string };

const hour = 60 * 60_000;
const day = 24 * hour;
const imagesAtOnce = 2;

/** All files: received, read, stored and swept. One instance per process. */
export class Files {
  readonly storage: Storage;
  readonly #db: Db;
  readonly #engine: Engine;
  readonly #jobs: Jobs;
  readonly #images = new FairQueue(imagesAtOnce);

  constructor({ db, engine, storage, jobs }: { db: Db; engine: Engine; storage: Storage; jobs: Jobs }) {
    this.#db = db;
    this.#engine = engine;
    this.#jobs = jobs;
    this.storage = storage;
    jobs.handle("file", documentReading({ db, storage }));
    // A separate kind, so that hundreds of photos hold up no document; one at a time, as recognising takes a core for seconds.
    jobs.handle("picture", { ...documentReading({ db, storage }), atOnce: 1 });
  }

  /**
   * Receives a file: detects its type and stores it. An image is made anew at once; a document is read in the background, which `settled`
   * waits for. A file that its owner has already in the same place is not stored again. Throws FileRefused.
   */
  async take(sent: Sent, keep: Keep): Promise<FileRow> {
    const name = cleanName(sent.name);
    const mediaType = await mediaTypeOf(sent.path, name, sent.size);
    const sha256 = await hash(sent.path);
    const same = keep.temporary || keep.remote || keep.isOwn ? undefined : await this.#find(sha256, name, keep);
    if (same) return same;
    await refuseFileBeyondPlan(this.#db, keep.userId, sent.size);
    const row = { ...fileRow({ ...sent, name }, keep), mediaType, sha256 };
    try {
      const size =
        isImage(mediaType) && (await this.#images.run(keep.userId, () => this.#remake(row.id, sent.path, mediaType)));
      await this.storage.put(row.id, "original", sent.path);
      return await this.#store(size ? { ...row, ...size, ready: 1 } : row);
    } catch (error) {
      await this.storage.delete([row.id]);
      throw error;
    }
  }

  /** The files once they are read or have turned out to be unreadable, or as they are after `within` ms; not those deleted meanwhile. */
  async settled(files: FileRow[], within: number): Promise<FileRow[]> {
    const until = Date.now() + within;
    const ids = files.map(({ id }) => id);
    if (ids.length === 0) return [];
    const unread = files.filter(({ ready }) => !ready).map(({ id }) => id);
    const jobs = await this.#db
      .selectFrom("jobs")
      .where("subjectId", "in", ["", ...unread])
      .select("id")
      .execute();
    for (const { id } of jobs) await this.#jobs.ended(id, Math.max(0, until - Date.now()));
    const rows = await this.#db.selectFrom("files").where("id", "in", ids).selectAll().execute();
    return ids.flatMap((id) => rows.find((row) => row.id === id) ?? []);
  }

  /** Replaces a document by its new version, and has it read; `remoteTag`: the version at the server. Throws FileRefused. */
  async replace(row: FileRow, sent: Sent, remoteTag: string | null): Promise<void> {
    const mediaType = await mediaTypeOf(sent.path, row.name, sent.size);
    if (isImage(mediaType)) throw new FileRefused("ahora es una imagen.");
    const sha256 = await hash(sent.path);
    const isNew = sha256 !== row.sha256;
    if (isNew) {
      await refuseFileBeyondPlan(this.#db, row.userId, sent.size - row.size);
      await this.storage.put(row.id, "original", sent.path);
    }
    const now = { mediaType, sha256, size: sent.size, remoteTag, updatedAt: Date.now() };
    await this.#db.updateTable("files").set(now).where("id", "=", row.id).execute();
    if (isNew) await this.readAgain({ ...row, ...now });
  }

  async #find(sha256: string, name: string, { userId, projectId }: Keep): Promise<FileRow | undefined> {
    const found = await this.#db
      .selectFrom("files")
      .where("userId", "=", userId)
      .where("sha256", "=", sha256)
      .where("projectId", projectId === null ? "is" : "=", projectId)
      .where("temporary", "=", 0)
      .where("sessionId", "is", null)
      .where("folderId", "is", null)
      .where("problem", "is", null)
      .selectAll()
      .execute();
    return found.find((row) => withoutNumber(row.name) === withoutNumber(name));
  }

  async #remake(id: string, path: string, mediaType: string): Promise<Pick<FileRow, "width" | "height">> {
    const { remakeImage } = await import("./pictures/images.server.ts");
    const { width, height, image, preview } = await remakeImage(await pictureBytes(path, mediaType));
    await this.storage.put(id, "image", image);
    await this.storage.put(id, "preview", preview);
    return { width, height };
  }

  async #store(row: FileRow): Promise<FileRow> {
    await this.#db.transaction().execute(async (trx) => {
      // Two concurrent uploads must not both believe that there is room: in PostgreSQL neither one sees the file that the other adds.
      if (this.#engine === "postgres") {
        await trx.selectFrom("users").where("id", "=", row.userId).select("id").forUpdate().execute();
      }
      await trx.insertInto("files").values(row).execute();
      await refuseFileBeyondPlan(trx, row.userId, 0);
      if (!row.ready) await this.#jobs.add({ kind: "file", userId: row.userId, subjectId: row.id }, trx);
    });
    this.#jobs.wake("file");
    return row;
  }

  /** Has the text in an image recognised in the background, so that search finds the image, too. */
  async readPicture({ id, userId }: Pick<FileRow, "id" | "userId">): Promise<void> {
    await this.#jobs.add({ kind: "picture", userId, subjectId: id });
    this.#jobs.wake("picture");
  }

  /** Has a file read again in the background, as the readers improve: search finds nothing of it until then. */
  async readAgain(row: FileRow): Promise<FileRow> {
    const isPicture = isImage(row.mediaType);
    // A picture can be seen without its text.
    const unread = { text: null, ready: isPicture ? (1 as const) : (0 as const), problem: null };
    await this.#db.transaction().execute(async (trx) => {
      await trx.deleteFrom("passages").where("fileId", "=", row.id).execute();
      await trx.updateTable("files").set(unread).where("id", "=", row.id).execute();
      if (!isPicture) await this.#jobs.add({ kind: "file", userId: row.userId, subjectId: row.id }, trx);
    });
    if (isPicture) await this.readPicture(row);
    else this.#jobs.wake("file");
    return { ...row, ...unread };
  }

  /** Deletes files, their passages and their bytes. Messages keep their names. */
  async delete(ids: string[]): Promise<void> {
    if (ids.length > 0) await this.#db.deleteFrom("files").where("id", "in", ids).execute();
    await this.storage.delete(ids);
  }

  /** Adds jobs for unread files that have none: a restored copy and another engine have the files without their jobs. */
  async resume(): Promise<void> {
    const left = await this.#db
      .selectFrom("files")
      .where("ready", "=", 0)
      .where("problem", "is", null)
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom("jobs")
              .whereRef("jobs.subjectId", "=", "files.id")
              .where("kind", "=", "file")
              .select("jobs.id"),
          ),
        ),
      )
      .select(["id", "userId"])
      .execute();
    for (const { id, userId } of left) await this.#jobs.add({ kind: "file", userId, subjectId: id });
    this.#jobs.wake("file");
  }

  /** Removes files that were never sent, and bytes that belong to no file, no speech and no job. */
  async sweep(): Promise<void> {
    // In one statement, so that a file that is being sent right now is not deleted.
    const stale = await this.#db
      .deleteFrom("files")
      .where("createdAt", "<", Date.now() - day)
      .where("sessionId", "is", null)
      .where("temporary", "=", 1)
      .returning("id")
      .execute();
    await this.storage.delete(stale.map(({ id }) => id));
    const gone = new Set<string>();
    for await (const { id, at } of this.storage.list()) {
      if (at > Date.now() - hour) continue;
      const file = await this.#db.selectFrom("files").where("id", "=", id).select("id").executeTakeFirst();
      const speech =
        file ?? (await this.#db.selectFrom("speeches").where("id", "=", id).select("id").executeTakeFirst());
      const job = speech ?? (await this.#db.selectFrom("jobs").where("id", "=", id).select("id").executeTakeFirst());
      if (!job) gone.add(id);
    }
    await this.storage.delete([...gone]);
    await this.storage.deleteUnfinished(Date.now() - day);
  }
}

const sentByHand: Remote = { folderId: null, remotePath: null, remoteTag: null };

function fileRow(
  { name, size, address }: Sent,
  { userId, projectId, temporary, remote = sentByHand }: Keep,
): Omit<FileRow, "mediaType" | "sha256"> {
  const now = Date.now();
  const unread = { width: null, height: null, pages: null, text: null, ready: 0 as const, problem: null };
  const whose = { userId, projectId, temporary: temporary ? (1 as const) : (0 as const), sessionId: null };
  return {
    ...newRow(now),
    name,
    size,
    address: address ?? null,
    ...whose,
    ...unread,
    ...remote,
  };
}

async function refuseFileBeyondPlan(db: Db, userId: string, more: number): Promise<void> {
  const full = await planWithoutRoom(db, userId, more);
  if (full !== undefined) {
    throw new NoRoom(`no cabe en los ${full.toLocaleString("es")} MB de tu plan. Borra antes algo que no necesites.`);
  }
}

// The mark of a second copy in a file's name: «informe (1).pdf».
const withoutNumber = (name: string) => name.replace(/ \(\d+\)(?=\.[^.]*$|$)/, "");

// Bidirectional control characters could make «fdp.exe» look like «exe.pdf».
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** The base name without invisible characters. Throws FileRefused if it is empty or too long, or if the path has `..`. */
function cleanName(sent: string): string {
  const path = sent.replace(invisible, "");
  const name = path.replace(/^.*[/\\]/s, "").trim();
  if (!name || path.split(/[/\\]/).includes("..")) throw new FileRefused("su nombre no es el de un archivo. Cámbialo.");
  if (name.length > limits.fileName) {
    throw new FileRefused(`su nombre tiene ${name.length} letras; acórtalo a ${limits.fileName} o menos.`);
  }
  return name.toWellFormed();
}

async function hash(path: string): Promise<string> {
  const sum = createHash("sha256");
  await pipeline(createReadStream(path), sum);
  return sum.digest("hex");
}
