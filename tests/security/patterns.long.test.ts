import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import pLimit from "p-limit";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
// Rolldown's parser comes with Vite; the checker with the tools of the tests.
const { parseSync } = (await import("vite")) as unknown as {
  parseSync(file: string, code: string): { program: object };
};
type Verdict = {
  status: "safe" | "vulnerable" | "unknown";
  complexity?: { summary: string };
  error?: { kind: string };
};
type Check = (source: string, flags: string, options: object) => Promise<Verdict>;
const { check } = createRequire(join(root, "tests", "tools", "package.json"))("recheck") as { check: Check };

const own = "reads HTML, CSS or paths of our own, in which the text of others is escaped";
const short = "reads a text that was cut before, or a setting: at most some thousand characters";
const bounded = "each repetition has an upper bound of its own";
const worker = "runs in a worker that is ended after its time";
const command = "runs in a command of whoever hosts";
/** Patterns of more than linear time, and the reason why they hold nobody up. */
const excused: Record<string, string> = {
  '<link rel="modulepreload"[^>]*>': own,
  "<script[^>]*>window\\.__reactRouterContext": own,
  '<link [^>]*rel="stylesheet"[^>]*>': own,
  '"[^"]*"|\\[[^\\]]*\\]': own,
  "<(\\/?)([a-z][a-z0-9]*)[^>]*>": own,
  "<(\\/?)([a-z][a-z0-9]*)[^>]*>|&[#\\w]+;|\\s+|[^\\s<&]": own,
  "<[^>]*>|\\s+": own,
  '<link [^>]*href="\\/marca\\/estilo\\/([0-9a-f]{6})"': own,
  "<\\/?a\\b[^>]*>": own,
  "^\\/(?:api\\/)?([^/]*).*$": own,
  "\\/+$": short,
  "^_+|_+$": short,
  "<meta[^>]+charset ?= ?[\"']?([\\w-]+)": short,
  "(\\d+(?:\\.\\d+)?)\\s*%(?!\\s*[\\d(])": short,
  "[. ]+$": short,
  "\\s+\\S*$": short,
  "^\\/+|\\/+$": short,
  "(?<!`)(`+)(?!`)[\\s\\S]*?[^`]\\1(?!`)": short,
  "\\\\\\([\\s\\S]*?\\\\\\)|\\\\\\[[\\s\\S]*?\\\\\\]": short,
  '\\]\\((?:[^)]*|[^"]*"[^"]*)$': short,
  "\\[([^\\]\\n]*)\\]\\([^)\\s]*\\)": short,
  "model_not_found|model_decommissioned|(?:no such|unknown|invalid) model\\b|not a valid model|model[^.]{0,80}(?:not found|does not exist|not exist|is not available|has been (?:deprecated|decommissioned))|no endpoints found|DeploymentNotFound|invalid_model":
    bounded,
  "(?<![\\p{L}\\p{N}_@]|\\d[.,])(?:(?=[\\w.%+-]{1,64}@)|(?=[A-Za-z]{1,4}[- .]?\\d)|(?=[+(]{0,2}\\d)|(?<=(?<![\\p{L}\\p{N}])[A-Za-z])(?=-\\d))":
    bounded,
  "\\n\\s{0,20}(?:<\\/(?:think|thinking|thought|reasoning)>|\\[\\/THINK\\])\\s{0,20}\\n": bounded,
  "[\\p{Cc}--[\\t\\n]]": bounded,
  '\\bentity(\\["[^\\]\\n]{0,300}\\])': bounded,
  '(?:title|subject)=["“]([^"”]*)["”]': worker,
  "(?<![ \\t])[ \\t]*(?:&#8203;)?`{0,2}【(?:oaicite:\\d+|[^【】\\n]{0,200}†[^【】\\n]{0,200})】`{0,2}(?:&#8203;)?":
    bounded,
  "!\\[([^\\]\\n]{0,500})\\]\\((?:sandbox|sediment|file-service|attachment):[^)\\s]{0,500}\\)": bounded,
  "\\[([^\\]\\n]{0,500})\\]\\(((?:sandbox|sediment|file-service|attachment):[^)\\n]{0,500})\\)": bounded,
  "\\{\\{\\s*([^{}|:]{1,60}?)\\s*(?:[|:][^{}]*)?\\}\\}": command,
  '"[^"]*"|\\\\.|\\[(?!(?:h+|m+|s+)\\])[^\\]]*\\]': worker,
  "[\\s|]+$": worker,
  "^\\uFFFD+|\\uFFFD+$": worker,
  "%PDF-\\d\\.\\d[\\s\\S]{0,200}\\d+ \\d+ obj\\b": short,
};

/** Files whose code runs in a worker that is ended after its time, and nowhere else. */
const inWorkers = ["app/markdown/drawings/mermaid/", "app/markdown/drawings/sized-svg.server.ts"];

// Judged by steps and not by time, in which a busy machine is slow: the same pattern gets the same verdict.
const certain = {
  randomSeed: 1,
  timeout: 300_000,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  recallLimit: 0,
};

/** Files that make patterns from texts of our own, which the checker does not see. */
const made = [
  "app/api/allowed-methods.server.ts",
  "app/db/search/numbers.server.ts",
  "app/files/formats/office/cells.server.ts",
  "app/files/formats/office/open-document.server.ts",
  "app/http/bots.server.ts",
  "app/replies/providers/refused-parameters.server.ts",
  "app/replies/pseudonyms/pseudonyms.server.ts",
  "app/server/socket-upgrades.server.ts",
];

type Literal = { source: string; flags: string; place: string };
const literals: Literal[] = [];
const makers = new Set<string>();
for (const file of globSync("app/**/*.{ts,tsx}", { cwd: root }).sort()) {
  if (inWorkers.some((place) => file.startsWith(place))) continue;
  const code = readFileSync(join(root, file), "utf8");
  visit(parseSync(file, code).program, (node) => {
    const { regex } = node;
    if (regex) {
      const line = code.slice(0, node.start).split("\n").length;
      literals.push({ source: regex.pattern, flags: regex.flags, place: `${file}:${line}` });
    }
    if (node.type === "NewExpression" && node.callee?.name === "RegExp") makers.add(file);
  });
}

type Node = {
  type?: string;
  start?: number;
  callee?: { name?: string };
  regex?: { pattern: string; flags: string };
};
function visit(node: unknown, see: (node: Node) => void): void {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) see(node as Node);
  for (const child of Object.values(node)) visit(child, see);
}

it("no text can hold the thread up by a pattern", async () => {
  expect(literals.length).toBeGreaterThan(300);
  const atOnce = pLimit(2);
  const verdicts = await Promise.all(
    literals
      .filter(({ source }) => !(source in excused))
      .map(({ source, flags, place }) =>
        atOnce(async () => {
          // The checker knows no `v`; what it adds is of no weight here.
          const { status, complexity, error } = await check(source, flags.replace("v", "u"), certain);
          return status === "safe"
            ? []
            : [`${place}: /${source}/${flags} is ${complexity?.summary ?? error?.kind ?? status}`];
        }),
      ),
  );
  expect(verdicts.flat()).toEqual([]);
});

it("every excuse is of a pattern that there is", () => {
  const sources = new Set(literals.map(({ source }) => source));
  expect(Object.keys(excused).filter((source) => !sources.has(source))).toEqual([]);
  expect([...makers]).toEqual(made);
});
