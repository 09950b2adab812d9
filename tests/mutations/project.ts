import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..", "..");

/** Folder of the changed project: inside this one, so that it finds the same packages. */
export const copy = join(root, "test-results", "mutations", "project");

/** One small mistake that the instrumented code can be told to make. */
export type Mutant = { id: string; file: string; line: number; kind: string; instead: string };

type Position = { line: number };
type Instrumented = {
  files: { name: string; content: string }[];
  mutants: {
    id: string;
    fileName: string;
    mutatorName: string;
    status?: string;
    replacement: string;
    location: { start: Position };
  }[];
};
type Instrumenter = new (logger: object) => { instrument(files: object[], options: object): Promise<Instrumented> };

/** Copies the project with all mistakes built in, each switched off, and builds it. Answers the mistakes. */
export async function makeProject(folders: string[]): Promise<Mutant[]> {
  rmSync(copy, { recursive: true, force: true });
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const path of tracked) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  const chosen = tracked.filter((path) => folders.some((folder) => path.startsWith(folder)) && isServerSide(path));
  const { files, mutants } = await instrument(chosen);
  for (const { name, content } of files) writeFileSync(join(copy, name), content);
  execFileSync("npx", ["--no-install", "react-router", "build"], { cwd: copy, stdio: ["ignore", "ignore", "inherit"] });
  writeFileSync(join(copy, "build", ".done"), "");
  // Those that were not to be made are listed as well.
  const made = mutants.filter(({ status }) => status !== "Ignored");
  return made.map(({ id, fileName, mutatorName, replacement, location }) => ({
    id,
    file: fileName,
    // Stryker counts lines from 0.
    line: location.start.line + 1,
    kind: mutatorName,
    instead: replacement.replace(/\s+/g, " ").slice(0, 80),
  }));
}

// A migration runs once; what only a browser runs is tested by Playwright.
const isServerSide = (path: string) => /\.tsx?$/.test(path) && !/migrations\/|entry\.client|\.d\.ts$/.test(path);

async function instrument(paths: string[]): Promise<Instrumented> {
  const require = createRequire(join(root, "tests", "tools", "package.json"));
  const program = pathToFileURL(require.resolve("@stryker-mutator/instrumenter")).href;
  const { Instrumenter } = (await import(program)) as { Instrumenter: Instrumenter };
  const silent = { isDebugEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} };
  const files = paths.map((name) => ({ name, mutate: true, content: readFileSync(join(root, name), "utf8") }));
  // Sentences and class names are for people to judge: a changed one breaks nothing.
  const options = { plugins: null, ignorers: [documentation], excludedMutations: ["StringLiteral", "Regex"] };
  return new Instrumenter(silent).instrument(files, options);
}

type Named = { name?: string };
type Path = {
  isObjectProperty(): boolean;
  isCallExpression(): boolean;
  isObjectExpression(): boolean;
  node: { key?: Named; properties?: { key?: Named }[]; callee?: { property?: Named }; arguments?: object[] };
};

/** Ignores mutants in code that only describes the API for its OpenAPI document. */
const documentation = {
  shouldIgnore(path: Path): string | undefined {
    const { key, properties, callee, arguments: given } = path.node;
    const described = path.isObjectProperty() && ["responses", "security", "description"].includes(key?.name ?? "");
    const named = path.isCallExpression() && callee?.property?.name === "openapi" && given?.length === 1;
    const only = path.isObjectExpression() && properties?.every(({ key: own }) => own?.name === "description");
    return described || named || (only && properties?.length) ? "documentation" : undefined;
  },
};
