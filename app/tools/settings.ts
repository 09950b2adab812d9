/** What an admin has said of one of a server's tools, where it differs from what the server says of itself. */
export type ToolChoice = { on?: boolean; ask?: boolean };

/** What a row of `tools` has beyond its columns, as JSON. */
export type ToolSettings = {
  /** The name of its program in MCP_SERVERS. */
  program?: string;
  /** The model that makes images. */
  model?: string;
  /** Id of the client that was registered for this installation by hand where its server is signed in at. */
  clientId?: string;
  /** By the tool's own name. */
  tools?: Record<string, ToolChoice>;
};
