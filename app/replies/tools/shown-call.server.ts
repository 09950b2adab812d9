import { createHash } from "node:crypto";
import type { CallStatus } from "../../db/tables.ts";
import type { InputSchema, ToolQuestion } from "../../tools/tool.server.ts";
import type { ToolPart } from "../parts.server.ts";

/** A call as its readers get it. */
export type ShownCall = {
  name: string;
  tool: string;
  label: string;
  server: string | null;
  status: CallStatus;
  input: string;
  output: string;
  /** Whether a page of its server shows what it has brought. */
  hasApp: boolean;
  /** The artifact that it writes. */
  artifactId: string | null;
  /** Whether the person has changed the input. */
  edited: boolean;
  /** The decision that the call waits for. */
  asks: { hash: string; schema: InputSchema; question: ToolQuestion | null; onceOnly: boolean } | null;
};

/** A call as its readers get it. */
export function showCall({ call, status, text }: ToolPart): ShownCall {
  const { name, tool, label, server, input, edited = false, schema = {}, question = null, app } = call;
  const { artifactId = null, asksAlways = false } = call;
  const asks =
    status === "waiting" ? { hash: hashOf(call), schema, question, onceOnly: question !== null || asksAlways } : null;
  return {
    name,
    tool,
    label,
    server,
    status,
    input,
    output: text,
    hasApp: app !== undefined,
    artifactId,
    edited,
    asks,
  };
}

/** Hash that a yes is bound to: exactly this call of this tool with this input, and what the tool has asked. */
export const hashOf = ({ id, toolId, tool, input, question, answers = [] }: ToolPart["call"]): string =>
  createHash("sha256")
    .update(JSON.stringify([id, toolId, tool, input, question?.message ?? null, answers.length]))
    .digest("base64url");
