import { setTimeout } from "node:timers/promises";
import type { Db, Engine } from "../db/connection.server.ts";
import { whyUnavailable } from "../db/errors.server.ts";
import type { MessageRow, ModelRow } from "../db/tables.ts";
import type { Storage } from "../files/storage.server.ts";
import type { Log } from "../process/log.server.ts";
import type { Changes } from "../realtime/changes.server.ts";
import { describeCause, ReplyError } from "./errors.server.ts";
import { localReply } from "./local.server.ts";
import type { ReplyPart } from "./parts.server.ts";
import { buildPrompt } from "./prompt/prompt.server.ts";
import { openModel } from "./providers/model-access.server.ts";
import { generate, type Piece } from "./providers/providers.server.ts";
import { type EndStatus, Run, StopReply } from "./run.server.ts";
import { RunningText } from "./running-text.server.ts";
import { settle } from "./settle.server.ts";
import { makeTitle } from "./title.server.ts";

export type RunServices = {
  db: Db;
  engine: Engine;
  log: Log;
  /** Decrypts the API keys of models. */
  modelKey: Buffer;
  /** ms a model may stay silent. */
  modelSilence: number;
  /** Where the images of messages lie. */
  storage: Storage;
  changes: Pick<Changes, "tell" | "tellOfReplies" | "whenFollowed">;
};

// In ms.
const deadAfter = 30_000;
const settleAgainAfter = [1_000, 5_000, 20_000, 60_000];

/** The replies that this process is writing. One instance per process. */
export class Runs {
  readonly #services: RunServices;
  readonly #runs = new Map<string, Run>();
  readonly #text: RunningText;
  #sweeping: NodeJS.Timeout | undefined;
  readonly #settling = new Set<Promise<void>>();
  #closing = Promise.withResolvers<"closing">();

  constructor(services: RunServices) {
    this.#services = services;
    this.#text = new RunningText(services, this.#runs);
    if (services.engine === "postgres") {
      services.changes.whenFollowed((replyId) => this.#runs.get(replyId)?.followElsewhere());
      this.#sweeping = setInterval(() => this.#sweep(), deadAfter / 2).unref();
    }
  }

  /** Marks replies as interrupted that no living process is writing. Call it before the first request. */
  async markInterrupted(): Promise<number> {
    const { db, engine } = this.#services;
    const now = Date.now();
    const result = await db
      .updateTable("messages")
      .set({ status: "interrupted", finishedAt: now, updatedAt: now })
      .where("status", "=", "streaming")
      // With SQLite there is only one process, so no reply can be in progress at start-up.
      .$if(engine === "postgres", (query) => query.where("heartbeatAt", "<", now - deadAfter))
      .executeTakeFirst();
    return Number(result.numUpdatedRows);
  }

  get(messageId: string): Run | undefined {
    return this.#runs.get(messageId);
  }

  /** Starts writing a stored, empty or unfinished reply to `question`. `parts`: what an earlier run has left of it. */
  start(reply: MessageRow, question: MessageRow, model: ModelRow, parts: ReplyPart[] = []): Run {
    const run = new Run(reply, parts);
    this.#runs.set(reply.id, run);
    this.#services.changes.tell({ userId: reply.userId, what: "message" });
    void this.#carryOut(run, reply, question, model);
    return run;
  }

  /** Stops a reply on request; its text is kept. Resolves when that is stored. */
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
    clearInterval(this.#sweeping);
    await this.#text.close();
  }

  /** How many replies this process is writing. */
  get underway(): number {
    return this.#runs.size;
  }

  async #carryOut(run: Run, reply: MessageRow, question: MessageRow, model: ModelRow): Promise<void> {
    const { db, log } = this.#services;
    let status: EndStatus = "complete";
    try {
      await this.#askAgainIfTooLong(run, question, model);
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
    run.endThought();
    const settling = this.#settleSurely(run, reply, model, status);
    this.#settling.add(settling);
    await settling.finally(() => this.#settling.delete(settling));
    run.end(status);
    if (run.followedElsewhere) this.#services.changes.tellOfReplies({ replyIds: [run.messageId], are: "grown" });
    this.#services.changes.tell({ userId: reply.userId, what: "message" });
    if (status === "complete" && model.provider !== "local") {
      run.title = await makeTitle(db, question, run.result.text, this.#access(model), {
        log,
        silence: this.#services.modelSilence,
      });
    }
    if (run.title) this.#services.changes.tell({ userId: reply.userId, what: "chat" });
    run.done = true;
    run.announce();
    // «Continuar» may have started another run of the same message.
    if (this.#runs.get(run.messageId) === run) this.#runs.delete(run.messageId);
  }

  async #askAgainIfTooLong(run: Run, question: MessageRow, model: ModelRow): Promise<void> {
    const access = this.#access(model);
    const before = run.length;
    try {
      await this.#ask(run, question, access);
    } catch (error) {
      const tooLong = error instanceof ReplyError && error.tooLong;
      if (!tooLong || run.length > before) throw error;
      // The window may be set wrong and tokens are only estimated from characters, so the server's number wins.
      const contextWindow = Math.min(tooLong.fits ?? access.contextWindow, Math.floor(access.contextWindow / 2));
      // Some servers refuse what would not fit together with the longest answer.
      const maxOutputTokens = Math.min(access.maxOutputTokens, Math.floor(contextWindow / 2));
      await this.#ask(run, question, { ...access, contextWindow, maxOutputTokens });
    }
  }

  /** Builds the prompt, and adds what the model answers to the reply. */
  async #ask(run: Run, question: MessageRow, access: ModelRow): Promise<void> {
    const { prompt, sources, stored } = await buildPrompt(this.#services, question, access, run);
    run.sources = sources;
    run.prompt = stored;
    run.promptLength = prompt.system.length + prompt.turns.reduce((sum, { content }) => sum + content.length, 0);
    if (sources.length > 0) run.announce();
    const answer =
      access.provider === "local"
        ? localReply(sources, run.text, run.signal)
        : generate(access, prompt, { signal: run.signal, silence: this.#services.modelSilence });
    for await (const piece of answer) take(run, piece);
  }

  #access(model: ModelRow): ModelRow {
    return openModel(model, this.#services.modelKey);
  }

  /**
   * Stores the end of a reply, retrying while the disk is full or the database is unavailable. Readers get the whole text
   * meanwhile.
   */
  async #settleSurely(run: Run, reply: MessageRow, model: ModelRow, status: EndStatus): Promise<void> {
    let last = false;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#text.stored;
        await settle(this.#services.db, run, reply, model, status);
        run.settled = true;
        return;
      } catch (error) {
        const { messageId } = run;
        this.#services.log.error({ messageId, err: error as Error }, "no se pudo guardar el final de una respuesta");
        // Other errors, such as a deleted account, will not go away by retrying.
        last ||= !whyUnavailable(error) && attempt >= settleAgainAfter.length;
      }
      run.end(status);
      // Gave up: the next start marks what is stored as interrupted.
      if (last) return;
      const wait = settleAgainAfter[Math.min(attempt, settleAgainAfter.length - 1)];
      last = (await Promise.race([setTimeout(wait, "again"), this.#closing.promise])) === "closing";
    }
  }

  #sweep(): void {
    this.markInterrupted().catch((error) =>
      this.#services.log.error({ err: error as Error }, "no se pudieron buscar respuestas interrumpidas"),
    );
  }
}

/** Adds what a model has sent to its reply. */
function take(run: Run, piece: Piece): void {
  if (piece.type === "text") run.write(piece.text);
  else if (piece.type === "reasoning") run.think(piece.text);
  else if (piece.type === "mistaken") run.mistook();
  else if (piece.type === "finish") {
    const { inputTokens = 0, outputTokens = 0, reasoningTokens } = piece.usage;
    run.usage = { inputTokens, outputTokens, ...(reasoningTokens !== undefined && { reasoningTokens }) };
    run.error = piece.note;
  }
}
