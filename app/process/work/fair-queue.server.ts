import pLimit, { type LimitFunction } from "p-limit";

/**
 * A fair concurrency limit: `atOnce` jobs run at the same time, at most one of them for each owner, so that one owner's
 * queue does not hold up the others.
 */
export class FairQueue {
  readonly #all: LimitFunction;
  readonly #own = new Map<string, LimitFunction>();

  constructor(atOnce: number) {
    this.#all = pLimit(atOnce);
  }

  /** Runs `work` when it is its turn; returns its result or throws its error. */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    const own = this.#own.get(owner) ?? pLimit(1);
    this.#own.set(owner, own);
    try {
      return await own(() => this.#all(work));
    } finally {
      if (own.activeCount + own.pendingCount === 0) this.#own.delete(owner);
    }
  }
}
