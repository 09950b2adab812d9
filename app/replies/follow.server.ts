import { setTimeout } from "node:timers/promises";
import type { Db } from "../db/connection.server.ts";
import type { Chunk, Source } from "./chunk.ts";
import type { Run } from "./run.server.ts";
import type { Runs } from "./runs.server.ts";

// In ms: how often a reply that another process writes is polled.
const pollEvery = 250;
// In ms to wait for the title after the reply. A later title appears on the next page, and open pages are notified.
const titleWait = 1_000;

/**
 * A reply from character `after` on: first what exists, then live until its end (and title).
 * Any number of readers may follow; leaving does not affect the reply. Ends early when `signal` aborts.
 */
export async function* follow(
  { db, runs }: { db: Db; runs: Runs },
  messageId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const run = runs.get(messageId);
  if (run) yield* followRun(run, after, signal);
  else yield* followStored(db, messageId, after, signal);
}

async function* followRun(run: Run, after: number, signal: AbortSignal): AsyncGenerator<Chunk> {
  // Wakes all followers of the run; each then checks its own signal, so no listeners accumulate.
  signal.addEventListener("abort", () => run.announce(), { once: true });
  let at = after;
  let sourcesSent = false;
  while (!signal.aborted) {
    if (!sourcesSent && run.sources.length > 0) {
      sourcesSent = true;
      yield { type: "sources", sources: run.sources };
    }
    if (run.text.length > at) {
      const text = run.text.slice(at);
      yield { type: "text", at, text };
      at += text.length;
      continue;
    }
    if (run.status !== "streaming") {
      yield { type: "end", status: run.status, usage: run.usage, ...(run.error && { error: run.error }) };
      break;
    }
    await run.changed;
  }
  await Promise.race([titled(run, signal), setTimeout(titleWait, undefined, { signal }).catch(() => undefined)]);
  if (run.title) yield { type: "title", title: run.title };
}

async function titled(run: Run, signal: AbortSignal): Promise<void> {
  while (!run.done && !signal.aborted) await run.changed;
}

async function* followStored(db: Db, messageId: string, after: number, signal: AbortSignal): AsyncGenerator<Chunk> {
  let at = after;
  while (!signal.aborted) {
    const row = await db
      .selectFrom("messages")
      .where("id", "=", messageId)
      .select(["content", "status", "error", "sources", "inputTokens", "outputTokens"])
      .executeTakeFirst();
    if (!row) return;
    if (row.content.length > at) {
      yield { type: "text", at, text: row.content.slice(at) };
      at = row.content.length;
    }
    if (row.status !== "streaming") {
      if (row.sources) yield { type: "sources", sources: JSON.parse(row.sources) as Source[] };
      const usage = { inputTokens: row.inputTokens ?? 0, outputTokens: row.outputTokens ?? 0 };
      yield { type: "end", status: row.status, usage, ...(row.error && { error: row.error }) };
      return;
    }
    await setTimeout(pollEvery, undefined, { signal }).catch(() => undefined);
  }
}
