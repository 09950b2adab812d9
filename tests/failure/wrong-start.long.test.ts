import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort, startServer } from "../support/server.ts";

// Permissions of files do not bind root.
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
const good = join(folder, "good");

beforeAll(async () => {
  chmodSync(folder, 0o755);
  give(good);
  const server = await startServer({ DATA_DIR: good }, isRoot ? asNobody : []);
  await server.end("SIGINT");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function give(path: string): string {
  mkdirSync(path, { recursive: true });
  if (isRoot) chownSync(path, nobody, nobody);
  return path;
}

/** A copy of good data. */
function copy(name: string): string {
  const path = join(folder, name);
  cpSync(good, path, { recursive: true });
  if (isRoot) execFileSync("chown", ["-R", `${nobody}:${nobody}`, path]);
  return path;
}
const own = (path: string, mode: number) => {
  chownSync(path, 0, 0);
  chmodSync(path, mode);
};

/** Output of a start that fails. */
function start(DATA_DIR: string, env: Record<string, string> = {}): { said: string; code: number | null } {
  const [program = "", ...args] = [...(isRoot ? asNobody : []), process.execPath, "build/server/start.js"];
  const { status, stdout, stderr } = spawnSync(program, args, {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      HOST: "127.0.0.1",
      OLLAMA_BASE_URL: "http://127.0.0.1:9",
      DATA_DIR,
      ...env,
    },
    timeout: 60_000,
    encoding: "utf8",
  });
  return { said: `${stdout}${stderr}`.trim(), code: status };
}

const cases: [string, () => ReturnType<typeof start>, RegExp, boolean?][] = [
  ["an address of another machine", () => start(copy("host"), { HOST: "203.0.113.5" }), /^HOST 203\.0\.113\.5 no es/],
  [
    "no way in",
    () => start(copy("entry"), { PASSWORD_SIGNIN: "off" }),
    /^PASSWORD_SIGNIN=off deja sin manera de entrar/,
  ],
  [
    "a database server that is not there",
    () => start(copy("gone"), { DATABASE_URL: "postgres://u:c@127.0.0.1:9/b" }),
    /DATABASE_URL: en esa dirección no escucha nadie\.$/,
  ],
  [
    "data of a newer version, whose copy is named",
    () => {
      const path = copy("newer");
      const database = new DatabaseSync(join(path, "tertulia.db"));
      database.exec("insert into kysely_migration values ('0999_future', '2030')");
      database.close();
      mkdirSync(join(path, "backups"), { recursive: true });
      writeFileSync(join(path, "backups", "antes-de-0999_future-2030.db"), "");
      if (isRoot) execFileSync("chown", ["-R", `${nobody}:${nobody}`, path]);
      return start(path);
    },
    /^Los datos son de una Tertulia más nueva \(0999_future\)\. .*antes-de-0999_future-2030\.db como tertulia\.db\.$/,
  ],
  [
    "a damaged database",
    () => {
      const path = copy("damaged");
      truncateSync(join(path, "tertulia.db"), 5_000);
      return start(path);
    },
    /^La base de datos \S+\/tertulia\.db está dañada: .*\/backups\.$/,
  ],
  [
    "a file that is no database",
    () => {
      const path = copy("text");
      writeFileSync(join(path, "tertulia.db"), "Hola, soy un texto. ".repeat(500));
      return start(path);
    },
    /^La base de datos \S+\/tertulia\.db no es una base de datos/,
  ],
  [
    "a folder of somebody else",
    () => {
      own(give(join(folder, "others")), 0o755);
      return start(join(folder, "others"));
    },
    /^DATA_DIR \(\S+\) no deja leer ni escribir al usuario que ejecuta Tertulia \(\w+\): dáselo con chown\.$/,
    isRoot,
  ],
  [
    "a secret of somebody else",
    () => {
      const path = copy("secret");
      own(join(path, "secret"), 0o600);
      return start(path);
    },
    /^\S+\/secret no deja leer ni escribir al usuario/,
    isRoot,
  ],
  [
    "a database of somebody else, which may be read",
    () => {
      const path = copy("reads");
      own(join(path, "tertulia.db"), 0o644);
      return start(path);
    },
    /^La base de datos \S+ no deja escribir al usuario/,
    isRoot,
  ],
  [
    "a database of somebody else",
    () => {
      const path = copy("closed");
      own(join(path, "tertulia.db"), 0o600);
      return start(path);
    },
    /^La base de datos \S+ no deja leer ni escribir al usuario/,
    isRoot,
  ],
  [
    "a folder of files of somebody else",
    () => {
      const path = copy("files");
      mkdirSync(join(path, "files"), { recursive: true });
      own(join(path, "files"), 0o755);
      return start(path);
    },
    /^\S+\/files no deja leer ni escribir al usuario/,
    isRoot,
  ],
  [
    "a full disk",
    () => {
      const path = give(join(folder, "full"));
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=64k,uid=${nobody}`, "tmpfs", path]);
      try {
        return start(path);
      } finally {
        execFileSync("umount", [path]);
      }
    },
    /está en un disco en el que no queda sitio\.$/,
    isRoot && spawnSync("mount", ["--version"]).status === 0,
  ],
];

for (const [name, act, sentence, isHere = true] of cases) {
  it.runIf(isHere)(`${name} is told in one sentence, and ends the start`, () => {
    const { said, code } = act();
    expect(said).toMatch(sentence);
    expect(said.split("\n")).toHaveLength(1);
    expect(code).toBe(1);
  });
}

it("a port that is taken is told in one sentence", async () => {
  const port = await freePort();
  const first = await startServer({ PORT: String(port) });
  const { said, code } = start(copy("port"), { PORT: String(port) });
  expect([said, code]).toEqual([`PORT ${port} ya está ocupado por otro programa.`, 1]);
  await first.stop();
});
