/** An administrator's choice about one of a server's tools, where it differs from the server's own. */
export type FunctionChoice = { on?: boolean; ask?: boolean };

/** Settings of a row of `tools` beyond its columns, as JSON. */
export type ToolSettings = {
  /** The name of its program in MCP_SERVERS. */
  program?: string;
  /** The model that makes images. */
  model?: string;
  /** Id of the OAuth client that was registered by hand for this installation at the tool's server. */
  clientId?: string;
  /** Whether each person uses an MCP server with an account of their own there. */
  personal?: true;
  /** Choices by the tool's own name. */
  tools?: Record<string, FunctionChoice>;
};
