import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import type { Client } from "pg";
import { scrubbedCopy } from "../db/sqlite/backup.server.ts";
import { runWorker } from "../process/child-process.server.ts";
import { ConfigError } from "../process/config.server.ts";
import { faultOf } from "../process/fault.ts";
import { type Contents, lookInto } from "./contents.server.ts";

/** The database of an installation: the file of the embedded one, or the address of PostgreSQL. */
export type DatabasePlace = { engine: "sqlite"; path: string } | { engine: "postgres"; url: string };

// The usual folders of programs: a child process gets nothing from the environment of this process.
const programs = "/usr/local/bin:/usr/bin:/bin";
// In ms: enough to read a database of some gigabytes.
const readWithin = 60 * 60_000;
const opener = new URL(`./open-copy.worker${extname(import.meta.filename)}`, import.meta.url);

/** Copies a database in use to a file, without temporary chats where it is the embedded one. Throws ConfigError without pg_dump. */
export async function dump(from: DatabasePlace, to: string): Promise<Contents> {
  if (from.engine === "postgres") return dumpPostgres(from.url, to);
  await scrubbedCopy(from.path, to);
  return openCopy(to);
}

/** Contents of a copy of the embedded database, which is checked whole. Rejects if it is damaged. */
export const openCopy = (path: string): Promise<Contents> => runWorker<Contents>(opener, { path }, readWithin);

/** Copies and counts as of one moment. */
function dumpPostgres(url: string, to: string): Promise<Contents> {
  return withClient(url, async (client) => {
    await client.query("begin isolation level repeatable read read only");
    const [exported] = (await client.query<{ id: string }>("select pg_export_snapshot() as id")).rows;
    const contents = await lookInto(async (query) => (await client.query(query)).rows);
    const [{ schema } = { schema: "public" }] = (
      await client.query<{ schema: string }>("select current_schema() as schema")
    ).rows;
    // Other programs may have schemas of their own in the database.
    const only = schema === "public" ? [] : [`--schema="${schema.replaceAll('"', '""')}"`];
    const how = [
      ...only,
      "--format=custom",
      "--no-owner",
      "--no-privileges",
      `--snapshot=${exported?.id}`,
      `--file=${to}`,
    ];
    // The snapshot lasts as long as its transaction, which waits for pg_dump.
    await client.query("set idle_in_transaction_session_timeout = 0");
    await postgresTool("pg_dump", url, how);
    return contents;
  });
}

/** Contents of a restored PostgreSQL, after its temporary data is deleted: the sessions of that data are of another time. */
export const openRestored = (url: string): Promise<Contents> =>
  withClient(url, async (client) => {
    await client.query('delete from artifacts where "sessionId" is not null');
    await client.query('delete from files where "sessionId" is not null');
    await client.query('delete from chats where "sessionId" is not null');
    await client.query('delete from sessions where "roomId" is not null');
    return lookInto(async (query) => (await client.query(query)).rows);
  });

async function withClient<Result>(url: string, use: (client: Client) => Promise<Result>): Promise<Result> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Rejects if a copy made by pg_dump can't be read to its end. */
export const checkDump = (path: string): Promise<void> => tool("pg_restore", [path, "--file=/dev/null"], {});

/** Puts a copy made by pg_dump into an empty database. */
export const restoreDump = (path: string, url: string): Promise<void> =>
  postgresTool("pg_restore", url, ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", path]);

/** Runs one of PostgreSQL's programs; its environment holds the connection, so that other users don't see the password. */
async function postgresTool(program: string, url: string, args: string[]): Promise<void> {
  const connection = await connectionIn(url);
  return tool(program, program === "pg_restore" ? [`--dbname=${connection.PGDATABASE}`, ...args] : args, connection);
}

/** The connection that the driver reads in an address, in the variables of PostgreSQL's own programs. */
async function connectionIn(url: string): Promise<Record<string, string>> {
  const { default: pg } = await import("pg");
  const { host, port, user, password, database } = new pg.Client({ connectionString: url });
  const said = new URL(url).searchParams;
  // `no-verify` is a word of the driver alone.
  const mode =
    said.get("sslmode")?.replace("no-verify", "require") ?? (said.get("ssl") === "true" ? "verify-full" : "");
  const given = {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: typeof password === "string" ? password : "",
    PGDATABASE: database,
    PGSSLMODE: mode,
    PGSSLROOTCERT: said.get("sslrootcert"),
    PGSSLCERT: said.get("sslcert"),
    PGSSLKEY: said.get("sslkey"),
    PGOPTIONS: said.get("options"),
  };
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : [])));
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
      throw faultOf(error).code === "ENOENT"
        ? new ConfigError(`Falta ${program}: instala postgresql-client, de la versión del servidor.`)
        : error;
    }),
  ]);
  if (code !== 0) throw new ConfigError(`${program} no ha podido: ${said.trim().split("\n").at(-1) ?? code}`);
}
