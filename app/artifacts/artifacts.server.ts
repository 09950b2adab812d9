import { sql } from "kysely";
import type { Db, Engine, Trx } from "../db/engine.server.ts";
import { planWithoutRoom } from "../db/people/storage-use.server.ts";
import { newRow } from "../db/rows.server.ts";
import type { ArtifactRow, ArtifactVersionRow } from "../db/tables.ts";
import type { Jobs } from "../jobs/jobs.server.ts";
import { limits } from "../process/limits.ts";

/** A change that can't be made; the message is a Spanish sentence for people and models. */
export class ArtifactRefused extends Error {
  override name = "ArtifactRefused";
}

/** Writer of a version: a person, or a model. */
export type Writer = { writerId: string } | { modelId: string | null };
/** Owner and place of a new artifact. `sessionId`: of a temporary chat. */
export type ArtifactPlace = Pick<ArtifactRow, "userId" | "chatId" | "projectId" | "sessionId">;
type Head = Pick<ArtifactRow, "title" | "kind" | "language">;
/** A version. `outside`: the prompt of the model that wrote it held text of outsiders. */
export type Written = { text: string; reason: string; writer: Writer; outside?: boolean };
/** Changes to an artifact; without `written` there is no new version. `chatId`: the chat that it goes on in. */
export type ArtifactChange = Partial<Head & Pick<ArtifactRow, "projectId"> & { chatId: string }> & {
  written?: Written;
};

/** Texts that people and models write beside conversations. Versions are only added; each change starts from the newest version. */
export class Artifacts {
  readonly #db: Db;
  readonly #engine: Engine;
  readonly #jobs: Pick<Jobs, "add" | "wake">;

  constructor({ db, engine, jobs }: { db: Db; engine: Engine; jobs: Pick<Jobs, "add" | "wake"> }) {
    this.#db = db;
    this.#engine = engine;
    this.#jobs = jobs;
  }

  /** Stores a new artifact with its first version. Throws ArtifactRefused. */
  async add(place: ArtifactPlace, head: Head, written: Written): Promise<ArtifactRow> {
    await this.#refuse(place.userId, written.text);
    const now = Date.now();
    return this.#store(async (trx) => {
      const row = await this.#insert(trx, place, head, now);
      return this.#addVersion(trx, { ...row, version: 1 }, written, now);
    });
  }

  /** Changes an artifact; undefined, with nothing changed, if it is gone or has changed since it was read. Throws ArtifactRefused. */
  async change(before: ArtifactRow, { written, chatId, ...head }: ArtifactChange): Promise<ArtifactRow | undefined> {
    if (written) await this.#refuse(before.userId, written.text);
    const now = Date.now();
    return this.#store(async (trx) => {
      const moved = chatId !== undefined && chatId !== before.chatId;
      if (moved) await this.#lockOwner(trx, before.userId);
      const row = await trx
        .updateTable("artifacts")
        .set({ ...head, updatedAt: Math.max(now, before.updatedAt + 1) })
        .$if(moved, (update) => update.set({ chatId: chatId ?? null, n: nextIn(trx, chatId ?? "") }))
        .$if(written !== undefined, (update) =>
          update.set({ version: before.version + 1, growing: null, growingFor: null }),
        )
        .where("id", "=", before.id)
        .where("version", "=", before.version)
        .where("updatedAt", "=", before.updatedAt)
        .returningAll()
        .executeTakeFirst();
      return row && written ? this.#addVersion(trx, row, written, now) : row;
    });
  }

  /** Begins an artifact that a model is writing for a question, or finds the one that an earlier run has begun. */
  async begin(place: ArtifactPlace, questionId: string, head: Head): Promise<ArtifactRow> {
    const now = Date.now();
    const begun = await this.growingFor(questionId);
    if (begun) return begun;
    await this.#refuse(place.userId, "");
    return this.#db.transaction().execute(async (trx) => {
      const row = await this.#insert(trx, place, head, now);
      const growing = { growing: "", growingFor: questionId };
      await trx.updateTable("artifacts").set(growing).where("id", "=", row.id).execute();
      return { ...row, ...growing };
    });
  }

  /** Stores the text so far of an artifact that is being written; a text that is written again never replaces a longer one. */
  async grow(id: string, text: string): Promise<void> {
    // The last character may be half a surrogate pair, whose other half is still to come.
    const growing = storable(text.slice(0, limits.artifact).replace(/[\uD800-\uDBFF]$/, ""));
    await this.#db
      .updateTable("artifacts")
      .set({ growing })
      .where("id", "=", id)
      .where("growingFor", "is not", null)
      .where(sql<number>`length(growing)`, "<=", growing.length)
      .execute();
  }

  /** Deletes an artifact that was being written and turned out to be a version of another artifact. */
  async drop(id: string): Promise<void> {
    await this.#db.deleteFrom("artifacts").where("id", "=", id).where("version", "=", 0).execute();
  }

  /** The artifact that is being written for a question. */
  growingFor(questionId: string): Promise<ArtifactRow | undefined> {
    return this.#db
      .selectFrom("artifacts")
      .where("growingFor", "=", questionId)
      .where("version", "=", 0)
      .selectAll()
      .executeTakeFirst();
  }

  /** Stores the newest version as a file, in the background: search finds the artifact by this file, and projects show it. */
  async keepSoon({ id, userId, sessionId }: Pick<ArtifactRow, "id" | "userId" | "sessionId">, trx?: Db): Promise<void> {
    if (sessionId !== null) return;
    const db = trx ?? this.#db;
    const waiting = db
      .selectFrom("jobs")
      .where("kind", "=", "artifact")
      .where("subjectId", "=", id)
      .where("state", "=", "waiting")
      .select("id")
      // A job that begins meanwhile would read the version before.
      .$if(this.#engine === "postgres", (query) => query.forUpdate());
    if (await waiting.executeTakeFirst()) return;
    await this.#jobs.add({ kind: "artifact", userId, subjectId: id }, db);
    if (!trx) this.#jobs.wake("artifact");
  }

  async #refuse(userId: string, text: string): Promise<void> {
    if (text.length > limits.artifact) {
      throw new ArtifactRefused(
        `Un escrito tiene ${limits.artifact.toLocaleString("es")} letras como mucho, y este ${text.length.toLocaleString("es")}. Pártelo en varios.`,
      );
    }
    const full = await planWithoutRoom(this.#db, userId, Buffer.byteLength(text));
    if (full !== undefined) {
      throw new ArtifactRefused(
        `No cabe en los ${full.toLocaleString("es")} MB de tu plan. Borra antes algo que no necesites.`,
      );
    }
  }

  async #store<Row extends ArtifactRow | undefined>(write: (trx: Trx) => Promise<Row>): Promise<Row> {
    const row = await this.#db.transaction().execute(async (trx) => {
      const stored = await write(trx);
      if (stored) await this.keepSoon(stored, trx);
      return stored;
    });
    this.#jobs.wake("artifact");
    return row;
  }

  async #insert(trx: Trx, place: ArtifactPlace, head: Head, now: number): Promise<ArtifactRow> {
    await this.#lockOwner(trx, place.userId);
    const { count, last } = await trx
      .selectFrom("artifacts")
      .where("userId", "=", place.userId)
      .select((e) => [
        e.fn.countAll<number>().as("count"),
        e.fn.max("n").filterWhere("chatId", "is not distinct from", place.chatId).as("last"),
      ])
      .executeTakeFirstOrThrow();
    if (Number(count) >= limits.artifacts) {
      throw new ArtifactRefused(`Ya tienes ${limits.artifacts.toLocaleString("es")} escritos. Elimina alguno.`);
    }
    const row: ArtifactRow = {
      ...newRow(now),
      ...place,
      ...head,
      fileId: null,
      n: Number(last ?? 0) + 1,
      version: 0,
      outside: 0,
      growing: null,
      growingFor: null,
      shareToken: null,
      sharedVersion: null,
    };
    await trx.insertInto("artifacts").values(row).execute();
    return row;
  }

  /** Keeps two artifacts that are made at once in one chat from getting the same number; SQLite has one transaction at a time. */
  async #lockOwner(trx: Trx, userId: string): Promise<void> {
    if (this.#engine !== "postgres") return;
    await trx.selectFrom("users").where("id", "=", userId).select("id").forUpdate().execute();
  }

  async #addVersion(
    trx: Trx,
    row: ArtifactRow,
    { text, reason, writer, outside = false }: Written,
    now: number,
  ): Promise<ArtifactRow> {
    const { id: artifactId, userId, version: n } = row;
    const words = storable(text);
    const kept: ArtifactVersionRow = {
      ...{ ...newRow(now), userId, artifactId, n, text: words },
      size: Buffer.byteLength(words),
      writerId: "writerId" in writer ? writer.writerId : null,
      modelId: "modelId" in writer ? writer.modelId : null,
      reason: storable(reason.replace(/\s+/g, " ").trim()).slice(0, limits.artifactReason),
    };
    const tainted = outside && row.outside === 0 ? { outside: 1 } : {};
    await trx
      .updateTable("artifacts")
      .set({ version: n, ...tainted })
      .where("id", "=", artifactId)
      .execute();
    await trx.insertInto("artifactVersions").values(kept).execute();
    await trx
      .deleteFrom("artifactVersions")
      .where("artifactId", "=", artifactId)
      .where("n", "<=", n - limits.artifactVersions)
      // The link still shows the shared version.
      .$if(row.sharedVersion !== null, (old) => old.where("n", "!=", row.sharedVersion ?? 0))
      // No version is deleted while deletion is suspended for the person.
      .where(sql<boolean>`not exists (select 1 from holds where holds."userId" = ${userId})`)
      .execute();
    return row;
  }

  /**
   * Ends the artifacts that a reply has left half written for a question: the text so far becomes the first version. An artifact without
   * text is deleted. Call it in the transaction that ends the reply.
   */
  async endGrowing(trx: Db, questionId: string, modelId: string | null, now: number): Promise<void> {
    const left = await trx
      .selectFrom("artifacts")
      .where("growingFor", "=", questionId)
      .where("version", "=", 0)
      .selectAll()
      .execute();
    for (const row of left) {
      const { id: artifactId, userId, growing } = row;
      if (!growing?.trim()) {
        await trx.deleteFrom("artifacts").where("id", "=", artifactId).execute();
        continue;
      }
      const version = { ...newRow(now), userId, artifactId, n: 1, text: growing };
      await trx
        .insertInto("artifactVersions")
        .values({ ...version, size: Buffer.byteLength(growing), writerId: null, modelId, reason: unfinished })
        .execute();
      // The prompt is unknown by now: it may have held text of outsiders.
      await trx
        .updateTable("artifacts")
        .set({ version: 1, outside: 1, growing: null, growingFor: null, updatedAt: now })
        .where("id", "=", artifactId)
        .execute();
      await this.keepSoon(row, trx);
    }
  }
}

/** The next number of an artifact in a chat. */
const nextIn = (trx: Trx, chatId: string) =>
  trx.selectFrom("artifacts").where("chatId", "=", chatId).select(sql<number>`coalesce(max(n), 0) + 1`.as("n"));

/** Text that both engines store. */
const storable = (text: string): string => text.replaceAll("\0", "").toWellFormed();

// As many artifacts as a model can tell apart; it reads others by their numbers.
const givenAtMost = 20;

/** The artifacts of a chat that were changed last, with the text of their newest version; not those that are being written. */
export const artifactsOf = (db: Db, chatId: string) =>
  db
    .selectFrom("artifacts")
    .innerJoin("artifactVersions as v", (join) =>
      join.onRef("v.artifactId", "=", "artifacts.id").onRef("v.n", "=", "artifacts.version"),
    )
    .where("artifacts.chatId", "=", chatId)
    .orderBy("artifacts.updatedAt", "desc")
    .limit(givenAtMost)
    .selectAll("artifacts")
    .select("v.text")
    .execute();

/** Moves the artifacts of a chat that were in its old project, with their files, to its new project. */
export async function moveArtifacts(
  trx: Trx,
  { id: chatId, projectId: before }: { id: string; projectId: string | null },
  projectId: string | null,
): Promise<void> {
  const moved = await trx
    .updateTable("artifacts")
    .set({ projectId })
    .where("chatId", "=", chatId)
    .where("projectId", "is not distinct from", before)
    .returning("fileId")
    .execute();
  const fileIds = moved.flatMap(({ fileId }) => fileId ?? []);
  if (fileIds.length > 0) await trx.updateTable("files").set({ projectId }).where("id", "in", fileIds).execute();
}

/** The text of a version of an artifact. */
export async function textOf(db: Db, { id, version }: Pick<ArtifactRow, "id" | "version">): Promise<string> {
  const row = await db
    .selectFrom("artifactVersions")
    .where("artifactId", "=", id)
    .where("n", "=", version)
    .select("text")
    .executeTakeFirst();
  return row?.text ?? "";
}

const unfinished = "Sin acabar: se dejó de escribir antes del final.";
