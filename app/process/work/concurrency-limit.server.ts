/** Counts what each person (or network, for visitors) has in progress in this process, up to a limit. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #underway = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place; returns false when all places are taken. */
  enter(person: string): boolean {
    const others = this.#underway.get(person) ?? 0;
    if (others >= this.#most) return false;
    this.#underway.set(person, others + 1);
    return true;
  }

  leave(person: string): void {
    const left = (this.#underway.get(person) ?? 1) - 1;
    if (left > 0) this.#underway.set(person, left);
    else this.#underway.delete(person);
  }
}
