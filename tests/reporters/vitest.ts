import type { Reporter, TestModule } from "vitest/node";
import { nothing, writeOutcome } from "./outcome.ts";

/** One line for each file of tests, and the outcome of all for `tests/run.ts`. */
export default class implements Reporter {
  readonly #outcome = nothing();

  onTestModuleEnd(module: TestModule): void {
    const { passed, failed, again, skipped } = this.#outcome;
    const file = module.relativeModuleId;
    const failedBefore = failed.length;
    const passedBefore = passed.length;
    for (const error of module.errors()) failed.push({ name: file, why: error.stack ?? error.message });
    for (const test of module.children.allTests()) {
      const name = `${file}: ${test.fullName}`;
      const result = test.result();
      if (result.state === "passed") passed.push(name);
      if (result.state === "passed" && test.diagnostic()?.flaky) again.push(name);
      if (result.state === "failed") {
        failed.push({ name, why: result.errors.map(({ stack, message }) => stack ?? message).join("\n") });
      }
      if (result.state === "skipped") skipped.push(name);
    }
    for (const suite of module.children.allSuites()) {
      for (const { stack, message } of suite.errors()) {
        failed.push({ name: `${file}: ${suite.fullName}`, why: stack ?? message });
      }
    }
    const seconds = (module.diagnostic().duration / 1000).toFixed(1);
    const bad = failed.length - failedBefore;
    console.log(`${file} ${passed.length - passedBefore}${bad > 0 ? `, ${bad} FAILED` : ""} (${seconds} s)`);
    for (const { name, why } of failed.slice(failedBefore)) console.log(`FAIL ${name}\n${why}`);
  }

  onTestRunEnd(_modules: unknown, errors: ReadonlyArray<{ message: string; stack?: string }>): void {
    for (const { stack, message } of errors) {
      console.log(`FAIL outside of any test\n${stack ?? message}`);
      this.#outcome.failed.push({ name: "outside of any test", why: stack ?? message });
    }
    writeOutcome(this.#outcome);
  }
}
