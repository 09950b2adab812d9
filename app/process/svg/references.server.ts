/**
 * References among the elements of a picture: a pattern of patterns, or a `use` of a group of `use`s, is drawn exponentially often.
 * `open` and `close` take the elements as they come.
 */
export class References {
  /** By id: the number of elements within, and the ids that are referred to, with their times. The picture itself has an empty id. */
  readonly #named = new Map<string, { size: number; to: { id: string; times: number }[] }>([["", { size: 0, to: [] }]]);
  /** The id of each open element, or else the nearest id around it. */
  readonly #open: string[] = [];

  open(attributes: Record<string, string>): void {
    const around = this.#open.at(-1) ?? "";
    const own = attributes.id;
    if (own && !this.#named.has(own)) {
      this.#named.set(own, { size: 0, to: [] });
      this.#refer(around, own, 1);
    }
    const name = own || around;
    this.#open.push(name);
    const here = this.#named.get(name);
    if (here) here.size++;
    // A marker stands at each corner.
    const corners = Math.ceil(((attributes.d ?? attributes.points ?? "").length + 1) / 4);
    for (const [attribute, value] of Object.entries(attributes)) {
      const times = /^marker|^style$/.test(attribute) ? corners : 1;
      for (const id of idsIn(attribute, value)) this.#refer(name, id, times);
    }
  }

  close(): void {
    this.#open.pop();
  }

  /** A reference of a style sheet may apply to each element. */
  inSheet(sheet: string): void {
    const count = [...this.#named.values()].reduce((sum, { size }) => sum + size, 0);
    for (const id of idsIn("style", sheet)) this.#refer("", id, Math.max(20, count));
  }

  /** How many elements are drawn; infinite where one is drawn within itself. */
  cost(): number {
    const known = new Map<string, number>();
    const within = new Set<string>();
    const costOf = (id: string): number => {
      const before = known.get(id);
      if (before !== undefined) return before;
      if (within.has(id)) return Number.POSITIVE_INFINITY;
      within.add(id);
      const { size, to } = this.#named.get(id) ?? { size: 0, to: [] };
      const cost = to.reduce((sum, one) => sum + costOf(one.id) * one.times, size);
      within.delete(id);
      known.set(id, cost);
      return cost;
    };
    return costOf("");
  }

  #refer(from: string, id: string, times: number): void {
    this.#named.get(from)?.to.push({ id, times });
  }
}

function idsIn(attribute: string, value: string): string[] {
  const links = /^(?:xlink:)?href$/.test(attribute) ? [value.trim().replace(/^#/, "")] : [];
  return [...links, ...[...value.matchAll(/url\(\s*["']?#([^"')\s]+)/gi)].map(([, id = ""]) => id)];
}
