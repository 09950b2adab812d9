import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { Answered, InputSchema, ToolQuestion } from "../../tools/tool.server.ts";

/** Data that a provider's library wants back with a thought or a call, by provider; it means nothing to us. */
export type ProviderMeta = SharedV4ProviderMetadata;

/** A thought that its provider wants back, as it came; `meta`: the provider's signature. */
export type Thought = { text: string; meta: ProviderMeta };

/** A call as it is kept with its reply. */
export type Call = {
  /** The provider's id of the call, and the step of the reply in which it was made. */
  id: string;
  step: number;
  /** The name that the model used. */
  name: string;
  /** The tool's own name at its server, and the row of `tools` that it is from; null if the model called something unknown. */
  tool: string;
  toolId: string | null;
  /** Version of the tool when the model called it. */
  version?: string;
  label: string;
  /** The server that carries it out, where that is not Tertulia itself. */
  server: string | null;
  /** JSON, as the model wrote it or as the person has changed it. */
  input: string;
  /** The schema of the input, kept while the person is asked. */
  schema?: InputSchema;
  /** Whether a yes holds for this call alone, and only the person can give it: no program may. */
  asksAlways?: boolean;
  /** Whether it only reads: only then may it be repeated without asking. */
  readOnly: boolean;
  /** Whether the person has changed the input. */
  edited?: boolean;
  question?: ToolQuestion;
  /** The person's answers to the tool's questions, in order. */
  answers?: Answered[];
  /** Whether it brings in text that anybody may have written. */
  reachesOut?: boolean;
  /** Address of the page that shows the result (MCP Apps), and the result as JSON for that page. */
  app?: string;
  structured?: string;
  /** The artifact that it writes. */
  artifactId?: string;
  meta?: ProviderMeta;
  /** Only in the first call of a step: the thoughts before it. */
  thoughts?: Thought[];
};
