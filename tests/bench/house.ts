// The figures by which the code is measured: `npm run bench -- house [folder]`. With the folder of another checkout, those of it.

import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "vite";
import { add, finish } from "./figures.ts";

const root = process.argv[2] ?? join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const files = globSync("app/**/*.{ts,tsx,css}", { cwd: root }).sort();
const code = files.filter((file) => !file.endsWith(".css"));

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* nodesIn(child);
  }
}

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const imports = new Map<string, string[]>();
let longFunctions = 0;
let casts = 0;
let emptyTexts = 0;
for (const file of code) {
  const text = read(file);
  const program = parseSync(file, text, { lang: file.endsWith("x") ? "tsx" : "ts" }).program as unknown as Node;
  const imported: string[] = [];
  for (const node of nodesIn(program)) {
    if (functionTypes.has(node.type) && text.slice(node.start, node.end).split("\n").length > 60) longFunctions++;
    if (node.type === "TSAsExpression" && !/as const$/.test(text.slice(node.start, node.end))) casts++;
    if (node.type === "LogicalExpression" && /\?\? ""$/.test(text.slice(node.start, node.end))) emptyTexts++;
    const source = node.source as { value?: string } | undefined;
    if (/^(Import|Export\w+)Declaration$/.test(node.type) && source?.value?.startsWith(".")) {
      imported.push(relative(root, join(root, dirname(file), source.value)));
    }
  }
  imports.set(file, imported);
}

/** Groups of files that import each other, types included. */
function cycles(): string[][] {
  const reachable = new Map(code.map((file) => [file, reachedFrom(file)]));
  const groups = new Map<string, string[]>();
  for (const file of code) {
    const group = code.filter((other) => reachable.get(file)?.has(other) && reachable.get(other)?.has(file));
    if (group.length > 0) groups.set(group.join(" "), group);
  }
  return [...groups.values()];
}

function reachedFrom(file: string): Set<string> {
  const reached = new Set<string>();
  const open = [...(imports.get(file) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(imports.get(next) ?? []));
  }
  return reached;
}

const count = (pattern: RegExp, inside = code) =>
  inside.reduce((sum, file) => sum + [...read(file).matchAll(pattern)].length, 0);
const lines = (file: string) => read(file).split("\n").length - 1;
const groups = cycles();
const pack = JSON.parse(read("package.json")) as { dependencies: object; scripts: object };

add(
  "lines of app/",
  files.map(lines).reduce((sum, more) => sum + more, 0),
  "",
);
add("files of app/", files.length, "");
add("files over 250 lines", files.filter((file) => lines(file) > 250).length, "");
add("functions over 60 lines", longFunctions, "", 8);
add("casts (but `as const`)", casts, "", 120);
add('`?? ""`', emptyTexts, "", 60);
add("flags by hand (`=== 1`, `? 1 : 0`)", count(/=== 1\b|\? 1 : 0\b|\(1 as const\)/g), "");
add("groups of files that import each other", groups.length, "", 0);
for (const group of groups) console.log(`    ${group.join(", ")}`);
add(
  "comments that begin with What, Who, Where or That",
  count(/(?:\/\*\*|\/\/) (?:What|Who|Whom|Whose|Where|That)\b/g),
  "",
  0,
);
add("dependencies", Object.keys(pack.dependencies).length, "", 72);
add("scripts of package.json", Object.keys(pack.scripts).length, "");
finish();
