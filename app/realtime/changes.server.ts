/** That something of a person has changed: of what kind, never what it is now. `sessions`: some may have ended. */
export type Change = { userId: string; what: string };
type Listener = (change: Change) => void;

/** Carries words to all processes, this one included. */
type Relay = { send(text: string): void; listen(hear: (text: string) => void): Promise<void> };

/** Who is told what: whoever writes tells it here, and whoever shows it listens. One instance a process. */
export class Changes {
  readonly #listeners = new Set<Listener>();
  readonly #relay: Relay | undefined;

  /** `relay`: where other processes write as well. */
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

  /** Calls back at each change; answers how to leave off. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
