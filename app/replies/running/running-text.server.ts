import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { SharedClock } from "../../db/processes/clock.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import type { Log } from "../../process/log.server.ts";
import type { Changes } from "../../realtime/changes.server.ts";
import { storeParts } from "../parts.server.ts";
import type { Run } from "./run.server.ts";
import { sourcesOf } from "./settle.server.ts";

// In ms. A killed server loses at most the last 250 ms of text.
const storeEvery = 250;
// In ms, for replies that another process follows by reading the database. Each time the whole reply is written and read, so replies
// longer than 5,000 characters are stored less often, in proportion to their length.
const storeForOthersEvery = 50;
const charactersEachMs = 100;
// In ms between signs of life for other processes.
const beatEvery = 5_000;

type TextServices = { db: Db; clock: SharedClock; log: Log; changes: Pick<Changes, "tellOfReplies"> };

/** Stores what running replies have written, until they end. */
export class RunningText {
  readonly #services: TextServices;
  readonly #runs: ReadonlyMap<string, Run>;
  readonly #timer: NodeJS.Timeout;
  #storing: Promise<void> | undefined;

  /** `runs`: the running replies, as a map that stays current. */
  constructor(services: TextServices, runs: ReadonlyMap<string, Run>) {
    this.#services = services;
    this.#runs = runs;
    this.#timer = setInterval(() => this.#tick(), storeForOthersEvery).unref();
  }

  /** Resolves when the store under way has finished: the end of a reply must not be overwritten by its beginning. */
  get stored(): Promise<void> {
    return this.#storing ?? Promise.resolve();
  }

  /** Stores a reply as it is now. Throws if that fails; a reply that was ended elsewhere is stopped. */
  async keep(run: Run): Promise<void> {
    while (this.#storing) await this.#storing;
    const storing = this.#store([run], Date.now());
    this.#storing = storing
      .catch(() => {})
      .finally(() => {
        this.#storing = undefined;
      });
    await storing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#storing;
  }

  #tick(): void {
    if (this.#storing) return;
    const now = Date.now();
    const due = [...this.#runs.values()].filter((run) => !run.settled && !run.isLeaving && isDue(run, now));
    if (due.length === 0) return;
    this.#storing = this.#store(due, now)
      .catch((error) => this.#services.log.error({ err: error }, "no se pudo guardar el texto en curso"))
      .finally(() => {
        this.#storing = undefined;
      });
  }

  /** One transaction for all replies: a commit costs the same for one row or for a thousand. A single row needs no transaction. */
  async #store(due: Run[], now: number): Promise<void> {
    const { db, clock } = this.#services;
    const stored = due.map((run) => ({ run, length: run.text.length, parts: run.unstored(run.parts) }));
    const store = async (handle: Db) => {
      for (const { run, parts } of stored) {
        const { messageId: id, writer, text: content } = run;
        const promptLength = run.promptLength || null;
        const written = { id, writer, content, sources: sourcesOf(run), heartbeatAt: clock.now(), promptLength };
        const { numAffectedRows } = await storeText(handle, written);
        if (numAffectedRows === 0n) await endElsewhere(handle, run);
        else await storeParts(handle, run.messageId, parts, now);
      }
    };
    const isOneRow = stored.length === 1 && stored[0]?.parts.length === 0;
    await (isOneRow ? store(db) : db.transaction().execute(store));
    for (const { run, length, parts } of stored) {
      run.stored = length;
      run.markStored(parts);
      run.heartbeatAt = now;
    }
    const followed = due.filter((run) => run.followedElsewhere).map(({ messageId }) => messageId);
    this.#services.changes.tellOfReplies({ replyIds: followed, are: "grown" });
  }
}

type Written = "content" | "sources" | "heartbeatAt" | "promptLength";

const storeText = prepared((db, { id, writer, ...written }: Pick<MessageRow, "id" | "writer" | Written>) =>
  db
    .updateTable("messages")
    .set(written)
    .where("id", "=", id)
    .where("status", "=", sql.lit("streaming"))
    .where("writer", "=", writer),
);

/** Whether more of a reply is to be stored now, or a sign of life. */
function isDue(run: Run, now: number): boolean {
  const since = now - run.heartbeatAt;
  if (since > beatEvery) return true;
  const forOthers = Math.max(storeForOthersEvery, run.length / charactersEachMs);
  const every = run.followedElsewhere ? Math.min(forOthers, storeEvery) : storeEvery;
  return since >= every && (run.text.length > run.stored || run.isThinking || run.isCalling);
}

/** Ends a run whose reply was stopped by another process, deleted with its chat, or taken over while this process stood still. */
async function endElsewhere(db: Db, run: Run): Promise<void> {
  const found = await db.selectFrom("messages").where("id", "=", run.messageId).select("status").executeTakeFirst();
  if (found?.status === "streaming") run.leave("another");
  else run.stop("stopped");
}
