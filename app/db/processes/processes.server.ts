import { hostname } from "node:os";
import { v7 as newId } from "uuid";
import packageJson from "../../../package.json" with { type: "json" };
import type { Log } from "../../process/log.server.ts";
import { storedJson } from "../../process/text/json.ts";
import type { Db, Engine } from "../engine.server.ts";
import type { ProcessRow } from "../tables.ts";
import type { SharedClock } from "./clock.server.ts";

// In ms.
const beatEvery = 5_000;
const deadAfter = 15_000;

/** Figures that a process reports with each sign of life. `delay`: the worst delay of its event loop since the last report, in ms. */
export type Load = { replies: number; memory: number; delay: number };
/** A process that serves this database. Times: epoch ms of the shared clock; `ahead`: ms that its own clock is ahead of it. */
export type LivingProcess = Pick<ProcessRow, "id" | "host" | "pid" | "version" | "createdAt" | "updatedAt"> &
  Load & { ahead: number };

type ProcessServices = { db: Db; engine: Engine; clock: SharedClock; log: Log };

/**
 * The processes that share this database: each one reports itself every few seconds. With SQLite there is one process, which reports
 * itself once. The row of a dead process is deleted, with the rows of its completions.
 */
export class Processes {
  readonly id = newId();
  readonly #services: ProcessServices;
  readonly #startedAt: number;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(services: ProcessServices) {
    this.#services = services;
    this.#startedAt = services.clock.now();
  }

  /** Registers this process and keeps its row up to date; `load` is called at each sign of life. */
  async join(load: () => Load): Promise<void> {
    const { db, engine } = this.#services;
    if (engine === "sqlite") await db.deleteFrom("processes").execute();
    await this.#beat(load());
    if (engine === "sqlite") return;
    this.#timer = setInterval(() => {
      this.#beating = this.#beat(load()).catch((error) =>
        this.#services.log.error({ err: error }, "no se pudo dar señal de vida"),
      );
    }, beatEvery).unref();
  }

  /** Removes this process from the list, as it takes on no more work. An unreachable database does not keep the process from ending. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    const { db, log } = this.#services;
    await db
      .deleteFrom("processes")
      .where("id", "=", this.id)
      .execute()
      .catch((error) => log.warn({ err: error }, "no se pudo decir que este proceso acaba"));
  }

  /** Processes that have given a sign of life lately, oldest first, this one among them. */
  async living(): Promise<LivingProcess[]> {
    const { db, engine, clock } = this.#services;
    const rows = await db
      .selectFrom("processes")
      .where("updatedAt", ">", engine === "postgres" ? clock.now() - deadAfter : 0)
      .orderBy("id")
      .selectAll()
      .execute();
    return rows.map(({ data, ...row }) => ({ ...row, ...storedJson<Load & { ahead: number }>(data) }));
  }

  /** Whether another process could continue the work that this one leaves; false if the database can't be reached. */
  async areOthers(): Promise<boolean> {
    const { engine, log } = this.#services;
    if (engine === "sqlite") return false;
    const living = await this.living().catch((error) => log.warn({ err: error }, "no se ven los demás procesos"));
    return living?.some(({ id }) => id !== this.id) ?? false;
  }

  async #beat(load: Load): Promise<void> {
    const { db, clock } = this.#services;
    const now = clock.now();
    const data = JSON.stringify({ ...load, ahead: clock.ahead });
    const row = {
      id: this.id,
      createdAt: this.#startedAt,
      host: hostname(),
      pid: process.pid,
      version: packageJson.version,
    };
    await db
      .insertInto("processes")
      .values({ ...row, updatedAt: now, data })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ updatedAt: now, data }))
      .execute();
    await db
      .deleteFrom("processes")
      .where("updatedAt", "<", now - deadAfter)
      .execute();
    await db
      .deleteFrom("completions")
      .where((e) =>
        e.not(e.exists(e.selectFrom("processes").whereRef("processes.id", "=", "completions.processId").select("id"))),
      )
      .execute();
  }
}
