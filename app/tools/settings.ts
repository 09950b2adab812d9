/** What an admin has said of one of a server's tools, where it differs from what the server says of itself. */
export type ToolChoice = { on?: boolean; ask?: boolean };

/** What a row of `tools` has beyond its columns, as JSON. */
export type ToolSettings = {
  /** The name of its program in MCP_SERVERS. */
  program?: string;
  /** The model that makes images. */
  model?: string;
  /** By the tool's own name. */
  tools?: Record<string, ToolChoice>;
};
