import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const files = globSync("app/**/*.{ts,tsx}", { cwd: root }).sort();

/** Which rooms a room may import from; what lies in `app/` itself goes by its file's name. Types may come from anywhere. */
const leaves = [
  "at-once",
  "config",
  "log",
  "mail",
  "secrets",
  "synced",
  "limits",
  "multipart",
  "pull-stream",
  "redis",
  "worker",
  "worker-job",
];
const mayImport: Record<string, string[]> = {
  db: leaves,
  files: ["db", ...leaves],
  intelligence: ["db", "files", ...leaves],
  realtime: ["db", ...leaves],
  api: ["db", "intelligence", "files", "realtime", ...leaves],
  markdown: leaves,
  ui: ["ui", "limits"],
  // What pages may use of the server: nothing that knows the database.
  routes: [
    "ui",
    "markdown",
    "context",
    "answers",
    "guards",
    "person",
    "form",
    "held-draft",
    "shown-file",
    "uploads",
    "relay-content",
    "session",
    "limits",
    "pull-stream",
  ],
  services: ["db", "files", "intelligence", "realtime", ...leaves],
  "remote-api": ["log"],
  tunnel: [],
  handler: [
    "api",
    "services",
    "realtime",
    "upgrades",
    "remote-api",
    "tunnel",
    "context",
    "session",
    "headers",
    "robots",
    ...leaves,
  ],
  root: ["routes", "ui", "context", "form", "person", "app"],
  "entry.server": ["context", "headers", "log", "pull-stream"],
  guards: ["answers", "context", "form", "held-draft", "person"],
  person: ["answers", "context"],
  form: ["answers", "context", "limits", "multipart", "person", "secrets"],
  "shown-file": [],
  "relay-content": ["answers"],
  uploads: ["answers", "context", "limits", "shown-file"],
  "held-draft": ["answers", "context", "form", "limits"],
  upgrades: ["realtime", "session", "secrets"],
  config: ["synced"],
  synced: [],
  redis: ["log"],
  secrets: [],
  log: [],
  mail: [],
  robots: [],
  limits: [],
  "at-once": [],
  multipart: ["at-once", "limits"],
  worker: [],
  "worker-job": [],
  session: [],
  headers: [],
  context: [],
  answers: [],
  "pull-stream": [],
  "entry.client": ["ui"],
};

const room = (file: string) => {
  const [, first = "", second] = file.split("/");
  return second
    ? first
    : first.replace(/(\.server)?\.(tsx?|css)$/, "") + (first.startsWith("entry.server") ? ".server" : "");
};

const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const code = readFileSync(join(root, file), "utf8");
  return [...code.matchAll(/(?:^|\n)(?:import|export)\s(?!type\s)([^;"]*?from\s)?"(\.[^"]+)"/g)]
    .filter(([, names]) => !/^\{\s*(type \w+,?\s*)+\}\s*from\s$/.test(names ?? ""))
    .map(([, , path = ""]) => relative(root, join(root, dirname(file), path)))
    .filter((path) => !path.includes("+types"));
}

describe("the house", () => {
  it.each(files)("%s imports only from rooms that it may know", (file) => {
    const here = room(file);
    const allowed = mayImport[here];
    expect(allowed, `tests/architecture.test.ts says nothing of the room «${here}»`).toBeDefined();
    const wrong = imports
      .get(file)
      ?.filter(
        (path) =>
          room(path) !== here &&
          !path.endsWith("routes.ts") &&
          path !== "package.json" &&
          !allowed?.includes(room(path)),
      );
    expect(wrong).toEqual([]);
  });

  it("no route folder imports another", () => {
    const folder = (file: string) => /^app\/routes\/([^/]+)\//.exec(file)?.[1];
    const across = files.flatMap((file) =>
      (imports.get(file) ?? [])
        .filter((path) => folder(file) && folder(path) && folder(path) !== folder(file))
        .map((path) => `${file} → ${path}`),
    );
    expect(across).toEqual([]);
  });

  it("nothing has a cycle", () => {
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, trail: string[]) => {
      if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(" → "));
      if (trail.includes(file) || done.has(file)) return;
      for (const next of imports.get(file) ?? []) visit(next, [...trail, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it("only the configuration reads the environment", () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), "utf8")));
    expect(readers).toEqual(["app/config.server.ts"]);
  });

  it("server code carries the suffix that keeps it out of the browser", () => {
    const bare = files.filter(
      (file) => /^app\/(db|api|files|intelligence|markdown)\//.test(file) && !/\.server\.tsx?$/.test(file),
    );
    expect(bare).toEqual([
      "app/api/import-formats.ts",
      "app/api/import.worker.ts",
      "app/db/tables.ts",
      "app/files/reading.worker.ts",
      "app/intelligence/chunk.ts",
    ]);
  });
});
