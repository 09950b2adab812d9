import { spawn } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { scrubbedCopy } from "../db/sqlite/backup.server.ts";
import { ConfigError } from "../process/config.server.ts";

/** The database of an installation: the file of the embedded one, or the address of PostgreSQL. */
export type DatabasePlace = { engine: "sqlite"; path: string } | { engine: "postgres"; url: string };

const counted = ["users", "chats", "messages", "files"] as const;
/** Rows of the tables that a restored copy is compared by. */
export type Counts = Record<(typeof counted)[number], number>;
/** Contents of a copied database. `fileIds`: files that it names. */
export type Contents = { migration: string; counts: Counts; fileIds: string[] };

// The usual folders of programs: what is in the environment of this process does not concern them.
const programs = "/usr/local/bin:/usr/bin:/bin";
/** Copies a database in use to a file, without temporary chats where it is the embedded one. Throws ConfigError without pg_dump. */
export async function dump(from: DatabasePlace, to: string): Promise<void> {
  if (from.engine === "sqlite") await scrubbedCopy(from.path, to);
  else await postgresTool("pg_dump", from.url, ["--format=custom", "--no-owner", "--no-privileges", `--file=${to}`]);
}

/** Contents of a copy of the embedded database, which is checked whole. Throws if it is damaged. */
export function openCopy(path: string): Contents {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const faults = copy.prepare("pragma quick_check").all() as { quick_check: string }[];
    if (faults[0]?.quick_check !== "ok") throw new Error(`damaged copy: ${faults[0]?.quick_check}`);
    const one = (query: string) => Object.values(copy.prepare(query).get() ?? {})[0];
    const counts = Object.fromEntries(counted.map((table) => [table, Number(one(`select count(*) from ${table}`))]));
    const ids = copy.prepare("select id from files").all();
    return {
      migration: String(one("select max(name) from kysely_migration")),
      counts: counts as Counts,
      fileIds: ids.map(({ id }) => String(id)),
    };
  } finally {
    copy.close();
  }
}

/** Contents of a PostgreSQL, as it is now. */
export async function lookInto(url: string): Promise<Contents> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // As one moment saw it.
    await client.query("begin isolation level repeatable read read only");
    const counts = {} as Counts;
    for (const table of counted) {
      counts[table] = Number((await client.query(`select count(*) as n from ${table}`)).rows[0]?.n);
    }
    const files = await client.query<{ id: string }>("select id from files");
    const last = await client.query<{ name: string }>("select max(name) as name from kysely_migration");
    return { migration: String(last.rows[0]?.name), counts, fileIds: files.rows.map(({ id }) => id) };
  } finally {
    await client.end();
  }
}

/** Rejects if a copy made by pg_dump can't be read to its end. */
export const checkDump = (path: string): Promise<void> => tool("pg_restore", [path, "--file=/dev/null"], {});

/** Puts a copy made by pg_dump into an empty database. */
export const restoreDump = (path: string, url: string): Promise<void> =>
  postgresTool("pg_restore", url, ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", path]);

/** Runs one of PostgreSQL's programs; what it connects to is in its environment, where others don't see the password. */
function postgresTool(program: string, url: string, args: string[]): Promise<void> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1));
  const connection = {
    PGHOST: searchParams.get("host") ?? hostname,
    PGPORT: port || "5432",
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: database,
    ...(searchParams.get("sslmode") && { PGSSLMODE: searchParams.get("sslmode") ?? "" }),
  };
  return tool(program, program === "pg_restore" ? [`--dbname=${database}`, ...args] : args, connection);
}

async function tool(program: string, args: string[], env: Record<string, string>): Promise<void> {
  const child = spawn(program, args, {
    env: { PATH: programs, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (data: Buffer) => {
    said = (said + data).slice(-2_000);
  });
  const [code] = await Promise.race([
    once(child, "close"),
    once(child, "error").then(([error]) => {
      const { code: cause } = error as NodeJS.ErrnoException;
      throw cause === "ENOENT"
        ? new ConfigError(`Falta ${program}: instala postgresql-client, de la versión del servidor.`)
        : error;
    }),
  ]);
  if (code !== 0) throw new ConfigError(`${program} no ha podido: ${said.trim().split("\n").at(-1) ?? code}`);
}
