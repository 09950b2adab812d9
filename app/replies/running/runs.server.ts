import { setTimeout } from "node:timers/promises";
import type { Artifacts } from "../../artifacts/artifacts.server.ts";
import type { Db, Engine } from "../../db/engine.server.ts";
import { whyUnavailable } from "../../db/errors.server.ts";
import type { SharedClock } from "../../db/processes/clock.server.ts";
import type { Processes } from "../../db/processes/processes.server.ts";
import type { Meanings } from "../../db/search/meaning.server.ts";
import type { MessageRow, ModelRow } from "../../db/tables.ts";
import type { Files } from "../../files/files.server.ts";
import { type Storage, StorageUnavailable } from "../../files/storage/storage.server.ts";
import type { Log } from "../../process/log.server.ts";
import type { Changes } from "../../realtime/changes.server.ts";
import type { Toolbox } from "../../tools/toolbox.server.ts";
import { describeCause, ReplyError } from "../errors.server.ts";
import { nextInChain } from "../model-chain.server.ts";
import { endCalls, type ReplyPart, unsigned } from "../parts.server.ts";
import { openModel } from "../providers/model-access.server.ts";
import { makeTitle } from "../title.server.ts";
import type { Turns } from "../turns.server.ts";
import { costOf, settleInChat } from "../usage.server.ts";
import { Writing } from "../writing.server.ts";
import { abandoned, adopt } from "./adopting.server.ts";
import { measureReply } from "./measure.server.ts";
import { type EndStatus, HandOver, type Heir, Run, StopReply } from "./run.server.ts";
import { RunningText } from "./running-text.server.ts";
import { settle } from "./settle.server.ts";

export type RunServices = {
  db: Db;
  engine: Engine;
  clock: SharedClock;
  processes: Processes;
  log: Log;
  /** Decrypts the API keys of models. */
  modelKey: Buffer;
  /** ms a model may stay silent. */
  modelSilence: number;
  /** ms between the pieces of a reply of the local assistant. */
  localPace: number;
  /** Storage of the images of messages. */
  storage: Storage;
  searchModel: Meanings;
  files: Files;
  artifacts: Artifacts;
  toolbox: Toolbox;
  changes: Pick<Changes, "tell" | "tellOfReplies" | "whenNoticed">;
  turns: Turns;
};

/** `parts`: what an earlier run has left of the reply; `zone`: the time zone of the person, where that is known. */
type Going = { parts?: ReplyPart[]; zone?: string | undefined };

/** While this process closes: who goes on with its replies, and until when they may end by themselves. */
type Leaving = { heir: Heir; late: Promise<void> };

// In ms. A process whose replies show no sign of life for `deadAfter` is taken for dead; such replies are looked for every `lookEvery`.
const deadAfter = 15_000;
const lookEvery = 5_000;
// In ms. If the database takes longer to answer, it was away: other processes could not give a sign of life either.
const answersWithin = 2_000;
// In ms, for each reply and at most. The process with the fewest replies waits least and takes a reply that was left.
const waitForEach = 2;
const waitAtMost = 400;
const unstored = "La respuesta no se ha podido guardar entera. Lo que se guardó está aquí; reinténtalo.";
// In ms: how long the beginning of a reply waits for the database, each time.
const beginAgainAfter = [500, 1_500, 3_000, 5_000, 10_000];
const settleAgainAfter = [1_000, 5_000, 20_000, 60_000];

/** The replies that this process is writing. One instance per process. */
export class Runs {
  readonly #services: RunServices;
  readonly #runs = new Map<string, Run>();
  readonly #text: RunningText;
  #looking: NodeJS.Timeout | undefined;
  /** In epoch ms. Until this time, missing signs of life are ignored, as the database could not be reached. */
  #looksFrom = 0;
  #adopting: Promise<unknown> = Promise.resolve();
  readonly #settling = new Set<Promise<EndStatus>>();
  #leaving: Leaving | undefined;
  #closing = Promise.withResolvers<"closing">();
  #sendQueued: (chatId: string, ended: EndStatus) => Promise<void> = async () => {};

  constructor(services: RunServices) {
    this.#services = services;
    this.#text = new RunningText(services, this.#runs);
    if (services.engine === "postgres") {
      services.changes.whenNoticed("followed", (replyId) => this.#runs.get(replyId)?.followElsewhere());
      services.changes.whenNoticed("left", () => this.#adoptSoon());
      this.#looking = setInterval(() => this.#adoptOrLog(), lookEvery).unref();
    }
  }

  /** The writer of a reply and its sign of life, stored from the first row of the reply on. */
  signature(): Pick<MessageRow, "writer" | "heartbeatAt"> {
    return { writer: this.#services.processes.id, heartbeatAt: this.#services.clock.now() };
  }

  /**
   * Goes on with the replies that no living process is writing, and ends those as interrupted that can't go on. Call it once before
   * the first request. Answers how many there were of each.
   */
  async adopt(): Promise<{ resumed: number; interrupted: number }> {
    const { db, artifacts, engine, clock, processes } = this.#services;
    // With SQLite there is only one process: at its start no reply can be in progress.
    const before = engine === "postgres" ? clock.now() - deadAfter : Number.MAX_SAFE_INTEGER;
    const found = { resumed: 0, interrupted: 0 };
    for (const id of await abandoned(db, before)) {
      // This process was suspended for a while, but no other has adopted the reply.
      if (this.#runs.has(id) || this.#leaving) continue;
      const adopted = await adopt({ db, artifacts }, id, { writer: processes.id, before, now: clock.now() });
      if (adopted?.way) {
        const { question, model, parts } = adopted.way;
        this.start(adopted.reply, question, model, { parts });
        found.resumed++;
      } else if (adopted) found.interrupted++;
    }
    return found;
  }

  /** `send` sends the message that waits in a chat, if one does. */
  sendQueuedBy(send: (chatId: string, ended: EndStatus) => Promise<void>): void {
    this.#sendQueued = send;
  }

  get(messageId: string): Run | undefined {
    return this.#runs.get(messageId);
  }

  /** Starts writing a stored, empty or unfinished reply to `question`. */
  start(reply: MessageRow, question: MessageRow, asked: ModelRow, { parts = [], zone }: Going = {}): Run {
    const model = reply.pseudonyms === 1 ? { ...asked, pseudonyms: 1 as const } : asked;
    // Fields that a provider wants back go to the model that they came from, and to no other.
    const run = new Run(reply, reply.modelId === model.id ? parts : parts.map(unsigned), zone);
    this.#runs.set(reply.id, run);
    this.#services.changes.tell({ userId: reply.userId, what: "message" });
    void this.#carryOut(run, reply, question, model).catch((error: Error) => {
      this.#services.log.error({ messageId: run.messageId, err: error }, "una respuesta no se pudo acabar");
      if (!run.isOver) run.end("failed");
      this.#forget(run);
    });
    if (this.#leaving) void this.#leaveInTime(run, this.#leaving);
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
    // Another process writes the reply and notices at its next store, or the reply waits for a decision.
    const now = Date.now();
    await this.#services.db.transaction().execute(async (trx) => {
      const stopped = await trx
        .updateTable("messages")
        .set({ status: "stopped", finishedAt: now, updatedAt: now })
        .where("id", "=", messageId)
        .where("status", "in", ["streaming", "waiting"])
        .returning(["parentId", "modelId"])
        .executeTakeFirst();
      if (!stopped) return;
      await endCalls(trx, messageId, now);
      await this.#services.artifacts.endGrowing(trx, stopped.parentId ?? "", stopped.modelId, now);
    });
  }

  /**
   * Leaves running replies to another process, if there is one; else lets them end for `patience` ms, and leaves the rest to the next
   * start. Calls under way have `patience` to come to their end, as nobody repeats them.
   */
  async close(patience: number): Promise<void> {
    clearInterval(this.#looking);
    this.#leaving = {
      heir: patience > 0 && (await this.#services.processes.areOthers()) ? "another" : "next start",
      late: setTimeout(patience, undefined, { ref: false }),
    };
    await this.#adopting;
    for (const run of this.#runs.values()) void this.#leaveInTime(run, this.#leaving);
    // A request that was under way may still start a run.
    for (let run = this.#oneUnderway(); run; run = this.#oneUnderway()) await run.ended;
    this.#closing.resolve("closing");
    await Promise.all(this.#settling);
    await this.#text.close();
  }

  #oneUnderway(): Run | undefined {
    return [...this.#runs.values()].find((run) => !run.isOver);
  }

  async #leaveInTime(run: Run, { heir, late }: Leaving): Promise<void> {
    await Promise.race([heir === "another" ? uncalling(run) : run.ended, late]);
    run.leave(heir);
  }

  /** How many replies this process is writing. */
  get underway(): number {
    return this.#runs.size;
  }

  async #carryOut(run: Run, reply: MessageRow, question: MessageRow, asked: ModelRow): Promise<void> {
    const { db, log } = this.#services;
    let status: EndStatus = "complete";
    let model = asked;
    try {
      const keep = (kept: Run) => this.#text.keep(kept);
      const write = () => new Writing({ ...this.#services, keep }, run, question, this.#access(model)).write();
      for (const tried = new Set<string>(); ; ) {
        try {
          await this.#write(() => this.#inTurn(run, reply, model, write), run);
          break;
        } catch (error) {
          const next = await this.#takeOver(run, reply.chatId, { model, userId: reply.userId, error, tried });
          if (!next) throw error;
          model = next;
        }
      }
    } catch (error) {
      if (error instanceof HandOver) return this.#handOver(run, reply, model, error.heir);
      if (error instanceof StopReply) {
        status = error.status;
      } else {
        status = "failed";
        run.error = sentenceOf(error);
        const { messageId } = run;
        if (error instanceof ReplyError)
          log.warn({ messageId, modelId: model.id, cause: describeCause(error) }, "respuesta fallida");
        else log.error({ messageId, modelId: model.id, err: error }, "respuesta fallida");
      }
    }
    if (model.id !== asked.id) {
      const note = `«${asked.name}» ha fallado, y ha seguido «${model.name}».`;
      run.error = run.error ? `${note} ${run.error}` : note;
    }
    run.endThought();
    run.endCalls(status);
    const settling = this.#settleSurely(run, reply, model, status);
    this.#settling.add(settling);
    status = await settling.finally(() => this.#settling.delete(settling));
    // The queued message is sent before the end is announced, so that readers find its reply begun.
    if (status !== "waiting" && status !== "interrupted") await this.#goOn(reply.chatId, status);
    run.end(status);
    measureReply(run, model, status);
    if (run.followedElsewhere) this.#services.changes.tellOfReplies({ replyIds: [run.messageId], are: "grown" });
    this.#services.changes.tell({ userId: reply.userId, what: "message" });
    if (status === "complete" && model.provider !== "local") {
      run.title = await makeTitle(db, question, run.result.text, this.#access(model), {
        log,
        silence: this.#services.modelSilence,
      });
    }
    if (run.title) this.#services.changes.tell({ userId: reply.userId, what: "chat" });
    this.#forget(run);
  }

  /** Writes when the model has time for it. */
  async #inTurn(run: Run, reply: MessageRow, model: ModelRow, write: () => Promise<void>): Promise<void> {
    const { signal } = run;
    const tell = (place: number) => run.waitFor(place);
    const { userId, id: messageId } = reply;
    const leave = await this.#services.turns.take(model, { userId, messageId, signal, tell });
    try {
      run.waitFor(0);
      await write();
    } finally {
      await leave();
    }
  }

  /** Gives a reply of which nothing is written to the next model of the chain; undefined where there is none. */
  async #takeOver(run: Run, chatId: string, failure: Parameters<typeof nextInChain>[1]): Promise<ModelRow | undefined> {
    if (run.parts.length > 0) return undefined;
    const { db, log } = this.#services;
    const { model, error } = failure;
    const next = await nextInChain(db, failure);
    if (!next) return undefined;
    // The failed model is charged for its summaries and its other words for the search.
    if (run.spent.inputTokens + run.spent.outputTokens > 0) {
      await settleInChat(db, { userId: failure.userId, chatId }, model, run.spent);
      run.spentBefore += costOf(model, run.spent);
      run.spent = { inputTokens: 0, outputTokens: 0 };
    }
    run.promptLength = 0;
    const { messageId } = run;
    const cause = error instanceof ReplyError && describeCause(error);
    log.warn({ messageId, modelId: model.id, nextModelId: next.id, cause }, "otro modelo sigue con una respuesta");
    // After a restart, the reply goes on with the new model.
    await db
      .updateTable("messages")
      .set({ modelId: next.id, ...(next.pseudonyms === 1 && { pseudonyms: 1 as const }) })
      .where("id", "=", messageId)
      .where("status", "=", "streaming")
      .where("writer", "=", run.writer)
      .execute();
    return next;
  }

  /** Writes a reply. Waits for an unavailable database as long as nothing is written: an accepted message must be answered. */
  async #write(write: () => Promise<void>, run: Run): Promise<void> {
    for (const pause of [...beginAgainAfter, undefined]) {
      try {
        await write();
        return;
      } catch (error) {
        if (pause === undefined || run.parts.length > 0 || !whyUnavailable(error)) throw error;
        this.#services.log.warn(
          { messageId: run.messageId, err: error },
          "la base de datos no deja empezar una respuesta",
        );
        await setTimeout(pause, undefined, { signal: run.signal }).catch(() => run.signal.throwIfAborted());
      }
    }
  }

  async #goOn(chatId: string, ended: EndStatus): Promise<void> {
    try {
      await this.#sendQueued(chatId, ended);
    } catch (error) {
      // The message is looked for again later, as after the death of a process.
      this.#services.log.error({ chatId, err: error }, "no se pudo enviar un mensaje en espera");
    }
  }

  /** Removes a run of which nothing more comes. */
  #forget(run: Run): void {
    run.done = true;
    run.announce();
    // «Continuar» may have started another run of the same message.
    if (this.#runs.get(run.messageId) === run) this.#runs.delete(run.messageId);
  }

  /** Stores a reply as it is, for somebody else to go on with. If that fails, they go on from what was stored last. */
  async #handOver(run: Run, reply: MessageRow, model: ModelRow, heir: Heir): Promise<void> {
    run.endThought();
    run.endCalls("interrupted");
    const { messageId } = run;
    try {
      await this.#text.stored;
      await settle(this.#services, run, reply, model, "streaming");
    } catch (error) {
      this.#services.log.error({ messageId, err: error }, "no se pudo dejar una respuesta a otro proceso");
    }
    run.settled = true;
    this.#runs.delete(messageId);
    run.endHere(heir);
    this.#services.changes.tellOfReplies({ replyIds: [messageId], are: "left" });
  }

  #access(model: ModelRow): ModelRow {
    return openModel(model, this.#services.modelKey);
  }

  /**
   * Stores the end of a reply, retrying while the disk is full or the database is unavailable; readers get the whole text meanwhile.
   * Answers the final status: if storing fails for another reason, the reply ends as failed, so that it is not asked for and paid again.
   */
  async #settleSurely(run: Run, reply: MessageRow, model: ModelRow, status: EndStatus): Promise<EndStatus> {
    let last = false;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#text.stored;
        await settle(this.#services, run, reply, model, status);
        run.settled = true;
        return status;
      } catch (error) {
        const { messageId } = run;
        this.#services.log.error({ messageId, err: error }, "no se pudo guardar el final de una respuesta");
        // Other errors will not go away by retrying; one more try is for a conflict.
        if (!whyUnavailable(error) && attempt > 0) {
          await this.#failUnstored(run);
          return "failed";
        }
      }
      run.end(status);
      // The process closes: the next start goes on with the stored state.
      if (last) return status;
      const wait = settleAgainAfter[Math.min(attempt, settleAgainAfter.length - 1)];
      last = (await Promise.race([setTimeout(wait, "again"), this.#closing.promise])) === "closing";
    }
  }

  /** Ends a reply as failed because its true end can't be stored. */
  async #failUnstored(run: Run): Promise<void> {
    const { db, artifacts, log } = this.#services;
    const now = Date.now();
    run.error = unstored;
    run.end("failed");
    try {
      const failed = await db
        .updateTable("messages")
        .set({ status: "failed", error: unstored, finishedAt: now, updatedAt: now, promptLength: null })
        .where("id", "=", run.messageId)
        .where("status", "=", "streaming")
        .where("writer", "=", run.writer)
        .returning("parentId")
        .executeTakeFirst();
      if (failed) await artifacts.endGrowing(db, failed.parentId ?? "", null, now);
      run.settled = true;
    } catch (error) {
      log.error({ messageId: run.messageId, err: error }, "no se pudo dar por fallida una respuesta");
    }
  }

  #adoptSoon(): void {
    const wait = Math.min(this.#runs.size * waitForEach, waitAtMost);
    void setTimeout(wait, undefined, { ref: false }).then(() => this.#adoptOrLog());
  }

  /** After an outage of the database, living processes get `deadAfter` ms to give a sign of life again. */
  async #adoptUnlessAway(): ReturnType<Runs["adopt"]> {
    const none = { resumed: 0, interrupted: 0 };
    if (this.#leaving || Date.now() < this.#looksFrom) return none;
    const asked = Date.now();
    const answers = await this.#services.db
      .selectFrom("models")
      .select("id")
      .limit(1)
      .execute()
      .then(
        () => Date.now() - asked < answersWithin,
        () => false,
      );
    if (answers) return this.adopt();
    this.#looksFrom = Date.now() + deadAfter;
    return none;
  }

  #adoptOrLog(): void {
    const { log } = this.#services;
    this.#adopting = this.#adopting
      .then(() => this.#adoptUnlessAway())
      .then((found) => {
        if (found.resumed + found.interrupted > 0) log.warn(found, "respuestas que nadie escribía");
      })
      .catch((error) => log.error({ err: error }, "no se pudieron buscar respuestas interrumpidas"));
  }
}

/** Resolves once no call of a reply is under way, or the reply has ended. */
async function uncalling(run: Run): Promise<void> {
  while (run.isCalling && !run.isOver) await run.changed;
}

/** The sentence that tells the person about a failure. */
function sentenceOf(error: unknown): string {
  if (error instanceof ReplyError) return `${error.message}${error.isCut ? " Lo que llegó está guardado." : ""}`;
  if (error instanceof StorageUnavailable) return "El almacén de archivos no contesta. Reinténtalo en un momento.";
  return "Algo ha fallado en el servidor. Reinténtalo.";
}
