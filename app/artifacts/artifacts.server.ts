import { v7 as newId } from "uuid";
import type { Db, Engine, Trx } from "../db/engine.server.ts";
import { planWithoutRoom } from "../db/people/storage-use.server.ts";
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
export type Place = Pick<ArtifactRow, "userId" | "chatId" | "projectId" | "sessionId">;
type Head = Pick<ArtifactRow, "title" | "kind" | "language">;
export type Written = Partial<Head> & { text: string; reason: string; writer: Writer };

/** Texts that people and models write beside conversations. Versions are only added; each change is of the newest one. */
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
  async add(place: Place, { title, kind, language, ...written }: Head & Written): Promise<ArtifactRow> {
    await this.#refuse(place.userId, written.text);
    const now = Date.now();
    return this.#store(async (trx) => {
      const row = await this.#insert(trx, place, { title, kind, language }, now);
      return this.#addVersion(trx, { ...row, version: 1 }, written, now);
    });
  }

  /** Stores the next version of an artifact; undefined if it is gone, or has changed since it was read. Throws ArtifactRefused. */
  async change(before: ArtifactRow, { title, kind, language, ...written }: Written): Promise<ArtifactRow | undefined> {
    await this.#refuse(before.userId, written.text);
    const now = Date.now();
    const version = before.version + 1;
    return this.#store(async (trx) => {
      const row = await trx
        .updateTable("artifacts")
        .set({ version, growing: null, growingFor: null, updatedAt: Math.max(now, before.updatedAt + 1) })
        .set({
          title: title ?? before.title,
          kind: kind ?? before.kind,
          language: language === undefined ? before.language : language,
        })
        .where("id", "=", before.id)
        .where("version", "=", before.version)
        .returningAll()
        .executeTakeFirst();
      return row && this.#addVersion(trx, row, written, now);
    });
  }

  /** Begins an artifact that a model is writing for a question, or finds the one that an earlier run has begun. */
  async begin(place: Place, questionId: string, head: Head): Promise<ArtifactRow> {
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

  /** Keeps the text so far of an artifact that is being written. */
  async grow(id: string, text: string): Promise<void> {
    const growing = storable(text.slice(0, limits.artifact));
    await this.#db
      .updateTable("artifacts")
      .set({ growing })
      .where("id", "=", id)
      .where("growingFor", "is not", null)
      .execute();
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

  /** Keeps the next version as a file, in the background: by it the artifact is found and shown to a project. */
  async keepSoon({ id, userId, sessionId }: Pick<ArtifactRow, "id" | "userId" | "sessionId">, trx?: Db): Promise<void> {
    if (sessionId !== null) return;
    const db = trx ?? this.#db;
    const waiting = db.selectFrom("jobs").where("kind", "=", "artifact").where("subjectId", "=", id);
    if (await waiting.where("state", "=", "waiting").select("id").executeTakeFirst()) return;
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

  async #insert(trx: Trx, place: Place, head: Head, now: number): Promise<ArtifactRow> {
    // Two at once in one chat do not get one number; SQLite has one transaction at a time.
    if (this.#engine === "postgres") {
      await trx.selectFrom("users").where("id", "=", place.userId).select("id").forUpdate().execute();
    }
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
      id: newId(),
      createdAt: now,
      updatedAt: now,
      ...place,
      ...head,
      fileId: null,
      n: Number(last ?? 0) + 1,
      version: 0,
      growing: null,
      growingFor: null,
    };
    await trx.insertInto("artifacts").values(row).execute();
    return row;
  }

  async #addVersion(
    trx: Trx,
    row: ArtifactRow,
    { text, reason, writer }: Omit<Written, keyof Head>,
    now: number,
  ): Promise<ArtifactRow> {
    const { id: artifactId, userId, version: n } = row;
    const kept: ArtifactVersionRow = {
      ...{ id: newId(), createdAt: now, updatedAt: now, userId, artifactId, n, text: storable(text) },
      writerId: "writerId" in writer ? writer.writerId : null,
      modelId: "modelId" in writer ? writer.modelId : null,
      reason: storable(reason.replace(/\s+/g, " ").trim()).slice(0, limits.artifactReason),
    };
    await trx.updateTable("artifacts").set({ version: n }).where("id", "=", artifactId).execute();
    await trx.insertInto("artifactVersions").values(kept).execute();
    await trx
      .deleteFrom("artifactVersions")
      .where("artifactId", "=", artifactId)
      .where("n", "<=", n - limits.artifactVersions)
      .execute();
    return row;
  }
}

/** Text that both engines store. */
const storable = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** The artifacts of a chat in their order, with the text of the newest version of each; not those that are being written. */
export const artifactsOf = (db: Db, chatId: string) =>
  db
    .selectFrom("artifacts")
    .innerJoin("artifactVersions as v", (join) =>
      join.onRef("v.artifactId", "=", "artifacts.id").onRef("v.n", "=", "artifacts.version"),
    )
    .where("artifacts.chatId", "=", chatId)
    .orderBy("artifacts.n")
    .selectAll("artifacts")
    .select("v.text")
    .execute();

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

const unfinished = "Sin acabar: la respuesta se detuvo mientras se escribía.";

/**
 * Ends what a reply has left half written for a question: its text so far is the first version. What has none goes. In the transaction that
 * ends the reply.
 */
export async function endGrowing(trx: Db, questionId: string, modelId: string | null, now: number): Promise<void> {
  const left = await trx
    .selectFrom("artifacts")
    .where("growingFor", "=", questionId)
    .where("version", "=", 0)
    .selectAll()
    .execute();
  for (const { id, userId, growing } of left) {
    if (!growing?.trim()) {
      await trx.deleteFrom("artifacts").where("id", "=", id).execute();
      continue;
    }
    const row = { id: newId(), createdAt: now, updatedAt: now, userId, artifactId: id, n: 1, text: growing };
    await trx
      .insertInto("artifactVersions")
      .values({ ...row, writerId: null, modelId, reason: unfinished })
      .execute();
    await trx
      .updateTable("artifacts")
      .set({ version: 1, growing: null, growingFor: null, updatedAt: now })
      .where("id", "=", id)
      .execute();
  }
}
