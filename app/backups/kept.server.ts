/** Copies that are kept of each kind: the newest of a day, a week, a month. */
const keptOf = { days: 7, weeks: 4, months: 12 };

const day = 24 * 60 * 60_000;

/** Name of a copy by its moment (epoch ms): names sort by time. */
export const nameOfCopy = (at: number): string => new Date(at).toISOString().slice(0, 19).replaceAll(":", "-");

/** The moment of a copy by its name, in epoch ms; undefined for other names. */
export function momentOf(name: string): number | undefined {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)$/.exec(name) ?? [];
  const at = date && time ? Date.parse(`${date}T${time.replaceAll("-", ":")}Z`) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/**
 * The copies to delete. All copies of the last day are kept, so that a copy made after a mishap does not replace the good copy; so is the
 * newest copy of each of 7 days, of 4 weeks and of 12 months.
 */
export function surplus(names: string[]): string[] {
  const kept = new Set<string>();
  const newest = names
    .flatMap((name) => {
      const at = momentOf(name);
      return at === undefined ? [] : [{ name, at }];
    })
    .sort((a, b) => b.at - a.at);
  for (const { name, at } of newest) if ((newest[0]?.at ?? 0) - at < day) kept.add(name);
  const periods: [number, (at: number) => number | string][] = [
    [keptOf.days, (at) => Math.floor(at / day)],
    // Weeks begin on Monday; the epoch began on a Thursday.
    [keptOf.weeks, (at) => Math.floor((at / day + 3) / 7)],
    [keptOf.months, (at) => new Date(at).toISOString().slice(0, 7)],
  ];
  for (const [count, periodOf] of periods) {
    const seen = new Set<number | string>();
    for (const { name, at } of newest) {
      const period = periodOf(at);
      if (seen.has(period)) continue;
      if (seen.size === count) break;
      seen.add(period);
      kept.add(name);
    }
  }
  return newest.map(({ name }) => name).filter((name) => !kept.has(name));
}
