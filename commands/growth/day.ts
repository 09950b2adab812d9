// One busy hour of an installation, second by second: how much each part has to do in it.

import { createHash } from "node:crypto";

/** What somebody does, on average; `docs/crecer.md` says where each number comes from. */
export type Habits = {
  /** Share of the accounts that write on a working day, and what each of them sends. */
  active: number;
  messages: number;
  /** Share of a day's messages that is sent in its busiest hour. */
  busiest: number;
  /** Pages looked at for each message. */
  pages: number;
  /** Of a reply: its tokens at the median, how far they spread (sigma of their logarithm), and how many come in a second. */
  tokens: number;
  spread: number;
  speed: number;
  /** Documents of an active person in a day, and their bytes. */
  documents: number;
  documentBytes: number;
};

/** What one of a thing costs each part: `app`, `postgres` and `redis` in ms of a core; `wal` and `disk` in bytes. */
export type Costs = Record<"app" | "postgres" | "redis" | "commits" | "rows" | "wal" | "commands" | "disk", number>;
export type MeasuredCosts = { reply: Costs; page: Costs; token: Costs };

/** What is needed in the busiest seconds (the 99th percentile of them), per second; `running`: replies at once. */
export type Peak = Costs & { running: number; started: number; pages: number };

const seconds = 3600;
// A reply that takes longer counts as that.
const longest = 900;

/** Simulates the busiest hour. The same `seed` gives the same hour. */
export function busiestHour(people: number, habits: Habits, costs: MeasuredCosts, seed = 1): Peak {
  const random = numbersFrom(seed);
  const mean = (people * habits.active * habits.messages * habits.busiest) / seconds;
  const ends = new Float64Array(seconds + longest + 1);
  const durations = durationsOf(habits, random);
  const peaks: Peak[] = [];
  let running = 0;
  let drift = 0;
  for (let second = 0; second < seconds; second++) {
    // People come in waves: a slow drift of some ten per cent, beside the chance of each second.
    drift = 0.995 * drift + 0.01 * normal(random);
    const started = poisson(mean * Math.max(0, 1 + drift), random);
    const pages = poisson(mean * habits.pages, random);
    running += started - (ends[second] ?? 0);
    for (const [length, share] of durations) ends[second + length] = (ends[second + length] ?? 0) + started * share;
    // The hour before is not simulated: the first minutes only fill up.
    if (second < longest) continue;
    const tokens = Math.max(0, running) * habits.speed;
    peaks.push({
      ...sum([
        [costs.reply, started],
        [costs.page, pages],
        [costs.token, tokens],
      ]),
      running,
      started,
      pages,
    });
  }
  const names = Object.keys(peaks[0] ?? {}) as (keyof Peak)[];
  return Object.fromEntries(names.map((name) => [name, percentile99(peaks.map((peak) => peak[name]))])) as Peak;
}

/** How long replies take, in whole seconds, and which share of them. */
function durationsOf({ tokens, spread, speed }: Habits, random: () => number): Map<number, number> {
  const samples = 5_000;
  const shares = new Map<number, number>();
  for (let sample = 0; sample < samples; sample++) {
    const many = tokens * Math.exp(spread * normal(random));
    const length = Math.min(longest, Math.max(1, Math.round(many / speed)));
    shares.set(length, (shares.get(length) ?? 0) + 1 / samples);
  }
  return shares;
}

function sum(parts: [Costs, number][]): Costs {
  const names = Object.keys(parts[0]?.[0] ?? {}) as (keyof Costs)[];
  return Object.fromEntries(
    names.map((name) => [name, parts.reduce((all, [costs, times]) => all + costs[name] * times, 0)]),
  ) as Costs;
}

const percentile99 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;

/** Numbers between 0 and 1, the same ones everywhere: from the hashes of a counter. */
function numbersFrom(seed: number): () => number {
  let count = 0;
  return () => createHash("sha256").update(`${seed} ${count++}`).digest().readUInt32BE() / 2 ** 32;
}

const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Knuth's way for few, the normal distribution for many. */
function poisson(mean: number, random: () => number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
  let count = 0;
  for (let product = random(); product > Math.exp(-mean); product *= random()) count++;
  return count;
}
