// The figures of a bench, each printed as soon as it is known, beside its reach.

let missed = false;

/** Prints a figure. `reach`: the most that it may be. */
export function add(what: string, figure: number, unit: string, reach?: number): void {
  const isMissed = reach !== undefined && !(figure <= reach);
  missed ||= isMissed;
  const mark = reach === undefined ? " " : isMissed ? "✗" : "✓";
  console.log(
    `${mark} ${what.padEnd(66)} ${figure.toFixed(2).padStart(9)} ${unit.padEnd(3)} ${reach === undefined ? "" : `(reach ≤ ${reach})`}`,
  );
}

/** Ends the bench: with 1 if a reach was missed. */
export const finish = () => process.exit(missed ? 1 : 0);

export const percentile = (values: number[], percent: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor((percent / 100) * values.length))] ??
  Number.NaN;
