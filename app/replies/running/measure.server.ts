import type { ModelRow } from "../../db/tables.ts";
import { cost, firstTokenSeconds, repliesEnded, tokenRate, tokens } from "../../process/telemetry/metrics.server.ts";
import type { EndStatus, Run } from "./run.server.ts";

/** Adds a reply that has ended to what this process has measured. */
export function measureReply({ startedAt, firstAt, usage, spent }: Run, model: ModelRow, status: EndStatus): void {
  const { name, inputPrice, outputPrice } = model;
  repliesEnded.inc({ model: name, status });
  if (firstAt !== undefined) {
    firstTokenSeconds.observe({ model: name }, (firstAt - startedAt) / 1000);
    const seconds = (Date.now() - firstAt) / 1000;
    if (usage.outputTokens > 0 && seconds > 0) tokenRate.observe({ model: name }, usage.outputTokens / seconds);
  }
  const inputTokens = usage.inputTokens + spent.inputTokens;
  const outputTokens = usage.outputTokens + spent.outputTokens;
  tokens.inc({ model: name, kind: "input" }, inputTokens);
  tokens.inc({ model: name, kind: "output" }, outputTokens);
  cost.inc({ model: name }, (inputTokens * (inputPrice ?? 0) + outputTokens * (outputPrice ?? 0)) / 1_000_000);
}
