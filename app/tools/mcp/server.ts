import type { InputSchema } from "../tool.server.ts";

/** A program on this machine that speaks MCP over its input and output; only the environment can name one. */
export type Program = { command: string; args: string[]; env: Record<string, string> };

/** A server of tools, as it is connected to. */
export type McpServer = {
  id: string;
  name: string;
  /** Whether a person reaches it with an account of theirs. */
  personal: boolean;
  /** Changes whenever anything of it does, so that connections of before are not used again. */
  version: string;
  /** Its address, or the program that is started. */
  target: { url: string } | { program: Program };
  /** A token, or lines of headers («X-Api-Key: …»). */
  secret: string | null;
  /** Outcome of signing in there, if that was needed, and the store for a new one. */
  access: { read(): Promise<ToolAccess>; write(access: ToolAccess): Promise<void> };
};

/** Outcome of signing in at a server (OAuth); the client's library knows its content. */
export type ToolAccess = {
  /** Client that was registered by hand; it goes before one that registered itself. */
  own?: { client_id: string; client_secret?: string };
  client?: object;
  tokens?: object;
  discovery?: object;
  /** While somebody is signing in there. */
  verifier?: string;
  state?: string;
  /** Address that they come back to. */
  redirect?: string;
};

/** A tool that a server offers, as it is kept. */
export type ListedTool = {
  name: string;
  title: string;
  description: string;
  schema: InputSchema;
  readOnly: boolean;
  /** Whether it reaches beyond its server, so that it may bring in what anybody has written. */
  reachesOut: boolean;
  /** Address (`ui://…`) of the page that shows what it brings (MCP Apps). */
  app?: string;
  /** It is for such pages, and not offered to models. */
  forApps?: true;
};

/** A page of a server (MCP Apps), and the places on the web that it says it takes things from, or asks. */
export type AppPage = { html: string; takesFrom: string[]; asks: string[] };
