const half = /[\uD800-\uDBFF]$/;

/**
 * Puts together characters of two UTF-16 units that arrive in halves: alone, a half is lost on its way to a page or to the database. Codes
 * that are no characters, like NUL, which PostgreSQL can't store, or a half that nothing follows, are taken out or replaced.
 */
export class WholeCharacters {
  #held = "";

  /** The next piece of a text, up to its last whole character. */
  add(piece: string): string {
    const text = (this.#held + piece).replaceAll("\0", "");
    const whole = text.replace(half, "");
    this.#held = text.slice(whole.length);
    return whole.toWellFormed();
  }

  /** The rest that was held back, at the end. */
  rest(): string {
    const { length } = this.#held;
    this.#held = "";
    return "\uFFFD".repeat(length);
  }
}
