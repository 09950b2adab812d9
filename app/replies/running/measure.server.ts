import type { MessageStatus, ModelRow } from "../../db/tables.ts";
import { cost, firstTokenSeconds, repliesEnded, tokenRate, tokens } from "../../process/telemetry/metrics.server.ts";
import type { Usage } from "../chunk.ts";

/** An answer that has ended. Times in epoch ms; `firstAt`: of its first token; `spent`: what was used besides, as for a summary. */
type Measured = { startedAt: number; firstAt: number | undefined; usage: Usage; spent?: Usage };

/** Adds an answer that has ended, a reply's or a program's, to what this process has measured. */
export function measureReply(
  { startedAt, firstAt, usage, spent }: Measured,
  { name, inputPrice, outputPrice }: Pick<ModelRow, "name" | "inputPrice" | "outputPrice">,
  status: MessageStatus,
): void {
  repliesEnded.inc({ model: name, status });
  if (firstAt !== undefined) {
    firstTokenSeconds.observe({ model: name }, (firstAt - startedAt) / 1000);
    const seconds = (Date.now() - firstAt) / 1000;
    if (usage.outputTokens > 0 && seconds > 0) tokenRate.observe({ model: name }, usage.outputTokens / seconds);
  }
  const inputTokens = usage.inputTokens + (spent?.inputTokens ?? 0);
  const outputTokens = usage.outputTokens + (spent?.outputTokens ?? 0);
  tokens.inc({ model: name, kind: "input" }, inputTokens);
  tokens.inc({ model: name, kind: "output" }, outputTokens);
  cost.inc({ model: name }, (inputTokens * (inputPrice ?? 0) + outputTokens * (outputPrice ?? 0)) / 1_000_000);
}
