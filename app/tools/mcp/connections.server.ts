import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import type { Log } from "../../process/log.server.ts";
import type { Caller, Outcome } from "../tool.server.ts";
import { saysLost } from "./bounded-fetch.server.ts";
import { Connection } from "./connection.server.ts";
import { refusedBy } from "./sentences.server.ts";
import type { AppPage, McpServer, Offer } from "./server.ts";

// In ms: a connection that nobody has used for so long is closed.
const idle = 5 * 60_000;
const sweepEvery = 5_000;

/**
 * The connections to servers of tools that this process keeps. A connection over HTTP carries one call at a
 * time, so that a question of the server belongs to that call; a program on this machine is started once and shared by all calls.
 */
export class Connections {
  readonly #open = new Map<string, Connection[]>();
  /** Programs that are being started. */
  readonly #starting = new Map<string, Promise<Connection>>();
  readonly #versions: () => Promise<Map<string, string>>;
  readonly #sweeping: NodeJS.Timeout;

  /** `versions` finds the versions of all servers, by id; `log` gets the error when that fails. */
  constructor(versions: () => Promise<Map<string, string>>, log: Log, every = sweepEvery) {
    this.#versions = versions;
    const sweep = () => this.#sweep().catch((error) => log.error({ err: error }, "no se pudo revisar una conexión"));
    this.#sweeping = setInterval(sweep, every).unref();
  }

  /** Tools that a server offers now. Throws ToolRefused. */
  async list(server: McpServer): Promise<Offer> {
    return this.#with(server, true, (connection) => connection.list());
  }

  /** The page of an app. Throws ToolRefused. */
  async readApp(server: McpServer, uri: string): Promise<AppPage> {
    return this.#with(server, true, (connection) => connection.readApp(uri));
  }

  /** Throws ToolRefused, or the reason of `caller.signal` if that was aborted. `again`: whether a call that may have begun is repeated. */
  async call(
    server: McpServer,
    tool: string,
    input: Record<string, unknown>,
    caller: Caller,
    { time, again }: { time: number; again: boolean },
  ): Promise<Outcome> {
    try {
      return await this.#with(server, again, (connection) => connection.call(tool, input, caller, time));
    } catch (error) {
      caller.signal.throwIfAborted();
      throw error;
    }
  }

  /** Whether a server has said on one of its connections that it offers other tools; true once for each time. */
  takeNews(server: McpServer): boolean {
    const told = (this.#open.get(keyOf(server)) ?? []).filter(({ hasOtherTools }) => hasOtherTools);
    for (const connection of told) connection.hasOtherTools = false;
    return told.length > 0;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    const all = [...this.#open.values()].flat();
    this.#open.clear();
    await Promise.all(all.map((connection) => connection.close()));
  }

  async #with<Result>(
    server: McpServer,
    again: boolean,
    work: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const key = keyOf(server);
    const kept = this.#free(key, "program" in server.target);
    try {
      const connection = kept ?? (await this.#connect(key, server));
      try {
        return await work(connection);
      } catch (error) {
        // A program has other people's calls under way: one that was stopped or took too long does not end it.
        if (leavesItUsable(error) || ("program" in server.target && !isGone(error))) throw error;
        this.#drop(key, connection);
        // The call is repeated if the server has forgotten the session, and so has done nothing, or if it has gone and the call only reads.
        if (!kept || isTooLate(error) || !(again || isForgotten(error))) throw error;
      }
      return await work(await this.#connect(key, server));
    } catch (error) {
      throw refusedBy(server, error);
    }
  }

  #free(key: string, shared: boolean): Connection | undefined {
    return this.#open.get(key)?.find(({ closed, underway }) => !closed && (shared || underway === 0));
  }

  async #connect(key: string, server: McpServer): Promise<Connection> {
    const isProgram = "program" in server.target;
    const underway = isProgram ? this.#starting.get(key) : undefined;
    const opening = underway ?? Connection.open(server);
    if (underway) return underway;
    if (isProgram) this.#starting.set(key, opening);
    try {
      const connection = await opening;
      this.#open.set(key, [...(this.#open.get(key) ?? []), connection]);
      return connection;
    } finally {
      this.#starting.delete(key);
    }
  }

  #drop(key: string, connection: Connection): void {
    this.#open.set(
      key,
      (this.#open.get(key) ?? []).filter((one) => one !== connection),
    );
    void connection.close();
  }

  /** A connection ends with its server, and so do its calls; with a changed server, or long unused, it ends once it has no calls. */
  async #sweep(): Promise<void> {
    if (this.#open.size === 0) return;
    const versions = await this.#versions();
    for (const [key, connections] of this.#open) {
      const [id = "", version] = key.split(" ");
      for (const connection of connections) {
        const isOld = versions.get(id) !== version || Date.now() - connection.usedAt > idle;
        const isOver =
          connection.closed || !versions.has(id) || (connection.underway === 0 && !connection.listing && isOld);
        if (isOver) this.#drop(key, connection);
      }
      if (this.#open.get(key)?.length === 0) this.#open.delete(key);
    }
  }
}

/** Whether the server has answered, if only with an error; after anything else its connection is not used again. */
function leavesItUsable(error: unknown): boolean {
  return error instanceof ProtocolError && !isForgotten(error);
}

/** Whether the connection itself has ended. */
const isGone = (error: unknown) =>
  error instanceof SdkError &&
  [SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected, SdkErrorCode.SendFailed].includes(error.code);

/** Whether the call was stopped, or its time is over. */
const isTooLate = (error: unknown) =>
  (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) ||
  (error instanceof Error &&
    (error.name === "AbortError" || error.name === "StopReply" || error.name === "ToolRefused"));

/** 404 to a session (MCP, Streamable HTTP, «Session management»), or an error in a stream of events that says so. */
function isForgotten(error: unknown): boolean {
  return (
    (error instanceof SdkHttpError && error.status === 404) ||
    (error instanceof ProtocolError && saysLost(error.message))
  );
}

const keyOf = ({ id, version }: McpServer) => `${id} ${version}`;
