/** How many of something each person has under way in this process, up to a number. */
export class AtOnce {
  readonly #most: number;
  readonly #underway = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more; answers false where there are as many as there may be. */
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
