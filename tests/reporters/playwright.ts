import { relative } from "node:path";
import type { Reporter, TestCase, TestError } from "@playwright/test/reporter";
import { nothing, writeOutcome } from "./outcome.ts";

/** A line for each test, and the outcome of all for `tests/run.ts`. */
export default class implements Reporter {
  readonly #outcome = nothing();
  readonly #tests = new Set<TestCase>();

  printsToStdio(): boolean {
    return true;
  }

  onTestEnd(
    test: TestCase,
    { status, duration, errors, retry }: { status: string; duration: number; errors: TestError[]; retry: number },
  ): void {
    this.#tests.add(test);
    const why = errors.map(({ stack, message }) => stack ?? message ?? "").join("\n");
    console.log(`${nameOf(test)} ${status} (${(duration / 1000).toFixed(1)} s)${retry > 0 ? " otra vez" : ""}`);
    if (why) console.log(why);
    if (test.outcome() === "unexpected" && retry === test.retries)
      this.#outcome.failed.push({ name: nameOf(test), why });
  }

  onError(error: TestError): void {
    const why = error.stack ?? error.message ?? "";
    console.log(why);
    this.#outcome.failed.push({ name: "outside of any test", why });
  }

  onEnd(): void {
    for (const test of this.#tests) {
      const outcome = test.outcome();
      if (outcome === "skipped") this.#outcome.skipped.push(nameOf(test));
      if (outcome === "flaky") this.#outcome.again.push(nameOf(test));
      if (outcome === "flaky" || outcome === "expected") this.#outcome.passed.push(nameOf(test));
    }
    writeOutcome(this.#outcome);
  }
}

/** Its file, its title and with which browser. */
function nameOf(test: TestCase): string {
  const [, project = "", , ...titles] = test.titlePath();
  return `${relative(process.cwd(), test.location.file)}: ${titles.join(" › ")} [${project}]`;
}
