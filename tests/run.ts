// `npm test`: what is quick, without `npm run check`. `npm run test:largo`: what CI adds to it. `npm run test:todo`: all there is, for a release.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { chromium as playwright } from "@playwright/test";
import { always, core, thirdOf, thirds } from "./long.ts";
import type { Outcome } from "./reporters/outcome.ts";
import { findPostgres } from "./support/engines.ts";
import { systemChromium } from "./support/programs.ts";

/** One command. `tests`: whether it leaves an outcome; the checks do not. */
type Part = { name: string; command: string; args: string[]; env?: Record<string, string>; tests: boolean };

// More than that and something is wrong that a second try must not hide.
const againAtMost = 3;

const checks: Part = { name: "comprobaciones", command: "npm", args: ["run", "--silent", "check"], tests: false };
const vitest = (name: string, args: string[], env = {}): Part => ({
  name,
  command: "vitest",
  args: ["run", ...args],
  env,
  tests: true,
});
const long = (files: string[]) => vitest("lo largo", ["--config", "vitest.long.config.ts", ...files]);
/** Rules, which `npm test` tries on SQLite. */
const rulesOnPostgres = (files: string[]) => vitest("reglas en PostgreSQL", files, { TEST_RULES_ON: "postgres" });
const chromium = (name: string, specs: string[], env = {}): Part => ({
  name,
  command: "playwright",
  args: ["test", ...specs.map((spec) => `/${spec}\\.spec`)],
  env: { TEST_LONG: "1", ...env },
  tests: true,
});
const pair = (specs: string[], both: string) => chromium("páginas y API por separado", specs, { TEST_PAIR: both });

function partsOf(kind: string): Part[] {
  if (kind === "short") return [vitest("Vitest", []), chromium("Chromium", core)];
  const rules = globSync("tests/**/*.test.ts")
    .filter((file) => readFileSync(file, "utf8").includes("ruleEngines()"))
    .sort();
  if (kind === "all") {
    return [
      checks,
      vitest("Vitest", []),
      rulesOnPostgres(rules),
      chromium("Chromium", []),
      pair([], "both"),
      long([...always, ...thirds.flatMap(({ node }) => node)]),
    ];
  }
  const n = thirdOf(new Date());
  const { node, chromium: specs, pair: apart } = thirds[n] ?? thirds[0];
  console.log(`Tercio ${n + 1} de ${thirds.length} de lo que tarda minutos (TEST_THIRD elige otro).`);
  return [
    long([...always, ...node]),
    rulesOnPostgres(rules.filter((_, place) => place % thirds.length === n)),
    chromium("Chromium", specs),
    pair(apart, "once"),
  ];
}

const kind = process.argv[2] ?? "short";
const postgres = await findPostgres();
const results = `test-results/${kind}`;
rmSync(results, { recursive: true, force: true });
const told: string[] = [];
const failures: string[] = [];
const again: string[] = [];
const skipped: string[] = [];
let passed = 0;
let isBroken = false;
const hasChromium = existsSync(systemChromium ?? playwright.executablePath());
for (const [n, { name, command, args, env, tests }] of partsOf(kind).entries()) {
  if (command === "playwright" && !hasChromium) {
    skipped.push(`${name}: no hay Chromium`);
    continue;
  }
  const file = `${results}/${n}.json`;
  const begun = performance.now();
  const own = { ...process.env, ...env, ...(tests && { TEST_OUTCOME: file }) };
  const { status } = spawnSync(command, args, { stdio: "inherit", env: own });
  const outcome = tests ? read(file) : undefined;
  const seconds = Math.round((performance.now() - begun) / 1000);
  told.push(
    `${name}: ${seconds} s${outcome ? `, ${outcome.passed.length} pruebas` : ""}${status === 0 ? "" : ", con fallos"}`,
  );
  if (status !== 0 || (tests && !outcome)) isBroken = true;
  passed += outcome?.passed.length ?? 0;
  failures.push(...(outcome?.failed ?? []).map(({ name, why }) => `FAIL ${name}\n${why.slice(0, 1500)}`));
  again.push(...(outcome?.again ?? []));
  skipped.push(...(outcome?.skipped ?? []));
}

// Last, where the end of a long output is all that is kept of it.
console.log(`\n${told.join("\n")}`);
if (!postgres) console.log("Sin PostgreSQL: ninguno contesta en 127.0.0.1:5432 ni en TEST_DATABASE_URL.");
for (const name of skipped) console.log(`fuera: ${name}`);
for (const name of again) console.log(`otra vez: ${name}`);
if (again.length > againAtMost) console.log(`Más de ${againAtMost} pruebas han necesitado otra vez.`);
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed, ${skipped.length} skipped`);
process.exit(isBroken || failures.length > 0 || again.length > againAtMost || passed === 0 ? 1 : 0);

/** A part that broke off leaves no outcome. */
function read(file: string): Outcome | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Outcome;
  } catch {
    return undefined;
  }
}
