import { monitorEventLoopDelay } from "node:perf_hooks";

/** How late this process's event loop is. One instance per process. */
export class EventLoop {
  readonly #histogram = monitorEventLoopDelay({ resolution: 20 });

  constructor() {
    this.#histogram.enable();
  }

  /** The longest delay since this was last asked, in ms. */
  worst(): number {
    const worst = Math.round(this.#histogram.max / 1e6);
    this.#histogram.reset();
    return worst;
  }

  stop(): void {
    this.#histogram.disable();
  }
}
