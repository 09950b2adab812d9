import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, chownSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { vi } from "vitest";
import { freePort } from "./server.ts";

// The highest version, where there are several.
const byVersion = new Intl.Collator("en", { numeric: true }).compare;
const programs = globSync("/usr/lib/postgresql/*/bin/initdb").toSorted(byVersion).map(dirname).at(-1);
// PostgreSQL refuses to run as root.
const asRoot = process.getuid?.() === 0;

/** Whether two PostgreSQL servers can be made on this machine. */
export const mayPairPostgres = programs !== undefined && (!asRoot || idOf("-u") !== undefined);

function idOf(kind: "-u" | "-g"): number | undefined {
  try {
    return Number(execFileSync("id", [kind, "postgres"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    // There is no such user.
    return undefined;
  }
}

const owner = asRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {};

/** A PostgreSQL and its synchronous standby behind one address. The primary can be killed and the standby promoted. */
export class PostgresPair {
  readonly #folder = mkdtempSync(join(tmpdir(), "tertulia-pair-"));
  readonly #ports: [number, number];
  readonly #servers: ChildProcess[] = [];
  readonly #address: Server;
  /** Connections to the address, each with its connection to the one that led then. */
  readonly #clients = new Map<Socket, Socket>();
  #leads: number;

  private constructor(ports: [number, number]) {
    this.#ports = ports;
    this.#leads = ports[0];
    this.#address = createServer((client) => this.#lead(client));
  }

  static async start(): Promise<PostgresPair> {
    const pair = new PostgresPair([await freePort(), await freePort()]);
    await pair.#start();
    return pair;
  }

  /** The one address of both. */
  get url(): string {
    const { port } = this.#address.address() as { port: number };
    return `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  async #start(): Promise<void> {
    if (asRoot) chownSync(this.#folder, owner.uid ?? 0, owner.gid ?? 0);
    chmodSync(this.#folder, 0o700);
    const first = join(this.#folder, "first");
    this.#run("initdb", ["-D", first, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"]);
    appendFileSync(join(first, "postgresql.conf"), "\nunix_socket_directories = ''\nfsync = off\n");
    await this.#serve(first, this.#ports[0]);
    const second = join(this.#folder, "second");
    const from = ["-h", "127.0.0.1", "-p", String(this.#ports[0]), "-U", "postgres"];
    this.#run("pg_basebackup", ["-D", second, ...from, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync"]);
    await this.#serve(second, this.#ports[1]);
    // From here on nothing is acknowledged before the second has it, too.
    await this.#ask(0, "alter system set synchronous_standby_names = '*'");
    await this.#ask(0, "select pg_reload_conf()");
    await vi.waitFor(async () => {
      const rows = await this.#ask(0, "select 1 from pg_stat_replication where sync_state = 'sync'");
      if (rows.length !== 1) throw new Error("the second does not follow yet");
    }, 20_000);
    this.#address.listen(0, "127.0.0.1");
    await once(this.#address, "listening");
  }

  /**
   * Kills the first, which leads until then. `silent`: its connections stay open and nothing ever answers on them, as when the machine
   * itself is gone; otherwise they break.
   */
  async lose({ silent = false } = {}): Promise<void> {
    const server = this.#servers[0];
    for (const [client, upstream] of this.#clients) {
      if (silent) {
        client.unpipe();
        upstream
          .unpipe()
          .removeAllListeners()
          .on("error", () => {});
      } else client.destroy();
    }
    this.#leads = 0;
    server?.kill("SIGKILL");
    if (server?.exitCode === null && server.signalCode === null) await once(server, "exit");
  }

  /** Makes the second the one that is written to, and leads new connections there. */
  async failOver(): Promise<void> {
    await this.#ask(1, "select pg_promote()");
    this.#leads = this.#ports[1];
  }

  async delete(): Promise<void> {
    for (const client of this.#clients.keys()) client.destroy();
    this.#address.close();
    for (const server of this.#servers) {
      if (server.exitCode !== null || server.signalCode !== null) continue;
      server.kill("SIGQUIT");
      await once(server, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #lead(client: Socket): void {
    client.on("error", () => client.destroy());
    // While nothing leads, the address is there and nobody answers at it.
    if (this.#leads === 0) return void client.destroy();
    const server = new Socket().connect(this.#leads, "127.0.0.1");
    this.#clients.set(client, server);
    server.on("error", () => client.destroy());
    client.on("close", () => {
      this.#clients.delete(client);
      server.destroy();
    });
    client.pipe(server).pipe(client);
  }

  async #serve(folder: string, port: number): Promise<void> {
    const args = ["-D", folder, "-h", "127.0.0.1", "-p", String(port)];
    const server = spawn(join(programs ?? "", "postgres"), args, { ...owner, stdio: "ignore" });
    process.once("exit", () => server.kill("SIGKILL"));
    this.#servers.push(server);
    await vi.waitFor(() => this.#ask(this.#servers.length - 1, "select 1"), { timeout: 30_000, interval: 100 });
  }

  async #ask(which: 0 | 1 | number, sql: string): Promise<unknown[]> {
    const client = new pg.Client({
      host: "127.0.0.1",
      port: this.#ports[which],
      user: "postgres",
      database: "postgres",
    });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  #run(program: string, args: string[]): void {
    execFileSync(join(programs ?? "", program), args, {
      ...owner,
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
  }
}
