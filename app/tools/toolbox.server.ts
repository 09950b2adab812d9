import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import type { Artifacts } from "../artifacts/artifacts.server.ts";
import type { Db, Engine } from "../db/engine.server.ts";
import { administers, forGroupsOf, isMinor } from "../db/people/groups.server.ts";
import { prepared } from "../db/prepared.server.ts";
import type { Meanings } from "../db/search/meaning.server.ts";
import type { ToolRow } from "../db/tables.ts";
import { encrypt, hashToken, tryDecrypt } from "../process/crypto.server.ts";
import type { Log } from "../process/log.server.ts";
import { storedJson } from "../process/text/json.ts";
import { isPersonal, type ReachedTool, reachedBy, settingsOf } from "./accounts.server.ts";
import { artifactTools } from "./builtin/artifacts.server.ts";
import { documents } from "./builtin/documents.server.ts";
import { image } from "./builtin/image.server.ts";
import { memory } from "./builtin/memory.server.ts";
import { type DocumentReader, page } from "./builtin/page.server.ts";
import { program } from "./builtin/program.server.ts";
import { skill } from "./builtin/skill.server.ts";
import { sums } from "./builtin/sums.server.ts";
import { time } from "./builtin/time.server.ts";
import { webSearch } from "./builtin/web-search.server.ts";
import type { AppPage, ListedTool, McpServer, Program, ToolAccess } from "./mcp/server.ts";
import { nameFor } from "./names.server.ts";
import { type Outcome, type OwnTool, type Tool, ToolRefused } from "./tool.server.ts";

export type ToolServices = {
  db: Db;
  engine: Engine;
  searchModel: Meanings;
  artifacts: Artifacts;
  log: Log;
  /** Encrypts the secrets of tools. */
  toolKey: Buffer;
  readBytes: DocumentReader;
  /** Programs on this machine that may be started, by name; only the environment names them. */
  programs: Record<string, Program>;
};

/** The largest providers take no more tools in one request. */
const offeredAtMost = 128;
// In ms: the age at which a server's list of tools is asked for again, in the background.
const listedFor = 60 * 60_000;

type OwnKind = Exclude<ToolRow["kind"], "mcp">;

/** The tools of this installation. One instance per process, as it keeps connections. */
export class Toolbox {
  readonly #services: ToolServices;
  readonly #own: Record<OwnKind, (row: ToolRow) => OwnTool[]>;
  readonly #refreshing = new Map<string, Promise<ListedTool[]>>();
  #connections: Promise<import("./mcp/connections.server.ts").Connections> | undefined;

  constructor(services: ToolServices) {
    this.#services = services;
    const ofDocuments = [documents(services)];
    const ofArtifacts = artifactTools(services);
    const ofMemory = [memory(services)];
    const ofPrograms = [program(services)];
    const ofPages = [page(services.readBytes)];
    const ofSkills = [skill(services)];
    const search = (kind: "searxng" | "brave" | "tavily") => (row: ToolRow) => [
      webSearch({ kind, address: row.address, secret: () => this.#secretOf(row) }),
    ];
    this.#own = {
      searxng: search("searxng"),
      brave: search("brave"),
      tavily: search("tavily"),
      image: (row) => [
        image({ address: row.address, secret: () => this.#secretOf(row), model: settingsOf(row).model ?? null }),
      ],
      page: () => ofPages,
      documents: () => ofDocuments,
      sums: () => [sums],
      time: () => [time],
      artifacts: () => ofArtifacts,
      memory: () => ofMemory,
      program: () => ofPrograms,
      skills: () => ofSkills,
    };
  }

  /**
   * Tools that may be offered to a person's model, without those that they have turned off for the chat. Servers that have never been
   * asked are asked, and waited for, `patience` ms at most; `missing` are the names of those that have not answered.
   */
  async offered(userId: string, off: string[], patience = 0): Promise<{ tools: Tool[]; missing: string[] }> {
    const { db } = this.#services;
    const find = async () => {
      const { rows } = await findOffered(db, { userId });
      return reachedBy(
        db,
        userId,
        rows.filter(({ id }) => !off.includes(id)),
      );
    };
    let rows = await find();
    const fresh = patience > 0 ? rows.filter(({ kind, listedAt }) => kind === "mcp" && listedAt === null) : [];
    const missing = (await Promise.all(fresh.map((row) => this.#silent(row, patience)))).flat();
    if (fresh.length > 0) rows = await find();
    const taken = new Set<string>();
    const tools: Tool[] = [];
    for (const row of rows) {
      for (const tool of this.#toolsOf(row, taken)) {
        // A server of tools says of each tool whether it reaches the world.
        if (row.forMinor && row.kind === "mcp" && tool.reachesOut) continue;
        if (tools.length === offeredAtMost) return { tools, missing };
        taken.add(tool.name);
        tools.push(tool);
      }
    }
    return { tools, missing };
  }

  /** Tools of one server that a person reaches, those for its pages among them. */
  async ofServer(userId: string, toolId: string): Promise<Tool[]> {
    const row = await this.#reached(userId, toolId);
    return row ? this.#toolsOf(row, new Set(), { forApps: true }) : [];
  }

  /** The page of a tool of a server that a person reaches (MCP Apps). Throws ToolRefused. */
  async readApp(userId: string, toolId: string, uri: string): Promise<AppPage> {
    const row = await this.#reached(userId, toolId);
    if (!row) throw new ToolRefused("Esa herramienta ya no la puedes usar.");
    return (await this.#connected()).readApp(this.#server(row), uri);
  }

  async #reached(userId: string, toolId: string) {
    const { db } = this.#services;
    const { rows } = await findOffered(db, { userId });
    const [row] = await reachedBy(
      db,
      userId,
      rows.filter(({ id, kind }) => id === toolId && kind === "mcp"),
    );
    return row;
  }

  /** The name of a server that has not told its tools within `patience` ms; empty if it has. */
  async #silent(row: ReachedTool, patience: number): Promise<string[]> {
    const answers = this.refresh(row).then(
      () => [],
      () => [row.name],
    );
    return Promise.race([answers, wait(patience, [row.name], { ref: false })]);
  }

  /** Asks all servers that have never been asked, so that the first message need not wait for them. Logs those that do not answer. */
  async askAllNew(): Promise<void> {
    const { db, log } = this.#services;
    const rows = await db
      .selectFrom("tools")
      .where("kind", "=", "mcp")
      .where("enabled", "=", 1)
      .where("listedAt", "is", null)
      .selectAll()
      .execute();
    for (const row of rows.filter((one) => !isPersonal(one))) {
      await this.refresh(row).catch((error) => {
        log.warn({ toolId: row.id, err: error }, "un servidor de herramientas no contesta");
      });
    }
  }

  /** Whether a person may have pages of the web read. */
  async readsPages(userId: string): Promise<boolean> {
    const { rows } = await findOffered(this.#services.db, { userId });
    return rows.some(({ kind }) => kind === "page");
  }

  /** Asks a server what tools it has, and keeps the answer, or why there is none. Throws ToolRefused. */
  refresh(row: ReachedTool): Promise<ListedTool[]> {
    const key = placeOf(row);
    const asking = this.#refreshing.get(key) ?? this.#ask(row).finally(() => this.#refreshing.delete(key));
    this.#refreshing.set(key, asking);
    return asking;
  }

  /** Begins signing in at a row's server: where the person has to go; undefined if there is no need. Throws ToolRefused. */
  async beginSignIn(row: ReachedTool, redirect: string): Promise<URL | undefined> {
    const { beginSignIn } = await import("./mcp/sign-in.server.ts");
    return this.#told(row, () => beginSignIn(this.#server(row), redirect));
  }

  /** Ends signing in, with the parameters that the person brought back. Throws ToolRefused. */
  async endSignIn(row: ReachedTool, brought: URLSearchParams): Promise<void> {
    const { endSignIn } = await import("./mcp/sign-in.server.ts");
    await this.#told(row, () => endSignIn(this.#server(row), brought));
  }

  async close(): Promise<void> {
    await (await this.#connections)?.close();
  }

  #toolsOf(row: ReachedTool, taken: ReadonlySet<string>, { forApps = false } = {}): Tool[] {
    const { tools: choices = {} } = settingsOf(row);
    const common = { toolId: row.id, time: row.seconds * 1_000, length: row.kilobytes * 1_000 };
    if (row.kind === "mcp") {
      this.#refreshIfOld(row);
      const here = new Set(taken);
      return listedIn(row)
        .filter((listed) => choices[listed.name]?.on !== false && (forApps || !listed.forApps))
        .map((listed) => {
          const name = nameFor(row.name, listed.name, here);
          here.add(name);
          const asks = choices[listed.name]?.ask ?? !listed.readOnly;
          return { ...common, ...this.#ofServer(row, listed), name, asks };
        });
    }
    return this.#own[row.kind](row).map((own) => {
      const asks = own.asksAlways || (choices[own.tool]?.ask ?? false);
      const { readOnly = true } = own;
      return { ...own, ...common, name: nameFor("", own.tool, taken), version: "", server: null, readOnly, asks };
    });
  }

  #ofServer(row: ReachedTool, listed: ListedTool): Omit<Tool, "toolId" | "name" | "asks" | "time" | "length"> {
    const { name: tool, title, description, schema, readOnly, reachesOut, app } = listed;
    return {
      tool,
      version: hashToken(JSON.stringify([row.address, settingsOf(row).program, listed])),
      label: title,
      description,
      schema,
      server: row.name,
      readOnly,
      reachesOut,
      app,
      call: async (input, caller): Promise<Outcome> => {
        const how = { time: row.seconds * 1_000, again: readOnly };
        const connections = await this.#connected();
        const server = this.#server(row);
        try {
          return await connections.call(server, tool, input, caller, how);
        } finally {
          // A call may bring others, as one that starts a program does.
          if (connections.takeNews(server)) this.#refreshOrLog(row);
        }
      },
    };
  }

  #connected() {
    // Loaded when first used: most installations have no server of tools.
    this.#connections ??= import("./mcp/connections.server.ts").then(
      ({ Connections }) => new Connections(() => this.#versions(), this.#services.log),
    );
    return this.#connections;
  }

  /** Versions of all servers, and of people's accounts at them; the version of a disabled server is empty. */
  async #versions(): Promise<Map<string, string>> {
    const { db } = this.#services;
    const tools = db.selectFrom("tools").select(["id", "enabled", "updatedAt"]);
    const accounts = db
      .selectFrom("toolAccounts")
      .innerJoin("tools", "tools.id", "toolAccounts.toolId")
      .select(["toolAccounts.id", "tools.enabled", "tools.updatedAt"]);
    const rows = await tools.unionAll(accounts).execute();
    return new Map(rows.map(({ id, enabled, updatedAt }) => [id, enabled ? String(updatedAt) : ""]));
  }

  #refreshIfOld(row: ReachedTool): void {
    if (Date.now() - (row.listedAt ?? 0) < listedFor || this.#refreshing.has(placeOf(row))) return;
    this.#refreshOrLog(row);
  }

  #refreshOrLog(row: ReachedTool): void {
    this.refresh(row).catch((error) => {
      this.#services.log.warn({ toolId: row.id, err: error }, "un servidor de herramientas no contesta");
    });
  }

  async #ask(row: ReachedTool): Promise<ListedTool[]> {
    if (row.kind !== "mcp") return [];
    const keep = (change: Pick<ToolRow, "listedAt" | "problem"> & Partial<Pick<ToolRow, "listed">>) =>
      this.#keepListed(row, change);
    try {
      const { tools, leftOut } = await (await this.#connected()).list(this.#server(row));
      // Of a person's own account, a problem says that it has to be connected again.
      const problem = row.account ? null : leftOut;
      await keep({ listed: JSON.stringify(tools), listedAt: Date.now(), problem });
      return tools;
    } catch (error) {
      // A failed server is not asked again for a while, either.
      await keep({
        listedAt: Date.now(),
        problem: error instanceof ToolRefused ? error.message : `«${row.name}» ha fallado.`,
      });
      throw error;
    }
  }

  /**
   * Keeps the tools that a server has said that it offers. If the server wants an account of each person, an administrator chooses from the
   * tools that it offers to the administrator's own account.
   */
  async #keepListed(
    { id, account }: ReachedTool,
    change: Pick<ToolRow, "listedAt" | "problem"> & Partial<Pick<ToolRow, "listed">>,
  ): Promise<void> {
    const { db } = this.#services;
    if (account) await db.updateTable("toolAccounts").set(change).where("id", "=", account.id).execute();
    await db
      .updateTable("tools")
      .set(change)
      .where("id", "=", id)
      .$if(account !== undefined, (update) => update.where(administers(account?.userId ?? "")))
      .execute();
  }

  async #told<Result>(row: ReachedTool, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const { refusedBy } = await import("./mcp/sentences.server.ts");
      throw refusedBy(this.#server(row), error);
    }
  }

  #secretOf({ id, secret }: ToolRow): string | null {
    if (secret === null) return null;
    const plain = tryDecrypt(secret, this.#services.toolKey, id);
    if (plain === undefined)
      throw new ToolRefused("La clave de la herramienta se guardó con otro secreto: hay que escribirla otra vez.");
    return plain;
  }

  #server(row: ReachedTool): McpServer {
    const { programs } = this.#services;
    const { program: name, personal = false } = settingsOf(row);
    if (personal && !row.account) throw new ToolRefused(`«${row.name}» se usa con la cuenta de cada persona.`);
    const program = name === undefined ? undefined : programs[name];
    if (!row.address && !program) {
      throw new ToolRefused(`«${row.name}» es un programa de esta máquina que ya no está en MCP_SERVERS.`);
    }
    return {
      id: placeOf(row),
      name: row.name,
      personal,
      version: String(row.updatedAt),
      target: row.address ? { url: row.address } : { program: program as Program },
      secret: this.#secretOf(row),
      access: row.account ? this.#accessOfAccount(row, row.account.id) : this.#accessOfHouse(row),
    };
  }

  // The accesses of house and account are read anew each time: another connection, or another process, may have got new tokens meanwhile.
  #accessOfHouse({ id }: ToolRow): McpServer["access"] {
    const { db, toolKey } = this.#services;
    return {
      read: async () => {
        const now = await db.selectFrom("tools").where("id", "=", id).select("access").executeTakeFirst();
        return openAccess(now?.access ?? null, toolKey, id);
      },
      write: async (given) => {
        const access = encrypt(JSON.stringify(given), toolKey, id);
        await db.updateTable("tools").set({ access }).where("id", "=", id).execute();
      },
    };
  }

  #accessOfAccount(row: ToolRow, id: string): McpServer["access"] {
    const { db, toolKey } = this.#services;
    return {
      read: async () => {
        const now = await db.selectFrom("toolAccounts").where("id", "=", id).select("access").executeTakeFirst();
        // A client that was registered by hand is the house's.
        const { own } = await this.#accessOfHouse(row).read();
        return { ...openAccess(now?.access ?? null, toolKey, id), ...(own && { own }) };
      },
      write: async ({ own: _own, ...given }) => {
        const access = encrypt(JSON.stringify(given), toolKey, id);
        await db.updateTable("toolAccounts").set({ access }).where("id", "=", id).execute();
      },
    };
  }
}

/** Access in a column, decrypted by its row's id; empty where there is none, or the secret that encrypted it is lost. */
export function openAccess(access: string | null, toolKey: Buffer, id: string): ToolAccess {
  const plain = access === null ? undefined : tryDecrypt(access, toolKey, id);
  return plain === undefined ? {} : storedJson<ToolAccess>(plain);
}

/** Id of the row that keeps what a person's connection to a tool needs: the person's account, or the tool. */
const placeOf = ({ id, account }: ReachedTool): string => account?.id ?? id;

export const listedIn = ({ listed }: Pick<ToolRow, "listed">) => storedJson<ListedTool[]>(listed);

/** Tools that bring the web, or make pictures: not for people under age. */
const outside = (["searxng", "brave", "tavily", "page", "image"] satisfies ToolRow["kind"][]).map((kind) =>
  sql.lit(kind),
);

const findOffered = prepared((db, { userId }: { userId: string }) =>
  db
    .selectFrom("tools")
    .where("enabled", "=", 1)
    .where((e) =>
      e.or([
        e.and([
          e("allowed", "=", sql.lit("everyone")),
          forGroupsOf("tools", userId),
          e.or([e("kind", "not in", outside), e.not(isMinor(userId))]),
        ]),
        administers(userId),
      ]),
    )
    .orderBy("position")
    .orderBy("id")
    .selectAll()
    .select(sql<number>`case when ${isMinor(userId)} then 1 else 0 end`.as("forMinor")),
);
