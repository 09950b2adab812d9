/** That something of a person has changed: of what kind, never what it is now. `sessions`: some may have ended. */
export type Change = { userId: string; what: string };
type Listener = (change: Change) => void;

/** Who is told what: whoever writes tells it here, and whoever shows it listens. One instance a process. */
export class Changes {
  readonly #listeners = new Set<Listener>();

  tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  /** Calls back at each change; answers how to leave off. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
