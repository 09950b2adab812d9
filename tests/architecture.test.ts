import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { always, core, thirds } from "./long.ts";

const root = join(import.meta.dirname, "..");
const files = globSync("app/**/*.{ts,tsx}", { cwd: root }).sort();

/** Which rooms a room may import from, besides itself. Types may come from anywhere. */
const mayImport: Record<string, string[]> = {
  process: [],
  http: ["process"],
  db: ["process"],
  jobs: ["process", "db"],
  files: ["process", "db", "jobs"],
  markdown: ["process"],
  realtime: ["process", "db"],
  artifacts: ["process", "db", "jobs", "files"],
  tools: ["process", "db", "artifacts"],
  backups: ["process", "db", "files", "jobs"],
  events: ["process", "db", "jobs"],
  retention: ["process", "db", "files", "realtime"],
  replies: ["process", "db", "files", "tools", "artifacts"],
  embeddings: ["process", "db", "jobs", "replies"],
  voice: ["process", "db", "replies"],
  api: [
    "process",
    "http",
    "db",
    "files",
    "jobs",
    "artifacts",
    "realtime",
    "tools",
    "replies",
    "embeddings",
    "voice",
    "backups",
    "events",
    "retention",
  ],
  // Server side of pages: nothing that knows the database.
  web: ["process", "http"],
  // Access for programs: clients of the API, like pages.
  mcp: ["process", "http"],
  ui: ["process"],
  routes: ["process", "http", "markdown", "web", "ui"],
  server: [
    "process",
    "http",
    "db",
    "files",
    "jobs",
    "artifacts",
    "realtime",
    "tools",
    "replies",
    "embeddings",
    "voice",
    "backups",
    "events",
    "retention",
    "api",
    "web",
    "mcp",
  ],
};
const mayImportLoose: Record<string, string[]> = {
  "app/root.tsx": ["web", "ui", "routes"],
  "app/entry.server.tsx": ["process", "http", "web", "ui"],
  "app/entry.client.tsx": ["ui"],
  "app/routes.ts": [],
};

/** The folder of `app/` that a file lies in; undefined of a loose one. */
const room = (file: string) => /^app\/([^/]+)\//.exec(file)?.[1];

const imports = new Map(files.map((file) => [file, importsOf(file)]));
const importsWithTypes = new Map(files.map((file) => [file, importsOf(file, true)]));

function importsOf(file: string, withTypes = false): string[] {
  const code = readFileSync(join(root, file), "utf8");
  return [...code.matchAll(/(?:^|\n)(?:import|export)\s(type\s)?([^;"]*?from\s)?"(\.[^"]+)"/g)]
    .filter(([, type, names]) => withTypes || !(type || /^\{\s*(type \w+,?\s*)+\}\s*from\s$/.test(names ?? "")))
    .map(([, , , path = ""]) => relative(root, join(root, dirname(file), path)))
    .filter((path) => !path.includes("+types"));
}

describe("tests that take long", () => {
  it("run daily or on exactly one day of three", () => {
    const inNode = globSync("tests/**/*.long.test.ts", { cwd: root });
    expect([...always, ...thirds.flatMap(({ node }) => node)].sort()).toEqual(inNode.sort());
    const inChromium = globSync("tests/e2e/*.spec.ts", { cwd: root }).map((file) => basename(file, ".spec.ts"));
    expect([...core, ...thirds.flatMap(({ chromium }) => chromium)].sort()).toEqual(inChromium.sort());
  });
});

describe("the house", () => {
  it("a room imports only from rooms that it may know", () => {
    const wrong = files.flatMap((file) => {
      const here = room(file);
      const allowed = here ? mayImport[here] : mayImportLoose[file];
      if (!allowed) return [`tests/architecture.test.ts says nothing of ${here ?? file}`];
      return (imports.get(file) ?? [])
        .filter((path) => room(path) !== undefined && room(path) !== here && !allowed.includes(room(path) ?? ""))
        .map((path) => `${file} → ${path}`);
    });
    expect(wrong).toEqual([]);
  });

  it("no folder is a drawer", () => {
    const counts = Map.groupBy(globSync("app/**/*.{ts,tsx,css}", { cwd: root }), dirname);
    // Migrations are a record: each is added once and never moved.
    const full = [...counts]
      .filter(([folder, inside]) => inside.length > 16 && folder !== "app/db/migrations")
      .map(([folder, inside]) => `${folder} has ${inside.length} files; 16 at most`);
    expect(full).toEqual([]);
  });

  it("no route folder imports another", () => {
    const folder = (file: string) => /^app\/routes\/([^/]+)\//.exec(file)?.[1];
    const across = files.flatMap((file) =>
      (imports.get(file) ?? [])
        .filter((path) => folder(file) && folder(path) && folder(path) !== folder(file))
        // The menu of the administration is made of its resources.
        .filter((path) => path !== "app/routes/admin/descriptions/resources.server.ts")
        .map((path) => `${file} → ${path}`),
    );
    expect(across).toEqual([]);
  });

  it("nothing has a cycle, of types neither", () => {
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, trail: string[]) => {
      if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(" → "));
      if (trail.includes(file) || done.has(file)) return;
      for (const next of importsWithTypes.get(file) ?? []) visit(next, [...trail, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it("no comment begins with What, Who, Where or That", () => {
    const riddles = files.filter((file) =>
      /(?:\/\*\*|\/\/)\s+(?:\*\s+)?(?:What|Who|Whom|Whose|Where|That)\b/.test(readFileSync(join(root, file), "utf8")),
    );
    expect(riddles).toEqual([]);
  });

  it("only the configuration reads the environment", () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), "utf8")));
    expect(readers).toEqual(["app/process/config.server.ts"]);
  });

  it("server code has the suffix that excludes it from browsers", () => {
    const bare = files.filter(
      (file) =>
        /^app\/(db|api|files|jobs|replies|embeddings|markdown|tools|backups|events|retention)\//.test(file) &&
        !/\.(?:server\.tsx?|d\.ts)$/.test(file),
    );
    expect(bare).toEqual([
      "app/api/imports/import.worker.ts",
      "app/api/mail/mail.worker.ts",
      "app/backups/open-copy.worker.ts",
      "app/db/sqlite/checkpoint.worker.ts",
      "app/db/sqlite/scrub.worker.ts",
      "app/db/tables.ts",
      "app/files/pictures/decode.worker.ts",
      "app/files/pictures/scan.worker.ts",
      "app/files/reading.worker.ts",
      "app/files/unpack.worker.ts",
      "app/markdown/documents/document.worker.ts",
      "app/markdown/drawings/draw.worker.ts",
      "app/markdown/render.worker.ts",
      "app/replies/chunk.ts",
      "app/replies/tools/call.ts",
      "app/tools/builtin/page.worker.ts",
      "app/tools/builtin/program.worker.ts",
      "app/tools/mcp/server.ts",
      "app/tools/settings.ts",
    ]);
  });
});
