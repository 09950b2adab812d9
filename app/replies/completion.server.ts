import type { ModelRow } from "../db/tables.ts";
import { ConcurrencyLimit } from "../process/concurrency-limit.server.ts";
import { limits } from "../process/limits.ts";
import type { Usage } from "./chunk.ts";
import { instructionsFor } from "./prompt/prompt.server.ts";
import { openModel } from "./providers/model-access.server.ts";
import { generate, type Piece, type Prompt, type ResponseFormat } from "./providers/providers.server.ts";
import type { OfferedTool, ToolChoice } from "./providers/tool-calls.server.ts";
import type { RunServices } from "./runs.server.ts";
import { estimateUsage, reserveUsage, settleUsage, tooMany } from "./usage.server.ts";

type CompletionRequest = {
  userId: string;
  model: ModelRow;
  prompt: Prompt;
  stop: string[];
  responseFormat: ResponseFormat | undefined;
  tools: OfferedTool[];
  toolChoice: ToolChoice | undefined;
  signal: AbortSignal;
  /** Called when nothing more will come, also if the model was never asked. */
  onEnd(): void;
};

/**
 * A completion for another program. Only its usage is stored. This installation's instructions come first in the prompt.
 * Throws LimitReached before anything is asked; the generator throws ReplyError.
 */
export async function completePrompt(
  { db, modelKey, modelSilence }: RunServices,
  { userId, model, prompt, signal, onEnd, ...wanted }: CompletionRequest,
): Promise<AsyncGenerator<Piece>> {
  if (!underway.enter(userId)) {
    onEnd();
    throw tooMany(Date.now());
  }
  const leave = () => {
    underway.leave(userId);
    onEnd();
  };
  try {
    await db.transaction().execute((trx) => reserveUsage(trx, userId, model.id, Date.now()));
    const system = [model.systemPrompt, ...(await instructionsFor(db)), prompt.system].filter(Boolean).join("\n\n");
    const pieces = ask();
    async function* ask() {
      const options = { ...wanted, signal, silence: modelSilence };
      yield* generate(openModel(model, modelKey), { ...prompt, system }, options);
    }
    const length = system.length + prompt.turns.reduce((sum, { content }) => sum + content.length, 0);
    return counted(pieces, leave, length, (usage) => settleUsage(db, userId, model, usage, Date.now()));
  } catch (error) {
    leave();
    throw error;
  }
}

// Completions in progress, by person.
const underway = new ConcurrencyLimit(limits.repliesAtOnce);

/** Passes the pieces on and records the usage however it ends: completed, failed, or left by its reader. */
async function* counted(
  pieces: AsyncGenerator<Piece>,
  leave: () => void,
  promptLength: number,
  settle: (usage: Usage) => Promise<void>,
): AsyncGenerator<Piece> {
  let length = 0;
  let usage: Usage | undefined;
  try {
    for await (const piece of pieces) {
      if ("text" in piece) length += piece.text.length;
      else if (piece.type === "finish" && piece.usage.outputTokens) {
        usage = { inputTokens: piece.usage.inputTokens ?? 0, outputTokens: piece.usage.outputTokens };
      }
      yield piece;
    }
  } finally {
    leave();
    if (length > 0 || usage) await settle(usage ?? estimateUsage(promptLength, length));
  }
}
