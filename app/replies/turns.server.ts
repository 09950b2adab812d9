import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Engine, Trx } from "../db/engine.server.ts";
import type { Processes } from "../db/processes/processes.server.ts";
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

// In ms: turns that other processes give back are looked for so often.
const lookEvery = 1_000;
const giveBackAgainAfter = 5_000;

/**
 * Turns at models that answer only so many at once, over all processes of the installation. The turns of a process that dies go with it.
 * One instance per process.
 */
export class Turns {
  readonly #services: TurnServices;
  #given: PromiseWithResolvers<void> = Promise.withResolvers();
  /** Turns that are over and may still be stored. */
  readonly #over = new Set<string>();

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /**
   * Resolves once a model may be asked, with what gives the turn back; at once for a model without a limit. Throws what `signal` was aborted
   * with.
   */
  async take({ id: modelId, atOnce }: Pick<ModelRow, "id" | "atOnce">, asked: Asked): Promise<() => Promise<void>> {
    if (atOnce === null) return async () => {};
    const { db, engine, processes } = this.#services;
    const { userId, messageId, signal, tell } = asked;
    const now = Date.now();
    const turn = { id: newId(), createdAt: now, updatedAt: now, modelId, userId, messageId, processId: processes.id };
    const leave = () => this.#giveBack(turn.id);
    try {
      for (let last = 0; ; ) {
        signal.throwIfAborted();
        const given = this.#given.promise;
        const place = await db.transaction().execute((trx) => placeOf(trx, engine, turn, atOnce));
        if (place === 0) return leave;
        if (place !== last) tell(place);
        last = place;
        const look = setTimeout(lookEvery, undefined, { signal, ref: false }).catch(() => undefined);
        await Promise.race([given, look]);
      }
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /** Never throws: a database that is away is asked again, as a turn that stays would be one less for ever. */
  async #giveBack(...ids: string[]): Promise<void> {
    for (const id of ids) this.#over.add(id);
    const over = [...this.#over];
    if (over.length === 0) return;
    try {
      await this.#services.db.deleteFrom("turns").where("id", "in", over).execute();
      for (const id of over) this.#over.delete(id);
    } catch (error) {
      this.#services.log.warn({ err: error }, "no se pudo devolver un turno");
      void setTimeout(giveBackAgainAfter, undefined, { ref: false }).then(() => this.#giveBack());
    }
    this.#given.resolve();
    this.#given = Promise.withResolvers();
  }
}

type Arriving = Omit<TurnRow, "place" | "round">;

/** Place of a turn now, stored with it: 0 once the model may be asked. */
async function placeOf(trx: Trx, engine: Engine, turn: Arriving, atOnce: number): Promise<number> {
  // Two at once do not both find the last place; SQLite has one transaction at a time.
  if (engine === "postgres") await sql`select pg_advisory_xact_lock(hashtext(${`turns ${turn.modelId}`}))`.execute(trx);
  const all = await trx
    .selectFrom("turns")
    .where("modelId", "=", turn.modelId)
    .orderBy("round")
    .orderBy("id")
    .selectAll()
    .execute();
  const own = all.find(({ id }) => id === turn.id) ?? { ...turn, round: roundOf(all, turn.userId), place: notYet };
  const place = placeIn(all, own, atOnce);
  if (own.place === notYet)
    await trx
      .insertInto("turns")
      .values({ ...own, place })
      .execute();
  else if (own.place !== place) await trx.updateTable("turns").set({ place }).where("id", "=", turn.id).execute();
  return place;
}

const notYet = -1;

type Queued = Pick<TurnRow, "id" | "userId" | "round" | "place">;

/** The round of a person's next turn: the one that the model is at, or the one after their last. `turns`: by round. */
export function roundOf(turns: Queued[], userId: string): number {
  const now = (turns.find(({ place }) => place === 0) ?? turns[0])?.round ?? 0;
  const last = turns.findLast((turn) => turn.userId === userId);
  return last ? Math.max(now, last.round + 1) : now;
}

/** Place of a turn among all of its model, which are by round and arrival: 0 once it may be taken. */
export function placeIn(turns: Queued[], own: Queued, atOnce: number): number {
  if (own.place === 0) return 0;
  const free = Math.max(0, atOnce - turns.filter(({ place }) => place === 0).length);
  const isBefore = ({ id, round, place }: Queued) =>
    place !== 0 && id !== own.id && (round < own.round || (round === own.round && id < own.id));
  return Math.max(0, turns.filter(isBefore).length + 1 - free);
}
