import {
  Client,
  type ElicitRequest,
  type ElicitResult,
  type Tool as McpTool,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { cutText } from "../../process/text/cut-text.ts";
import { type Caller, type Outcome, type ToolQuestion, ToolRefused } from "../tool.server.ts";
import { appOf, appPageIn } from "./app-page.server.ts";
import { boundedFetch } from "./bounded-fetch.server.ts";
import { countMessages, reconnections } from "./bounds.server.ts";
import { tolerant } from "./repaired.server.ts";
import { outcomeOf } from "./result.server.ts";
import { isUnreached, tellLeftOut } from "./sentences.server.ts";
import type { AppPage, ListedTool, McpServer, Offer } from "./server.ts";
import { signedInAt } from "./sign-in.server.ts";

// In ms.
const connectTime = 15_000;
const probeTime = 5_000;
const listTime = 20_000;
// Most tools that an administrator can look through on one page, and most characters of a tool's schema and description for a model.
const toolsAtMost = 96;
const schemaLength = 20_000;
const descriptionLength = 2_000;

/** One connection to a server of tools. */
export class Connection {
  /** Calls under way on the connection, and whether the server is asked for its tools or a page. */
  underway = 0;
  listing = false;
  usedAt = Date.now();
  closed = false;
  /** Whether the server has said that it offers other tools since it was asked. */
  hasOtherTools = false;
  readonly #client: Client;
  readonly #streams = reconnections();
  /** Answers the server's questions to the person. Only one call at a time has it, as nothing tells which call a question belongs to. */
  #ask: ((question: ToolQuestion) => Promise<ElicitResult>) | undefined;
  /** Why the connection was ended from here. */
  #refused: ToolRefused | undefined;

  private constructor(client: Client) {
    this.#client = client;
    client.onclose = () => {
      this.closed = true;
    };
  }

  /** Connects, and agrees on a version of the protocol. Throws what the client's library throws. */
  static async open(server: McpServer): Promise<Connection> {
    try {
      return await Connection.#open(server, "auto");
    } catch (error) {
      // Older servers may never answer a request that they don't know, or answer it in any way.
      if (isUnreached(error)) throw error;
      return await Connection.#open(server, "legacy");
    }
  }

  static async #open(server: McpServer, mode: "auto" | "legacy"): Promise<Connection> {
    const client = new Client(
      { name: "tertulia", title: "Tertulia", version: "1" },
      {
        capabilities: { elicitation: { form: {} } },
        // The server's schemas are not used to check values: a pattern in a schema could hold the thread for minutes.
        jsonSchemaValidator: {
          getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
        },
        versionNegotiation: { mode, probe: { timeoutMs: probeTime } },
      },
    );
    const connection = new Connection(client);
    client.setRequestHandler("elicitation/create", (request) => connection.#asked(request));
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      connection.hasOtherTools = true;
    });
    // Errors of a call are told by the call.
    client.onerror = () => {};
    try {
      await client.connect(connection.#transportTo(server), { timeout: connectTime });
    } catch (error) {
      await client.close().catch(() => {});
      throw connection.#refused ?? error;
    }
    return connection;
  }

  /** The tools that the server offers, within bounds. */
  async list(): Promise<Offer> {
    const options = { timeout: listTime, maxTotalTimeout: listTime };
    this.listing = true;
    this.hasOtherTools = false;
    try {
      const { tools } = await this.#client.listTools(undefined, options);
      const taken = tools.flatMap(listed).slice(0, toolsAtMost);
      const names = new Set(taken.map(({ name }) => name));
      return { tools: taken, leftOut: tellLeftOut(tools.flatMap(({ name }) => (names.has(name) ? [] : [name]))) };
    } catch (error) {
      throw this.#refused ?? error;
    } finally {
      this.listing = false;
    }
  }

  /** Reads the page of an app. Throws ToolRefused where it is none, and what the client's library throws. */
  async readApp(uri: string): Promise<AppPage> {
    this.listing = true;
    try {
      const options = { timeout: listTime, maxTotalTimeout: listTime };
      const { contents } = await this.#client.readResource({ uri }, options);
      return appPageIn(contents);
    } catch (error) {
      throw this.#refused ?? error;
    } finally {
      this.listing = false;
    }
  }

  /** Calls a tool. Throws what the client's library throws. */
  async call(
    name: string,
    input: Record<string, unknown>,
    { signal, answers }: Caller,
    time: number,
  ): Promise<Outcome> {
    // The call may have been stopped while the connection was opened: a past abort fires no event.
    signal.throwIfAborted();
    const abort = new AbortController();
    const onAbort = () => abort.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    let asked: ToolQuestion | undefined;
    const left = [...answers];
    const ask = async (question: ToolQuestion): Promise<ElicitResult> => {
      // An answer is for the question that the person was asked, and for no other.
      const next = left[0];
      const answer = next && sameQuestion(next.question, question) ? left.shift()?.answer : undefined;
      if (answer) return { action: "accept", content: answer as NonNullable<ElicitResult["content"]> };
      asked ??= question;
      // The call ends here, as nothing may wait for a person. It is made again when they have answered.
      abort.abort();
      return { action: "cancel" };
    };
    this.#ask = this.underway === 0 ? ask : undefined;
    this.underway++;
    this.#streams.begin();
    try {
      const options = { signal: abort.signal, timeout: time, maxTotalTimeout: time };
      return outcomeOf(await this.#client.callTool({ name, arguments: input }, options));
    } catch (error) {
      if (asked) return { question: asked };
      throw this.#refused ?? error;
    } finally {
      this.underway--;
      this.usedAt = Date.now();
      if (this.#ask === ask) this.#ask = undefined;
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends the connection; calls under way on it fail with this sentence. */
  #refuse(sentence: string): void {
    this.#refused ??= new ToolRefused(sentence, { mayBeDone: true });
    void this.close();
  }

  #transportTo(server: McpServer) {
    const takes = countMessages();
    return tolerant(transportTo(server, this.#streams.schedule), () => {
      const taken = takes();
      if (!taken) this.#refuse(`«${server.name}» manda más mensajes de los que se pueden atender.`);
      return taken;
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.#client.close().catch(() => {});
  }

  async #asked({ params }: ElicitRequest): Promise<ElicitResult> {
    if (!this.#ask || !("requestedSchema" in params)) return { action: "decline" };
    if (!isShort(params.requestedSchema)) {
      this.#refuse("La herramienta ha preguntado más de lo que cabe en un formulario.");
      return { action: "decline" };
    }
    return await this.#ask({
      message: cutText(params.message, 2_000),
      schema: params.requestedSchema as ToolQuestion["schema"],
    });
  }
}

const sameQuestion = (a: ToolQuestion, b: ToolQuestion) => JSON.stringify(a) === JSON.stringify(b);

/** Whether a schema is no longer than those of tools; one of thousands of levels can't even be written. */
function isShort(schema: unknown): boolean {
  try {
    return JSON.stringify(schema).length <= schemaLength;
  } catch {
    return false;
  }
}

function transportTo(server: McpServer, reconnectionScheduler: ReturnType<typeof reconnections>["schedule"]) {
  if ("program" in server.target) {
    const { command, args, env } = server.target.program;
    return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...env }, stderr: "ignore" });
  }
  return new StreamableHTTPClientTransport(new URL(server.target.url), {
    fetch: boundedFetch,
    reconnectionScheduler,
    requestInit: { headers: headersOf(server.secret) },
    // With a secret, nobody signs in.
    ...(!server.secret && { authProvider: signedInAt(server, server.target.url) }),
  });
}

/** The headers that a secret stands for: lines of them, or a token. */
function headersOf(secret: string | null): Record<string, string> {
  if (!secret) return {};
  const lines = secret.split("\n").map((line) => /^([\w-]+):\s*(\S.*)$/.exec(line.trim()));
  const headers = lines.flatMap((line) => (line?.[1] && line[2] ? [[line[1], line[2]] as const] : []));
  return headers.length > 0 ? Object.fromEntries(headers) : { Authorization: `Bearer ${secret.trim()}` };
}

/** A schema that is short enough, if need be without its descriptions; undefined if it is not. */
function shortened(schema: McpTool["inputSchema"]): McpTool["inputSchema"] | undefined {
  if (isShort(schema)) return schema;
  try {
    const bare = JSON.stringify(schema, (key, value: unknown) =>
      key === "description" && typeof value === "string" ? undefined : value,
    );
    return bare.length <= schemaLength ? (JSON.parse(bare) as McpTool["inputSchema"]) : undefined;
  } catch {
    return undefined;
  }
}

function listed({ name, title, description = "", inputSchema, annotations = {}, _meta }: McpTool): ListedTool[] {
  const schema = shortened(inputSchema);
  if (!schema || name.length > 200) return [];
  return [
    {
      name,
      title: cutText(title ?? annotations.title ?? name, 120),
      description: cutText(description, descriptionLength),
      schema,
      readOnly: annotations.readOnlyHint === true,
      // True is the default of the protocol.
      reachesOut: annotations.openWorldHint !== false,
      ...appOf(_meta),
    },
  ];
}
