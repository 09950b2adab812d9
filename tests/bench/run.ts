// `npm run bench -- <what> [its own words]`: one of the benches of this folder; without a name, the sizes and speeds (`measure.ts`).
import { join } from "node:path";

const benches = [
  "find",
  "grown",
  "held",
  "house",
  "injection",
  "load",
  "measure",
  "million",
  "partition",
  "read",
  "tools",
  "uploads",
  "worst",
];

const [what = "measure", ...words] = process.argv.slice(2);
const file = join(import.meta.dirname, `${what}.ts`);
if (!benches.includes(what)) {
  console.error(`There is no bench «${what}». There are: ${benches.join(", ")}.`);
  process.exit(1);
}
// The bench sees the same `argv` as when it is run directly.
process.argv = [process.execPath, file, ...words];
await import(file);
