import type { MessageStatus, ModelRow } from "../../db/tables.ts";
import { cost, firstTokenSeconds, repliesEnded, tokenRate, tokens } from "../../process/telemetry/metrics.server.ts";
import type { ReplyUsage, Usage } from "../chunk.ts";
import { addedUsage, costOf } from "../usage.server.ts";

/** An answer that has ended. Times in epoch ms; `firstAt`: of its first token; `spent`: what was used besides, as for a summary. */
type Measured = { startedAt: number; firstAt: number | undefined; usage: ReplyUsage; spent?: Usage };

/** Adds an answer that has ended, a reply's or a program's, to what this process has measured. */
export function measureReply(
  { startedAt, firstAt, usage, spent }: Measured,
  model: Pick<ModelRow, "name" | "inputPrice" | "outputPrice" | "cachedPrice">,
  status: MessageStatus,
): void {
  const { name } = model;
  repliesEnded.inc({ model: name, status });
  if (firstAt !== undefined) {
    firstTokenSeconds.observe({ model: name }, (firstAt - startedAt) / 1000);
    const seconds = (Date.now() - firstAt) / 1000;
    if (usage.outputTokens > 0 && seconds > 0) tokenRate.observe({ model: name }, usage.outputTokens / seconds);
  }
  const all = addedUsage(usage, spent ?? {});
  tokens.inc({ model: name, kind: "input" }, all.inputTokens);
  tokens.inc({ model: name, kind: "output" }, all.outputTokens);
  cost.inc({ model: name }, costOf(model, all));
}
