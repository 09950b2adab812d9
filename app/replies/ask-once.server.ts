import type { ModelRow } from "../db/tables.ts";
import { limits } from "../process/limits.ts";
import type { ReplyUsage } from "./chunk.ts";
import { completePrompt } from "./completion.server.ts";
import { ReplyError } from "./errors.server.ts";
import type { RunServices } from "./running/runs.server.ts";

/** `signal`: aborted when nobody waits any longer; `patience`: ms that the answer may take. */
type Asked = {
  userId: string;
  model: ModelRow;
  system?: string;
  question: string;
  signal: AbortSignal;
  patience: number;
};
/** Tokens and money that asking has cost, also where it failed. */
export type Spent = { inputTokens: number; outputTokens: number; cost: number };
export type AnsweredOnce = Spent & ({ text: string; problem?: undefined } | { text?: undefined; problem: string });

const plain = { stop: [], settings: {}, required: [], responseFormat: undefined, tools: [], house: [] };

/**
 * The whole answer of a model to one question, for work in the background; counted for `userId`. A model that fails or takes too long is
 * a `problem`, a Spanish sentence. Throws LimitReached before anything is asked, and what `signal` was aborted with.
 */
export async function askOnce(
  services: RunServices,
  { userId, model, system = "", question, signal: stopped, patience }: Asked,
): Promise<AnsweredOnce> {
  const spent: Spent = { inputTokens: 0, outputTokens: 0, cost: 0 };
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(patience)]);
  // Also called for the cost of a fallback, and of an answer that was cut off.
  const settled = (usage: ReplyUsage, price: number) => {
    spent.inputTokens += usage.inputTokens;
    spent.outputTokens += usage.outputTokens;
    spent.cost += price;
  };
  const prompt = { system, turns: [{ role: "user" as const, content: question }] };
  const asked = { userId, model, prompt, signal, ...plain, toolChoice: undefined, onEnd: () => {}, settled };
  const pieces = await completePrompt(services, asked);
  let answer = "";
  try {
    for await (const piece of pieces) {
      if (piece.type === "text") answer += piece.text;
      else if (piece.type === "mistaken") answer = "";
      if (answer.length > limits.reply) break;
    }
  } catch (error) {
    stopped.throwIfAborted();
    if (error instanceof ReplyError) return { ...spent, problem: error.message };
    if (signal.aborted) return { ...spent, problem: "El modelo ha tardado demasiado." };
    throw error;
  }
  return { ...spent, text: answer.trim().slice(0, limits.reply) };
}
