import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Outcome of a part of the tests. A test's name begins with its file. */
export type Outcome = {
  passed: string[];
  failed: { name: string; why: string }[];
  /** Passed at a second try. */
  again: string[];
  skipped: string[];
};

export const nothing = (): Outcome => ({ passed: [], failed: [], again: [], skipped: [] });

/** The file that `tests/run.ts` reads the outcome of a part from; undefined when somebody runs the tests by hand. */
export const outcomeFile = process.env.TEST_OUTCOME;

export function writeOutcome(outcome: Outcome): void {
  if (!outcomeFile) return;
  mkdirSync(dirname(outcomeFile), { recursive: true });
  writeFileSync(outcomeFile, JSON.stringify(outcome));
}
