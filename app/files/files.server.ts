import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { sql } from "kysely";
import pLimit, { type LimitFunction } from "p-limit";
import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import { currentPlan } from "../db/plans.server.ts";
import { indexPassages } from "../db/search.server.ts";
import type { FileRow } from "../db/tables.ts";
import { limits } from "../limits.ts";
import { isImage, mediaTypeOf } from "./media-type.server.ts";
import { type Reading, readDocument } from "./reading.server.ts";
import { FileRefused } from "./refused.server.ts";
import { Storage } from "./storage.server.ts";

/** Whose a new file is and what for. */
export type Keep = { userId: string; projectId: string | null; temporary: boolean };
/** A file on disk, under the name that its sender gave it. */
export type Sent = { path: string; name: string; size: number };

const hour = 60 * 60_000;
const day = 24 * hour;
const atOnce = 2;
// As many as are stored without anyone noticing a pause.
const passagesAtOnce = 40;

/** The files of everyone: taken in, read, kept and swept. One instance a process. */
export class Files {
  readonly storage: Storage;
  readonly #db: Db;
  readonly #turn = pLimit(atOnce);
  readonly #turns = new Map<string, LimitFunction>();

  constructor(db: Db, dir: string) {
    this.#db = db;
    this.storage = new Storage(dir);
  }

  /** Takes a file in: looks what it is, reads it, stores it, makes its text findable. Throws FileRefused. */
  async take(sent: Sent, keep: Keep): Promise<FileRow> {
    const name = cleanName(sent.name);
    const mediaType = await mediaTypeOf(sent.path, name, sent.size);
    return this.#inTurn(keep.userId, () => this.#take({ ...sent, name }, mediaType, keep));
  }

  /** One file of a person's at a time, so that nobody's pile of them keeps others waiting. */
  async #inTurn<Result>(userId: string, work: () => Promise<Result>): Promise<Result> {
    const own = this.#turns.get(userId) ?? pLimit(1);
    this.#turns.set(userId, own);
    try {
      return await own(() => this.#turn(work));
    } finally {
      if (own.activeCount + own.pendingCount === 0) this.#turns.delete(userId);
    }
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
    await refuseBeyondPlan(this.#db, keep.userId, size);
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
      // Two at once must not both believe that there is room.
      await refuseBeyondPlan(trx, row.userId, 0);
    });
    try {
      for (let at = 0; at < passages.length; at += passagesAtOnce) {
        await indexPassages(this.#db, row.userId, { fileId: row.id }, passages.slice(at, at + passagesAtOnce));
        // SQLite answers in the same turn of the loop: others have theirs in between.
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

  /** Removes what was never sent, never finished, or has bytes and no row any more. */
  async sweep(): Promise<void> {
    // In one statement: what is being sent at this moment is temporary no more.
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

/** Bytes of everything that a person keeps. */
export async function storedBytes(db: Db, userId: string): Promise<number> {
  const row = await db
    .selectFrom("files")
    .where("userId", "=", userId)
    .select(sql<number>`coalesce(sum(size), 0)`.as("bytes"))
    .executeTakeFirstOrThrow();
  return Number(row.bytes);
}

async function refuseBeyondPlan(db: Db, userId: string, more: number): Promise<void> {
  const plan = await currentPlan(db, userId, Date.now());
  if (plan?.storageMb == null) return;
  if ((await storedBytes(db, userId)) + more > plan.storageMb * 1024 * 1024) {
    throw new FileRefused(
      `no cabe en los ${plan.storageMb.toLocaleString("es")} MB de tu plan. Borra algún archivo antes.`,
    );
  }
}

// Marks that turn writing round can make «exe.pdf» of «fdp.exe».
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** The last part of the name that the sender gave. Throws FileRefused for a name that points elsewhere or has no end. */
function cleanName(sent: string): string {
  const parts = sent.replace(invisible, "").split(/[/\\]/);
  const name = (parts.at(-1) ?? "").trim();
  if (!name || parts.includes("..")) throw new FileRefused("su nombre no es el de un archivo. Cámbialo.");
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
