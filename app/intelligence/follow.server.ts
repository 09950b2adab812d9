import { setTimeout } from "node:timers/promises";
import type { Db } from "../db/connection.server.ts";
import type { Chunk, Source } from "./chunk.ts";
import type { Run } from "./run.server.ts";
import type { Runs } from "./runs.server.ts";

// How often a reply that another process writes is read from the database.
const pollEvery = 250;

/**
 * A reply from character `after` on: what is there first, then live, to its end (and title).
 * Any number may follow; stopping to follow changes nothing. Ends early when `signal` aborts.
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
  // Wakes every follower of this reply, and each looks at its own signal: nothing piles up while tokens come.
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
  while (!run.done && !signal.aborted) await run.changed;
  if (run.title) yield { type: "title", title: run.title };
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
