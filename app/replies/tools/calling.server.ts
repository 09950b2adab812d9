import type { Db } from "../../db/engine.server.ts";
import type { Files } from "../../files/files.server.ts";
import type { Log } from "../../process/log.server.ts";
import type { Caller, Tool } from "../../tools/tool.server.ts";
import type { Run } from "../running/run.server.ts";

/** The caller and its place, the same for all calls of a reply. */
export type Calling = Pick<
  Caller,
  "userId" | "chatId" | "projectId" | "sessionId" | "modelId" | "messageId" | "zone"
> & {
  /** The text of the person's message. */
  question: string;
  tools: Tool[];
  /** The tools that the person has allowed for this chat, as `grantName` has them. */
  granted: ReadonlySet<string>;
};

export type CallServices = {
  db: Db;
  log: Log;
  files: Files;
  /** Stores the reply as it is now. A call is stored before it is made, and its result before the model is told. */
  keep(run: Run): Promise<void>;
};
