import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import { indexPassages } from "../db/search.server.ts";
import { planWithoutRoom } from "../db/storage-use.server.ts";
import type { FileRow } from "../db/tables.ts";
import { FairQueue } from "../process/fair-queue.server.ts";
import { limits } from "../process/limits.ts";
import { isImage, mediaTypeOf } from "./media-type.server.ts";
import { type Reading, readDocument } from "./reading.server.ts";
import { FileRefused } from "./refused.server.ts";
import { Storage } from "./storage.server.ts";

/** Owner and purpose of a new file. */
export type Keep = { userId: string; projectId: string | null; temporary: boolean };
/** An uploaded file on disk, with the name that its sender gave it. */
export type Sent = { path: string; name: string; size: number };

const hour = 60 * 60_000;
const day = 24 * hour;
const atOnce = 2;
// Few enough that storing them causes no noticeable pause.
const passagesAtOnce = 40;

/** All files: received, read, stored and swept. One instance per process. */
export class Files {
  readonly storage: Storage;
  readonly #db: Db;
  readonly #queue = new FairQueue(atOnce);

  constructor(db: Db, dir: string) {
    this.#db = db;
    this.storage = new Storage(dir);
  }

  /** Receives a file: detects its type, reads it, stores it and indexes its text. Throws FileRefused. */
  async take(sent: Sent, keep: Keep): Promise<FileRow> {
    const name = cleanName(sent.name);
    const mediaType = await mediaTypeOf(sent.path, name, sent.size);
    return this.#queue.run(keep.userId, () => this.#take({ ...sent, name }, mediaType, keep));
  }

  async #take({ path, name, size }: Sent, mediaType: string, keep: Keep): Promise<FileRow> {
    const now = Date.now();
    const row: FileRow = {
      id: newId(),
      createdAt: now,
      updatedAt: now,
      userId: keep.userId,
      projectId: keep.projectId,
      name,
      mediaType,
      size,
      sha256: await hash(path),
      width: null,
      height: null,
      pages: null,
      text: null,
      temporary: keep.temporary ? 1 : 0,
      sessionId: null,
      ready: 0,
    };
    let passages: Reading["passages"] = [];
    await refuseFileBeyondPlan(this.#db, keep.userId, size);
    try {
      if (isImage(mediaType)) {
        const { remakeImage } = await import("./images.server.ts");
        const { width, height, image, preview } = await remakeImage(path);
        Object.assign(row, { width, height });
        await this.storage.put(row.id, "image", image);
        await this.storage.put(row.id, "preview", preview);
      } else {
        const reading = await readDocument({ path, mediaType });
        Object.assign(row, { text: reading.text, pages: reading.pages });
        passages = reading.passages;
      }
      await this.storage.put(row.id, "original", path);
      await this.#store(row, passages);
    } catch (error) {
      await this.storage.delete([row.id]);
      throw error;
    }
    return { ...row, ready: 1 };
  }

  async #store(row: FileRow, passages: Reading["passages"]): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      await trx.insertInto("files").values(row).execute();
      // Checked again inside the transaction: two concurrent uploads must not both believe that there is room.
      await refuseFileBeyondPlan(trx, row.userId, 0);
    });
    try {
      for (let at = 0; at < passages.length; at += passagesAtOnce) {
        await indexPassages(this.#db, row.userId, { fileId: row.id }, passages.slice(at, at + passagesAtOnce));
        // SQLite runs synchronously; this lets other requests run in between.
        await new Promise(setImmediate);
      }
      await this.#db.updateTable("files").set({ ready: 1 }).where("id", "=", row.id).execute();
    } catch (error) {
      await this.#db.deleteFrom("files").where("id", "=", row.id).execute();
      throw error;
    }
  }

  /** Deletes files, their passages and their bytes. Messages keep their names. */
  async delete(ids: string[]): Promise<void> {
    if (ids.length > 0) await this.#db.deleteFrom("files").where("id", "in", ids).execute();
    await this.storage.delete(ids);
  }

  /** Removes files that were never sent or never finished, and bytes without a row. */
  async sweep(): Promise<void> {
    // In one statement, so that a file that is being sent right now is not deleted.
    const stale = await this.#db
      .deleteFrom("files")
      .where("createdAt", "<", Date.now() - day)
      .where("sessionId", "is", null)
      .where((e) => e.or([e("temporary", "=", 1), e("ready", "=", 0)]))
      .returning("id")
      .execute();
    await this.storage.delete(stale.map(({ id }) => id));
    const gone = new Set<string>();
    for await (const id of this.storage.stored(hour)) {
      const row = await this.#db.selectFrom("files").where("id", "=", id).select("id").executeTakeFirst();
      if (!row) gone.add(id);
    }
    await this.storage.delete([...gone]);
  }
}

async function refuseFileBeyondPlan(db: Db, userId: string, more: number): Promise<void> {
  const full = await planWithoutRoom(db, userId, more);
  if (full !== undefined) {
    throw new FileRefused(
      `no cabe en los ${full.toLocaleString("es")} MB de tu plan. Borra antes algo que no necesites.`,
    );
  }
}

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
