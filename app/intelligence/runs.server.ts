import type { Db, Engine } from "../db/connection.server.ts";
import { indexText } from "../db/search.server.ts";
import type { MessageRow, ModelRow } from "../db/tables.ts";
import type { Storage } from "../files/storage.server.ts";
import type { Log } from "../log.server.ts";
import type { Changes } from "../realtime/changes.server.ts";
import { decrypt } from "../secrets.server.ts";
import { describeCause, ReplyError } from "./errors.server.ts";
import { localReply } from "./local.server.ts";
import { buildPrompt } from "./prompt.server.ts";
import { generate, type Part } from "./providers.server.ts";
import { type EndStatus, Run, StopReply } from "./run.server.ts";
import { storePrompt } from "./stored-prompt.server.ts";
import { makeTitle } from "./title.server.ts";
import { estimateUsage, settleUsage } from "./usage.server.ts";

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
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, patience);
    await Promise.race([all, timeout.promise]);
    clearTimeout(timer);
    for (const run of this.#runs.values()) run.stop("interrupted");
    await Promise.all([...this.#runs.values()].map((run) => run.ended));
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
    await this.#settleSurely(run, reply, model, status);
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
    this.#runs.delete(run.messageId);
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
    return { ...model, apiKey: model.apiKey && decrypt(model.apiKey, this.#services.modelKey, model.id) };
  }

  /** A full disk or a lost database may come back; until then the text waits here, and its last store in the database. */
  async #settleSurely(run: Run, reply: MessageRow, model: ModelRow, status: EndStatus): Promise<void> {
    for (const wait of [0, ...settleAgainAfter]) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      try {
        return await this.#settle(run, reply, model, status);
      } catch (error) {
        const { messageId } = run;
        this.#services.log.error({ messageId, err: error as Error }, "no se pudo guardar el final de una respuesta");
      }
    }
  }

  async #settle(run: Run, reply: MessageRow, model: ModelRow, status: EndStatus): Promise<void> {
    const now = Date.now();
    // A reply that was cut brings no count of its own, and has cost all the same.
    const counted = run.usage.outputTokens > 0 || model.provider === "local" || !run.text;
    const own = counted ? run.usage : estimateUsage(run.promptLength, run.text.length);
    const usage = {
      inputTokens: own.inputTokens + run.spent.inputTokens,
      outputTokens: own.outputTokens + run.spent.outputTokens,
    };
    await this.#storing;
    await this.#services.db.transaction().execute(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable("messages")
        .set({
          content: run.text,
          status,
          error: run.error ?? null,
          sources: sourcesOf(run),
          ...own,
          finishedAt: now,
          updatedAt: now,
        })
        .where("id", "=", run.messageId)
        .where("status", "=", "streaming")
        .executeTakeFirst();
      const chat = await trx
        .updateTable("chats")
        .set({ lastMessageAt: now })
        .where("id", "=", reply.chatId)
        .returning("sessionId")
        .executeTakeFirst();
      await settleUsage(trx, reply.userId, model, usage, now);
      if (run.prompt && numUpdatedRows > 0n) await storePrompt(trx, run.messageId, run.prompt);
      // The local assistant's replies are quotes already: finding them again would quote quotes.
      if (model.provider !== "local" && !chat?.sessionId && run.text && numUpdatedRows > 0n) {
        await trx.deleteFrom("passages").where("messageId", "=", run.messageId).execute();
        await indexText(trx, run.text, reply.userId, { messageId: run.messageId, chatId: reply.chatId });
      }
    });
  }

  #tick(): void {
    if (this.#storing) return;
    const now = Date.now();
    const due = [...this.#runs.values()].filter(
      (run) => run.status === "streaming" && (run.text.length > run.stored || now - run.heartbeatAt > beatEvery),
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

const sourcesOf = ({ sources }: Run) => (sources.length > 0 ? JSON.stringify(sources) : null);
