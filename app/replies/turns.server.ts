import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import type { Db, Engine, Trx } from "../db/engine.server.ts";
import type { Processes } from "../db/processes/processes.server.ts";
import { newRow } from "../db/rows.server.ts";
import type { ModelRow, TurnRow } from "../db/tables.ts";
import type { Log } from "../process/log.server.ts";

type TurnServices = { db: Db; engine: Engine; processes: Pick<Processes, "id">; log: Log };

type Asked = {
  userId: string;
  /** Reply that waits; null for a program. */
  messageId: string | null;
  signal: AbortSignal;
  /** Told the place in the queue, from 1 on, whenever it changes. */
  tell(place: number): void;
};

// In ms: how often turns that other processes give back are looked for.
const lookEvery = 1_000;
const giveBackAgainAfter = 5_000;

/**
 * Turns at models that answer only so many at once, over all processes of the installation. The turns of a process that dies go with it.
 * One instance per process.
 */
export class Turns {
  readonly #services: TurnServices;
  /** By model: resolves when a turn at it is given back here. */
  readonly #given = new Map<string, PromiseWithResolvers<void>>();
  /** Turns that are over and may still be stored, with their models. */
  readonly #over = new Map<string, string>();

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /**
   * Resolves once a model may be asked, with a function that gives the turn back and may be called twice; at once for a model without a
   * limit. Throws the reason with which `signal` was aborted.
   */
  async take({ id: modelId, atOnce }: Pick<ModelRow, "id" | "atOnce">, asked: Asked): Promise<() => Promise<void>> {
    if (atOnce === null) return async () => {};
    const { db, engine, processes } = this.#services;
    const { userId, messageId, signal, tell } = asked;
    const now = Date.now();
    const turn = { ...newRow(now), modelId, userId, messageId, processId: processes.id };
    const leave = () => this.#giveBack(turn);
    try {
      for (let last = 0; ; ) {
        signal.throwIfAborted();
        const given = this.#given.get(modelId) ?? Promise.withResolvers<void>();
        this.#given.set(modelId, given);
        const place = await db.transaction().execute((trx) => placeOf(trx, engine, turn));
        if (place === 0) return leave;
        if (place !== last) tell(place);
        last = place;
        const look = setTimeout(lookEvery, undefined, { signal, ref: false }).catch(() => undefined);
        await Promise.race([given.promise, look]);
      }
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /** Never throws: an unavailable database is asked again, as a turn that is not given back would be lost for ever. */
  async #giveBack(...turns: Pick<TurnRow, "id" | "modelId">[]): Promise<void> {
    for (const { id, modelId } of turns) this.#over.set(id, modelId);
    const over = [...this.#over.keys()];
    const models = new Set(this.#over.values());
    if (over.length === 0) return;
    try {
      await this.#services.db.transaction().execute((trx) => endTurns(trx, over));
      for (const id of over) this.#over.delete(id);
    } catch (error) {
      this.#services.log.warn({ err: error }, "no se pudo devolver un turno");
      void setTimeout(giveBackAgainAfter, undefined, { ref: false }).then(() => this.#giveBack());
    }
    for (const modelId of models) {
      this.#given.get(modelId)?.resolve();
      this.#given.delete(modelId);
    }
  }
}

const [taken, over] = [0, -1];

/** Ends turns. Ended turns keep their rounds while others wait, so that a person who comes again at once does not go first each time. */
async function endTurns(trx: Trx, ids: string[]): Promise<void> {
  await trx.updateTable("turns").set({ place: over, messageId: null }).where("id", "in", ids).execute();
  await trx
    .deleteFrom("turns")
    .where("place", "=", over)
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom("turns as w")
            .whereRef("w.modelId", "=", "turns.modelId")
            .where("w.place", ">", 0)
            .select("w.id"),
        ),
      ),
    )
    .execute();
}

type Arriving = Omit<TurnRow, "place" | "round">;

/** Place of a turn now, stored with it: 0 once the model may be asked. A model that is gone, or has no limit any more, keeps nobody waiting. */
async function placeOf(trx: Trx, engine: Engine, turn: Arriving): Promise<number> {
  const { modelId, userId, processId } = turn;
  // The lock keeps two turns from both taking the last place; SQLite has one transaction at a time.
  if (engine === "postgres") await sql`select pg_advisory_xact_lock(hashtext(${`turns ${modelId}`}))`.execute(trx);
  // This process is left out: it may not be registered yet, or may have signed off already.
  await trx
    .deleteFrom("turns")
    .where("modelId", "=", modelId)
    .where("processId", "!=", processId)
    .where("processId", "not in", (e) => e.selectFrom("processes").select("id"))
    .execute();
  const model = await trx.selectFrom("models").where("id", "=", modelId).select("atOnce").executeTakeFirst();
  const all = await trx
    .selectFrom("turns")
    .where("modelId", "=", modelId)
    .orderBy("round")
    .orderBy("id")
    .selectAll()
    .execute();
  const known = all.find(({ id }) => id === turn.id);
  const own = known ?? { ...turn, round: roundOf(all, userId), place: behind };
  const place = model?.atOnce == null ? taken : placeIn(all, own, model.atOnce);
  if (known && known.place !== place) await trx.updateTable("turns").set({ place }).where("id", "=", turn.id).execute();
  if (known) return place;
  // Only the last round of a person's ended turns counts.
  const before = trx.deleteFrom("turns").where("modelId", "=", modelId).where("userId", "=", userId);
  await before.where("place", "=", over).execute();
  await trx
    .insertInto("turns")
    .values({ ...own, place })
    .execute();
  return place;
}

// Place of a turn that arrives: it waits, and its true place is not known yet.
const behind = 1;

type Queued = Pick<TurnRow, "id" | "userId" | "round" | "place">;

/** The round of a person's next turn: the current round of the model, or the one after the person's last. `turns`: ordered by round. */
export function roundOf(turns: Queued[], userId: string): number {
  const now = (turns.find(({ place }) => place === taken) ?? turns.find(({ place }) => place > 0))?.round ?? 0;
  const last = turns.findLast((turn) => turn.userId === userId);
  return last ? Math.max(now, last.round + 1) : now;
}

/** Place of a turn among all of its model, which are by round and arrival: 0 once it may be taken. */
export function placeIn(turns: Queued[], own: Queued, atOnce: number): number {
  if (own.place === taken) return taken;
  const free = Math.max(0, atOnce - turns.filter(({ place }) => place === taken).length);
  const isBefore = ({ id, round, place }: Queued) =>
    place > 0 && id !== own.id && (round < own.round || (round === own.round && id < own.id));
  return Math.max(0, turns.filter(isBefore).length + 1 - free);
}
