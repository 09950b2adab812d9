import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import type { InputSchema } from "../tool.server.ts";

/** A program on this machine that speaks MCP over its input and output; only the environment can name one. */
export type Program = { command: string; args: string[]; env: Record<string, string> };

/** A server of tools, as it is connected to. */
export type McpServer = {
  id: string;
  name: string;
  /** Whether each person uses the server with their own account. */
  personal: boolean;
  /** Changes whenever anything about the server changes, so that older connections are not used again. */
  version: string;
  /** Its address, or the program that is started. */
  target: { url: string } | { program: Program };
  /** A token, or lines of headers («X-Api-Key: …»). */
  secret: string | null;
  /** Reads the outcome of signing in at the server, if that was needed, and stores a new one. */
  access: { read(): Promise<ToolAccess>; write(access: ToolAccess): Promise<void> };
};

type Kept<Name extends "clientInformation" | "tokens" | "discoveryState"> = Awaited<
  ReturnType<NonNullable<OAuthClientProvider[Name]>>
>;

/** Outcome of signing in at a server (OAuth), in the forms of the client's library. */
export type ToolAccess = {
  /** Client that was registered by hand; it goes before one that registered itself. */
  own?: { client_id: string; client_secret?: string };
  client?: Kept<"clientInformation">;
  tokens?: Kept<"tokens">;
  discovery?: Kept<"discoveryState">;
  /** Set while somebody is signing in at the server. */
  verifier?: string;
  state?: string;
  /** Address that the person comes back to. */
  redirect?: string;
};

/** A tool that a server offers, as it is kept. */
export type ListedTool = {
  name: string;
  title: string;
  description: string;
  schema: InputSchema;
  readOnly: boolean;
  /** Whether the tool reaches beyond its server, so that it may bring in text that anybody has written. */
  reachesOut: boolean;
  /** Address (`ui://…`) of the page that shows the tool's results (MCP Apps). */
  app?: string;
  /** The tool is for pages of MCP Apps, and not offered to models. */
  forApps?: true;
};

/** The tools that a server offers, and a sentence about those that are too large or too many; null if none is. */
export type Offer = { tools: ListedTool[]; leftOut: string | null };

/** A server's page (MCP Apps), and the places on the web that it declares: those that it loads from, and those that it asks. */
export type AppPage = { html: string; takesFrom: string[]; asks: string[] };
