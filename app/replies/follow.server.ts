import { setTimeout } from "node:timers/promises";
import type { Db } from "../db/engine.server.ts";
import { storedJson } from "../process/text/json.ts";
import type { Changes } from "../realtime/changes.server.ts";
import type { Chunk, Source } from "./chunk.ts";
import { partsOf, type ReplyState } from "./parts.server.ts";
import { type Position, Reading } from "./reading-place.server.ts";
import type { Run } from "./running/run.server.ts";
import type { Runs } from "./running/runs.server.ts";

// In ms: how often a reply of another process is read if that process does not tell when it grows (older versions do not), and how often
// that process is told that the reply is followed here.
const pollEvery = 250;
const tellEvery = 5_000;
// In ms to wait for the title after the reply. A later title appears on the next page, and open pages are notified.
const titleWait = 1_000;
// In ms between two sendings to one reader: fast models write a hundred pieces a second, and each sending costs as much as all that goes
// before it. Words after a longer pause, such as the first, go out at once.
const sendEvery = 30;

const isText = ({ type }: Chunk): boolean => type === "text" || type === "reasoning";

type FollowServices = { db: Db; runs: Runs; changes: Changes };

/** Place that a reader has reached: text up to this offset, or everything up to this position. */
export type Known = { after: number } | { from: Position };

/** Somebody who reads a reply until `signal` aborts. `leave` is called when the reading is over. */
export type Follower = { signal: AbortSignal; leave(): void };

type Following = {
  known: Known;
  /** Called when the first chunks are read, so that a reader who never reads leaves nothing behind. */
  arrive(): Follower;
  /** Events before the reply's own. */
  first?: Chunk[];
};

/**
 * Sends a reply from the place that its reader has reached: first what exists, then live until its end (and title); each time all that is
 * new. Any number of readers may follow; leaving does not affect the reply.
 */
export function follow(services: FollowServices, messageId: string, following: Following): AsyncGenerator<Chunk[]> {
  const run = services.runs.get(messageId);
  return run ? followRun(services, run, following) : readStored(services, messageId, following);
}

/** Whether a reply ever came to this position; a reader that claims to have more than exists can't follow the reply. */
export async function reached(
  { db, runs }: Pick<FollowServices, "db" | "runs">,
  messageId: string,
  from: Position,
): Promise<boolean> {
  const reply = runs.get(messageId) ?? (await storedReply(db, messageId));
  return reply !== undefined && Reading.from(reply, from) !== undefined;
}

const beginAt = (reply: ReplyState, known: Known): Reading =>
  ("from" in known ? Reading.from(reply, known.from) : Reading.after(known.after)) ?? new Reading();

async function* readStored(
  services: FollowServices,
  messageId: string,
  { known, arrive, first }: Following,
): AsyncGenerator<Chunk[]> {
  const { signal, leave } = arrive();
  try {
    yield* followStored(services, messageId, { signal, first, begin: (reply) => beginAt(reply, known) });
  } finally {
    leave();
  }
}

async function* followRun(
  services: FollowServices,
  run: Run,
  { known, arrive, first = [] }: Following,
): AsyncGenerator<Chunk[]> {
  const { signal, leave } = arrive();
  // Wakes all followers of the run; each then checks its own signal, so no listeners accumulate.
  signal.addEventListener("abort", () => run.announce(), { once: true });
  try {
    const reading = beginAt(run, known);
    let chunks = first;
    let sourcesSent = 0;
    let placeSent = 0;
    let sentAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted && !run.leftTo) {
      if (sourcesSent < run.sources.length) {
        sourcesSent = run.sources.length;
        chunks = [...chunks, { type: "sources", sources: run.sources }];
      }
      const { status, usage, counted = usage, error } = run;
      chunks = [...chunks, ...reading.next(run, status !== "streaming")];
      // The place follows the text: a reply that goes on waits behind its earlier text.
      if (placeSent !== run.place) chunks = [...chunks, { type: "turn", place: run.place }];
      placeSent = run.place;
      if (status !== "streaming")
        chunks = [...chunks, { type: "end", status, usage: counted, ...(error && { error }) }];
      if (chunks.length > 0) yield chunks;
      if (status !== "streaming") break;
      // More may have been written while the reader was slow, so the loop looks again before it waits.
      if (chunks.some(isText)) sentAt = performance.now();
      if (chunks.length === 0) {
        await run.changed;
        const early = sendEvery - (performance.now() - sentAt);
        if (early > 1) await setTimeout(early);
      }
      chunks = [];
    }
    if (run.leftTo === "another")
      yield* followStored(services, run.messageId, { signal, first: chunks, begin: () => reading });
    else if (run.leftTo) yield [...reading.next(run, true), { type: "end", status: "interrupted", usage: run.usage }];
    if (run.leftTo) return;
    await Promise.race([titled(run, signal), setTimeout(titleWait, undefined, { signal }).catch(() => undefined)]);
    if (run.title) yield [{ type: "title", title: run.title }];
  } finally {
    leave();
  }
}

async function titled(run: Run, signal: AbortSignal): Promise<void> {
  while (!run.done && !signal.aborted) await run.changed;
}

/** `begin`: gives the reader's place when the reply is first read. */
type FollowingStored = { signal: AbortSignal; first: Chunk[] | undefined; begin(reply: ReplyState): Reading };

async function* followStored(
  { db, changes }: FollowServices,
  messageId: string,
  { signal, first = [], begin }: FollowingStored,
): AsyncGenerator<Chunk[]> {
  let grown = Promise.withResolvers<void>();
  const stopListening = changes.whenGrown(messageId, () => grown.resolve());
  let told = 0;
  try {
    let chunks = first;
    let reading: Reading | undefined;
    let sourcesSent: string | undefined;
    let placeSent = 0;
    while (!signal.aborted) {
      // Made before the reply is read: what is stored from here on wakes this reader again.
      grown = Promise.withResolvers();
      const reply = await storedReply(db, messageId);
      if (!reply) return;
      const { status, error, sources, usage } = reply;
      if (status === "streaming" && Date.now() - told > tellEvery) {
        told = Date.now();
        changes.tellOfReplies({ replyIds: [messageId], are: "followed" });
      }
      reading ??= begin(reply);
      if (sources && sources !== sourcesSent) {
        sourcesSent = sources;
        chunks = [...chunks, { type: "sources", sources: storedJson<Source[]>(sources) }];
      }
      chunks = [...chunks, ...reading.next(reply, status !== "streaming")];
      if (reply.place !== placeSent) chunks = [...chunks, { type: "turn", place: reply.place }];
      placeSent = reply.place;
      if (status !== "streaming") {
        yield [...chunks, { type: "end", status, usage, ...(error && { error }) }];
        return;
      }
      if (chunks.length > 0) yield chunks;
      chunks = [];
      await Promise.race([grown.promise, setTimeout(pollEvery, undefined, { signal }).catch(() => undefined)]);
    }
  } finally {
    stopListening();
  }
}

/** A reply as the database has it, read in one statement: text and parts that do not belong together would be misread. */
async function storedReply(db: Db, messageId: string) {
  const rows = await db
    .selectFrom("messages as m")
    .leftJoin("parts as p", "p.messageId", "m.id")
    .where("m.id", "=", messageId)
    .orderBy("p.n")
    .select(["m.content", "m.status", "m.error", "m.sources", "m.inputTokens", "m.outputTokens", "m.reasoningTokens"])
    // A message may have two turns for a moment, one of them left by a process that has died.
    .select((e) =>
      e
        .selectFrom("turns as t")
        .whereRef("t.messageId", "=", "m.id")
        .select((w) => w.fn.min("t.place").as("place"))
        .as("place"),
    )
    .select(["p.n", "p.kind", "p.at", "p.text", "p.createdAt", "p.finishedAt", "p.status as callStatus", "p.data"])
    .execute();
  const [row] = rows;
  if (!row) return;
  const { content, status, error, sources, reasoningTokens } = row;
  const parts = rows.flatMap(({ n, kind, at, text, createdAt, finishedAt, callStatus, data }) =>
    n === null || kind === null || at === null || text === null || createdAt === null
      ? []
      : { n, kind, at, text, createdAt, finishedAt, status: callStatus, data },
  );
  return {
    text: content,
    parts: partsOf(content, parts),
    status,
    error,
    sources,
    place: Math.max(0, Number(row.place ?? 0)),
    usage: {
      inputTokens: row.inputTokens ?? 0,
      outputTokens: row.outputTokens ?? 0,
      ...(reasoningTokens !== null && { reasoningTokens }),
    },
  };
}
