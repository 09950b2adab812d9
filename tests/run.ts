// What `npm test` does: checks, then tests of data, API, pages, failure and text browsers, then Chromium with and without script.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { findPostgres } from "./support/engines.ts";

type Result = { status: string; fullName: string; failureMessages: string[] };
type Counted = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { name: string; assertionResults: Result[] }[];
};

const postgres = await findPostgres();
console.log(`Motores que se prueban: SQLite${postgres ? " y PostgreSQL" : " (ningún PostgreSQL contesta)"}.`);
rmSync("test-results", { recursive: true, force: true });
mkdirSync("test-results", { recursive: true });

const checked = run("npm", ["run", "--silent", "check"]);
const unit = run("vitest", ["run", "--reporter=dot", "--reporter=json", "--outputFile.json=test-results/unit.json"]);
const browsers = run("playwright", ["test"]);

const counted = read<Counted>("test-results/unit.json");
const driven = read<{ stats: { expected: number; unexpected: number; flaky: number } }>("test-results/e2e.json");
const passed = (counted?.numPassedTests ?? 0) + (driven?.stats.expected ?? 0);
const failed = (counted?.numFailedTests ?? 0) + (driven?.stats.unexpected ?? 0) + (driven?.stats.flaky ?? 0);
// Last, where the end of a long output is all that is kept of it.
for (const told of failures(counted)) console.log(told);
console.log(`${passed} passed, ${failed} failed`);
process.exit(checked && unit && browsers && failed === 0 && passed > 0 ? 0 : 1);

function failures(report: Counted | undefined): string[] {
  const results = (report?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults.map((one) => ({ name, ...one })),
  );
  return results
    .filter(({ status }) => status === "failed")
    .map(
      ({ name, fullName, failureMessages }) =>
        `FAIL ${name}: ${fullName}\n${failureMessages.join("\n").slice(0, 1500)}`,
    );
}

function run(command: string, args: string[]): boolean {
  return spawnSync(command, args, { stdio: "inherit" }).status === 0;
}

function read<Report>(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    // A run that broke off leaves no report; its exit code has told already.
    return undefined;
  }
}
