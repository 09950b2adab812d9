import { v7 as newId } from "uuid";
import type { Db, Trx } from "../db/engine.server.ts";
import type { ModelRow } from "../db/tables.ts";
import { limits } from "../process/limits.ts";
import type { Tool } from "../tools/tool.server.ts";
import type { ReplyUsage } from "./chunk.ts";
import { nextInChain } from "./model-chain.server.ts";
import { instructionsFor } from "./prompt/prompt.server.ts";
import { openModel, storeLearned } from "./providers/model-access.server.ts";
import type {
  Finish,
  FinishReason,
  Learned,
  OfferedTool,
  Piece,
  Prompt,
  ResponseFormat,
  Settings,
  ToolChoice,
} from "./providers/model-call.server.ts";
import { generate } from "./providers/providers.server.ts";
import type { Parameter } from "./providers/refused-parameters.server.ts";
import { offeredAs, ToolCalls } from "./providers/tool-calls.server.ts";
import { measureReply } from "./running/measure.server.ts";
import type { RunServices } from "./running/runs.server.ts";
import { withHouseCalls } from "./tools/house-calls.server.ts";
import { addedUsage, costOf, estimateUsage, reserveUsage, settleUsage, tooMany } from "./usage.server.ts";

type CompletionRequest = {
  userId: string;
  model: ModelRow;
  prompt: Prompt;
  stop: string[];
  settings: Settings;
  required: readonly Parameter[];
  responseFormat: ResponseFormat | undefined;
  /** Tools of the program, which it carries out itself. */
  tools: OfferedTool[];
  /** Tools of the house that the program has asked for; they are carried out here. */
  house: Tool[];
  toolChoice: ToolChoice | undefined;
  mayBeEmpty?: readonly FinishReason[];
  signal: AbortSignal;
  /** Called when nothing more will come, also if the model was never asked. */
  onEnd(): void;
  /** Gets the calls of the answer when it ends with calls of the program. */
  called?(calls: ToolCalls): void;
  /** Gets the usage that has been counted, once for each model that was asked, also when the answer has failed. */
  settled?(usage: ReplyUsage, cost: number): void;
};

const none = { inputTokens: 0, outputTokens: 0 };
// In ms: a program that leaves a piece unread for longer gives back its turn at the model.
const unreadAtMost = 30_000;

/**
 * A completion for another program. Only its usage is stored. This installation's instructions come first in the prompt.
 * Throws LimitReached before anything is asked; the generator throws ReplyError.
 */
export async function completePrompt(
  { db, log, processes, modelKey, modelSilence, turns }: RunServices,
  { userId, model: asked, prompt, signal, onEnd, settled, called, house, ...wanted }: CompletionRequest,
): Promise<AsyncGenerator<Piece>> {
  let model = asked;
  /** Usage that models have told of. */
  const told = new Map<ModelRow, ReplyUsage>();
  const id = newId();
  const leave = () => {
    onEnd();
    // The completion counts as under way until its row is deleted; the reader of the answer does not wait for that.
    forget(db, id).catch((error) => log.error({ err: error }, "no se pudo descontar una llamada que ha terminado"));
  };
  try {
    const { entered } = await beginEntering(db, { id, userId, modelId: model.id, processId: processes.id });
    const system = await systemPrompt(db, userId, model, prompt);
    const tools = [...wanted.tools, ...house.map(offeredAs)];
    const fits = (one: ModelRow) => isUsable(one, { tools, hasImages: hasImages(prompt) });
    const pieces =
      house.length > 0 ? withHouseCalls({ ask, given: prompt.turns, tools: house, caller: { userId, signal } }) : ask();
    async function* ask(since: Prompt["turns"] = []) {
      const given = { system, turns: [...prompt.turns, ...since] };
      for (const tried = new Set<string>(); ; ) {
        const by = model;
        const learn = (learned: Learned) => storeLearned({ db, log }, by, learned);
        let begun = false;
        const leaveTurn = await turns.take(by, { userId, messageId: null, signal, tell: () => {} });
        try {
          const options = { ...wanted, tools, signal, silence: modelSilence, learn };
          for await (const piece of generate(openModel(by, modelKey), given, options)) {
            if (!begun) await entered;
            begun = true;
            if (tellsUsage(piece)) told.set(by, addedUsage(told.get(by) ?? none, piece.usage));
            // A program that does not read must not keep the others waiting.
            const unread = by.atOnce === null ? undefined : setTimeout(() => void leaveTurn(), unreadAtMost).unref();
            yield piece;
            clearTimeout(unread);
          }
          return;
        } catch (error) {
          const next = begun ? undefined : await nextInChain(db, { model, userId, error, tried, fits });
          if (!next) throw error;
          log.warn({ modelId: model.id, nextModelId: next.id }, "otro modelo sigue con lo que pide un programa");
          model = next;
        } finally {
          await leaveTurn();
        }
      }
    }
    const length = system.length + prompt.turns.reduce((sum, { content }) => sum + content.length, 0);
    return counted(called ? withCalls(pieces, called) : pieces, leave, length, async ({ status, ...measured }) => {
      measureReply(measured, model, status);
      // Each model is charged for the usage that it has reported; if none has reported any, the last model by text lengths.
      await pay(db, userId, told.size > 0 ? told : new Map([[model, measured.usage]]), settled);
    });
  } catch (error) {
    leave();
    throw error;
  }
}

const hasImages = ({ turns }: Prompt): boolean =>
  turns.some((turn) => turn.role !== "tool" && (turn.images?.length ?? 0) > 0);

/** The instructions of the model and of the person, then the program's. */
async function systemPrompt(db: Db, userId: string, model: ModelRow, prompt: Prompt): Promise<string> {
  const instructions = [model.systemPrompt, ...(await instructionsFor(db, userId)), prompt.system];
  return instructions.filter(Boolean).join("\n\n");
}

async function pay(
  db: Db,
  userId: string,
  used: Map<ModelRow, ReplyUsage>,
  settled: CompletionRequest["settled"],
): Promise<void> {
  for (const [model, usage] of used) {
    if (usage.inputTokens + usage.outputTokens === 0) continue;
    await settleUsage(db, userId, model, usage, Date.now());
    settled?.(usage, costOf(model, usage));
  }
}

/** Whether a model can answer in place of another one. The local assistant has nothing to search here. */
const isUsable = (model: ModelRow, { tools, hasImages }: { tools: OfferedTool[]; hasImages: boolean }) =>
  model.provider !== "local" &&
  (model.usesTools === 1 || tools.length === 0) &&
  (model.acceptsImages === 1 || !hasImages);

/** Whether a piece reports the usage; if no piece does, the usage is estimated. */
const tellsUsage = (piece: Piece): piece is Finish => piece.type === "finish" && usedIn(piece) > 0;

const usedIn = ({ usage: { inputTokens = 0, outputTokens = 0 } }: Finish) => inputTokens + outputTokens;

type Entering = { id: string; userId: string; modelId: string; processId: string };

/**
 * Counts a completion; resolves when the plan allows it. The model is asked while the transaction commits; the first piece of the answer
 * waits for the commit (`entered`). Throws LimitReached.
 */
async function beginEntering(db: Db, entering: Entering): Promise<{ entered: Promise<void> }> {
  const within = Promise.withResolvers<void>();
  const entered = db.transaction().execute(async (trx) => {
    await enter(trx, entering);
    within.resolve();
  });
  await Promise.race([within.promise, entered]);
  // The code that awaits `entered` gets the error.
  entered.catch(() => {});
  return { entered };
}

const forget = (db: Db, id: string) => db.deleteFrom("completions").where("id", "=", id).execute();

/** Counts a completion against the plan, and among those of the person that are under way in any process. Throws LimitReached. */
async function enter(trx: Trx, { id, userId, modelId, processId }: Entering): Promise<void> {
  const now = Date.now();
  // Locks the person's use of today, so that two completions at once can't both take the last place.
  await reserveUsage(trx, userId, modelId, now);
  const { count } = await trx
    .selectFrom("completions")
    .where("userId", "=", userId)
    .select((e) => e.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= limits.repliesAtOnce) throw tooMany(now);
  await trx.insertInto("completions").values({ id, createdAt: now, updatedAt: now, userId, processId }).execute();
}

/** Passes the pieces on and tells the calls among them at the end. */
async function* withCalls(pieces: AsyncGenerator<Piece>, called: (calls: ToolCalls) => void): AsyncGenerator<Piece> {
  const calls = new ToolCalls();
  for await (const piece of pieces) {
    calls.take(piece);
    if (piece.type === "finish" && calls.list.length > 0) called(calls);
    yield piece;
  }
}

type Ended = {
  status: "complete" | "failed" | "stopped";
  startedAt: number;
  firstAt: number | undefined;
  usage: ReplyUsage;
};

/** Passes the pieces on and tells the usage however it ends: completed, failed, or left by its reader. */
async function* counted(
  pieces: AsyncGenerator<Piece>,
  leave: () => void,
  promptLength: number,
  settle: (ended: Ended) => Promise<void>,
): AsyncGenerator<Piece> {
  const startedAt = Date.now();
  let firstAt: number | undefined;
  let length = 0;
  let usage: ReplyUsage | undefined;
  let status: Ended["status"] = "stopped";
  try {
    for await (const piece of pieces) {
      firstAt ??= Date.now();
      if ("text" in piece) length += piece.text.length;
      else if (piece.type === "finish" && piece.usage.outputTokens) {
        usage = addedUsage({ inputTokens: 0, outputTokens: 0 }, piece.usage);
      }
      // A server that counts nothing leaves the program with the estimate that its person is charged.
      const isCounted = piece.type !== "finish" || usedIn(piece) > 0;
      yield isCounted ? piece : { ...piece, usage: estimateUsage(promptLength, length) };
    }
    status = "complete";
  } catch (error) {
    status = "failed";
    throw error;
  } finally {
    leave();
    const estimated = length > 0 ? estimateUsage(promptLength, length) : { inputTokens: 0, outputTokens: 0 };
    await settle({ status, startedAt, firstAt, usage: usage ?? estimated });
  }
}
