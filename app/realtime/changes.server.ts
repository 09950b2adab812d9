/** Says that something of a person has changed: which kind of thing, never its content. `sessions`: some may have ended. */
export type Change = { userId: string; what: string };
type Listener = (change: Change) => void;

/** Sends notices to all processes, including this one. */
type Relay = { send(text: string): void; listen(hear: (text: string) => void): Promise<void> };

/** Publish and subscribe for changes: writers publish here, open pages subscribe. One instance per process. */
export class Changes {
  readonly #listeners = new Set<Listener>();
  readonly #relay: Relay | undefined;

  /** `relay`: present when other processes write as well. */
  constructor(relay?: Relay) {
    this.#relay = relay;
    void relay?.listen((text) => this.#pass(JSON.parse(text) as Change));
  }

  tell(change: Change): void {
    if (this.#relay) this.#relay.send(JSON.stringify(change));
    else this.#pass(change);
  }

  #pass(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Subscribes to changes; returns the function that unsubscribes. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
