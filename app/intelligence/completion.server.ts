import { AtOnce } from "../at-once.server.ts";
import type { ModelRow } from "../db/tables.ts";
import { limits } from "../limits.ts";
import type { Usage } from "./chunk.ts";
import { openModel } from "./model-access.server.ts";
import { instructionsFor } from "./prompt.server.ts";
import { generate, type Part, type Prompt } from "./providers.server.ts";
import type { Services } from "./runs.server.ts";
import { estimateUsage, reserveUsage, settleUsage, tooMany } from "./usage.server.ts";

type Asked = {
  userId: string;
  model: ModelRow;
  prompt: Prompt;
  stop: string[];
  signal: AbortSignal;
};

/**
 * A model's answer to another program: nothing of it is stored but what it used. What the house tells its models comes first.
 * Throws LimitReached before anything is asked; the generator throws ReplyError.
 */
export async function completePrompt(
  { db, modelKey, modelSilence }: Services,
  { userId, model, prompt, stop, signal }: Asked,
): Promise<AsyncGenerator<Part>> {
  if (!underway.enter(userId)) throw tooMany(Date.now());
  try {
    await db.transaction().execute((trx) => reserveUsage(trx, userId, model.id, Date.now()));
    const system = [model.systemPrompt, ...(await instructionsFor(db)), prompt.system].filter(Boolean).join("\n\n");
    const parts = ask();
    async function* ask() {
      yield* generate(openModel(model, modelKey), { ...prompt, system }, { signal, silence: modelSilence, stop });
    }
    const length = system.length + prompt.turns.reduce((sum, { content }) => sum + content.length, 0);
    return counted(parts, userId, length, (usage) => settleUsage(db, userId, model, usage, Date.now()));
  } catch (error) {
    underway.leave(userId);
    throw error;
  }
}

// Answers to programs that are being written.
const underway = new AtOnce(limits.repliesAtOnce);

/** Settles what was used, however it ends: to its end, broken off, or left by its reader. */
async function* counted(
  parts: AsyncGenerator<Part>,
  userId: string,
  promptLength: number,
  settle: (usage: Usage) => Promise<void>,
): AsyncGenerator<Part> {
  let length = 0;
  let usage: Usage | undefined;
  try {
    for await (const part of parts) {
      if (part.type === "text") length += part.text.length;
      else if (part.usage.outputTokens) {
        usage = { inputTokens: part.usage.inputTokens ?? 0, outputTokens: part.usage.outputTokens };
      }
      yield part;
    }
  } finally {
    underway.leave(userId);
    if (length > 0 || usage) await settle(usage ?? estimateUsage(promptLength, length));
  }
}
