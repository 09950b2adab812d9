import { setTimeout } from "node:timers/promises";
import type { Db, Engine } from "../db/connection.server.ts";
import { whyUnavailable } from "../db/errors.server.ts";
import type { MessageRow, ModelRow } from "../db/tables.ts";
import type { Storage } from "../files/storage.server.ts";
import type { Log } from "../log.server.ts";
import type { Changes } from "../realtime/changes.server.ts";
import { describeCause, ReplyError } from "./errors.server.ts";
import { localReply } from "./local.server.ts";
import { openModel } from "./model-access.server.ts";
import { buildPrompt } from "./prompt.server.ts";
import { generate, type Part } from "./providers.server.ts";
import { type EndStatus, Run, StopReply } from "./run.server.ts";
import { settle, sourcesOf } from "./settle.server.ts";
import { makeTitle } from "./title.server.ts";

export type Services = {
  db: Db;
  engine: Engine;
  log: Log;
  /** Opens models' keys. */
  modelKey: Buffer;
  /** ms a model may stay silent. */
  modelSilence: number;
  /** Where the images of messages lie. */
  storage: Storage;
  changes: Pick<Changes, "tell">;
};

// product.md §2: a killed server loses at most the last 250 ms of text.
const storeEvery = 250;
const beatEvery = 5_000;
const deadAfter = 30_000;
const settleAgainAfter = [1_000, 5_000, 20_000, 60_000];

/** The replies that this process is writing. One instance a process. */
export class Runs {
  readonly #services: Services;
  readonly #runs = new Map<string, Run>();
  readonly #timers: NodeJS.Timeout[] = [];
  #storing: Promise<void> | undefined;
  readonly #settling = new Set<Promise<void>>();
  #closing = Promise.withResolvers<"closing">();

  constructor(services: Services) {
    this.#services = services;
    this.#timers.push(setInterval(() => this.#tick(), storeEvery).unref());
    if (services.engine === "postgres") {
      this.#timers.push(setInterval(() => this.#sweep(), deadAfter / 2).unref());
    }
  }

  /** Marks as interrupted the replies that no living process writes. Call it before the first request. */
  async findInterrupted(): Promise<number> {
    const { db, engine } = this.#services;
    const now = Date.now();
    const result = await db
      .updateTable("messages")
      .set({ status: "interrupted", finishedAt: now, updatedAt: now })
      .where("status", "=", "streaming")
      // SQLite has one process only, so whatever still streams at start-up is nobody's.
      .$if(engine === "postgres", (query) => query.where("heartbeatAt", "<", now - deadAfter))
      .executeTakeFirst();
    return Number(result.numUpdatedRows);
  }

  get(messageId: string): Run | undefined {
    return this.#runs.get(messageId);
  }

  /** Starts writing a stored, empty or unfinished reply to `question`. */
  start(reply: MessageRow, question: MessageRow, model: ModelRow): Run {
    const run = new Run(reply);
    this.#runs.set(reply.id, run);
    this.#services.changes.tell({ userId: reply.userId, what: "message" });
    void this.#carryOut(run, reply, question, model);
    return run;
  }

  /** Ends a reply at the person's wish; its text stays. Resolves when that is stored. */
  async stop(messageId: string): Promise<void> {
    const run = this.#runs.get(messageId);
    if (run) {
      run.stop("stopped");
      await run.ended;
      return;
    }
    // Another process writes it: it notices at its next store.
    const now = Date.now();
    await this.#services.db
      .updateTable("messages")
      .set({ status: "stopped", finishedAt: now, updatedAt: now })
      .where("id", "=", messageId)
      .where("status", "=", "streaming")
      .execute();
  }

  /** Lets running replies end for `patience` ms, marks the rest as interrupted. */
  async close(patience: number): Promise<void> {
    const all = Promise.all([...this.#runs.values()].map((run) => run.ended));
    await Promise.race([all, setTimeout(patience, undefined, { ref: false })]);
    for (const run of this.#runs.values()) run.stop("interrupted");
    await Promise.all([...this.#runs.values()].map((run) => run.ended));
    this.#closing.resolve("closing");
    await Promise.all(this.#settling);
    for (const timer of this.#timers) clearInterval(timer);
    await this.#storing;
  }

  /** How many replies this process is writing. */
  get underway(): number {
    return this.#runs.size;
  }

  async #carryOut(run: Run, reply: MessageRow, question: MessageRow, model: ModelRow): Promise<void> {
    const { db, log } = this.#services;
    let status: EndStatus = "complete";
    try {
      for await (const part of this.#write(run, question, model)) {
        if (part.type === "text") {
          run.text += part.text;
          run.announce();
        } else {
          run.usage = { inputTokens: part.usage.inputTokens ?? 0, outputTokens: part.usage.outputTokens ?? 0 };
          run.error = part.note;
        }
      }
    } catch (error) {
      if (error instanceof StopReply) {
        status = error.status;
      } else {
        status = "failed";
        run.error = error instanceof ReplyError ? error.message : "Algo ha fallado en el servidor. Reinténtalo.";
        const { messageId } = run;
        if (error instanceof ReplyError)
          log.warn({ messageId, modelId: model.id, cause: describeCause(error) }, "respuesta fallida");
        else log.error({ messageId, modelId: model.id, err: error }, "respuesta fallida");
      }
    }
    const settling = this.#settleSurely(run, reply, model, status);
    this.#settling.add(settling);
    await settling.finally(() => this.#settling.delete(settling));
    run.end(status);
    this.#services.changes.tell({ userId: reply.userId, what: "message" });
    if (status === "complete" && model.provider !== "local") {
      run.title = await makeTitle(db, question, run.text, this.#access(model), {
        log,
        silence: this.#services.modelSilence,
      });
    }
    if (run.title) this.#services.changes.tell({ userId: reply.userId, what: "chat" });
    run.done = true;
    run.announce();
    // «Continuar» may have begun another one of the same message.
    if (this.#runs.get(run.messageId) === run) this.#runs.delete(run.messageId);
  }

  async *#write(run: Run, question: MessageRow, model: ModelRow): AsyncGenerator<Part> {
    const access = this.#access(model);
    const { prompt, sources, stored } = await buildPrompt(this.#services, question, access, run);
    run.sources = sources;
    run.prompt = stored;
    run.promptLength = prompt.system.length + prompt.turns.reduce((sum, { content }) => sum + content.length, 0);
    if (sources.length > 0) run.announce();
    if (model.provider === "local") {
      yield* localReply(sources, run.text, run.signal);
    } else {
      yield* generate(access, prompt, { signal: run.signal, silence: this.#services.modelSilence });
    }
  }

  #access(model: ModelRow): ModelRow {
    return openModel(model, this.#services.modelKey);
  }

  /** A full disk or a lost database may come back; until then the text waits here, and whoever reads it has all of it. */
  async #settleSurely(run: Run, reply: MessageRow, model: ModelRow, status: EndStatus): Promise<void> {
    let last = false;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#storing;
        await settle(this.#services.db, run, reply, model, status);
        run.settled = true;
        return;
      } catch (error) {
        const { messageId } = run;
        this.#services.log.error({ messageId, err: error as Error }, "no se pudo guardar el final de una respuesta");
        // What is wrong with the reply itself, as that its person is gone, stays so.
        last ||= !whyUnavailable(error) && attempt >= settleAgainAfter.length;
      }
      run.end(status);
      // Of what could not be stored at all, the next start finds a beginning, interrupted.
      if (last) return;
      const wait = settleAgainAfter[Math.min(attempt, settleAgainAfter.length - 1)];
      last = (await Promise.race([setTimeout(wait, "again"), this.#closing.promise])) === "closing";
    }
  }

  #tick(): void {
    if (this.#storing) return;
    const now = Date.now();
    const due = [...this.#runs.values()].filter(
      (run) => !run.settled && (run.text.length > run.stored || now - run.heartbeatAt > beatEvery),
    );
    if (due.length === 0) return;
    this.#storing = this.#store(due, now)
      .catch((error) => this.#services.log.error({ err: error as Error }, "no se pudo guardar el texto en curso"))
      .finally(() => {
        this.#storing = undefined;
      });
  }

  /** One transaction for all of them: a commit costs the same for one row or for a thousand. */
  async #store(due: Run[], now: number): Promise<void> {
    const stored = due.map((run) => ({ run, length: run.text.length }));
    await this.#services.db.transaction().execute(async (trx) => {
      for (const { run } of stored) {
        const { numUpdatedRows } = await trx
          .updateTable("messages")
          .set({ content: run.text, sources: sourcesOf(run), heartbeatAt: now })
          .where("id", "=", run.messageId)
          .where("status", "=", "streaming")
          .executeTakeFirst();
        // Stopped through another process, or deleted with its chat.
        if (numUpdatedRows === 0n) run.stop("stopped");
      }
    });
    for (const { run, length } of stored) {
      run.stored = length;
      run.heartbeatAt = now;
    }
  }

  #sweep(): void {
    this.findInterrupted().catch((error) =>
      this.#services.log.error({ err: error as Error }, "no se pudieron buscar respuestas interrumpidas"),
    );
  }
}
