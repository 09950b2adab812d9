/** The input of a tool as JSON schema; whatever else a schema may say is passed on and not read. */
export type InputSchema = { type?: unknown; properties?: Record<string, unknown>; required?: unknown };

/** A question that a tool asks the person in the middle of a call (MCP's elicitation). */
export type ToolQuestion = {
  message: string;
  /** An object with simple fields. */
  schema: InputSchema;
};

/** A passage that a tool has found, to be cited by number. */
export type Found = {
  kind: "page" | "file" | "message";
  title: string;
  quote: string;
  chatId: string | null;
  messageId: string | null;
  fileId?: string | null;
  position?: number | null;
  /** Of a page of the web: its address, and when it was read, in epoch ms. */
  url?: string;
  readAt?: number;
  /** Whether its address comes from a list of search results. */
  isListed?: boolean;
};

/** An image that a call has brought. `shows`: in words. `generated`: a model has made it, which the file has to say. */
export type Made = { bytes: Uint8Array; name: string; shows: string; generated?: boolean };

/**
 * Outcome of a call. `text` goes to the model; others wrote it, so it is never shown as HTML. The model gets the quote of each item of
 * `found`, or the text at the same index in `whole`. `unknown`: the call may have taken effect although it failed.
 */
export type Outcome =
  | {
      text: string;
      failed?: boolean;
      unknown?: boolean;
      found?: Found[];
      whole?: string[];
      made?: Made[];
      /** JSON of the same for a program, where the tool gives it. */
      structured?: string;
      /** The artifact that it has written. */
      artifactId?: string;
    }
  | { question: ToolQuestion };

/** A question of a tool, and what the person has answered. */
export type Answered = { question: ToolQuestion; answer: Record<string, unknown> };

/** The caller and its place. */
export type Caller = {
  userId: string;
  chatId: string;
  projectId: string | null;
  /** For a temporary chat: the session that what is made is deleted with. */
  sessionId: string | null;
  /** The model that calls. */
  modelId: string | null;
  /** The message that is being answered. */
  messageId: string;
  /** The time zone of the person. */
  zone: string;
  signal: AbortSignal;
  /** Characters of an answer that are used. */
  length: number;
  /** The person's answers to the tool's questions so far, in order. */
  answers: Answered[];
  /** In a reply: the artifact that this call has begun to write. */
  artifactId?: string | undefined;
  /** In a reply: whether words stand before the model that anybody may have written. */
  isTold?: () => Promise<boolean>;
};

/** A tool of Tertulia itself, wherever an administrator has put it. It changes nothing, unless it says so. */
export type OwnTool = Pick<Tool, "tool" | "label" | "description" | "schema" | "reachesOut" | "goesTo" | "call"> &
  Partial<Pick<Tool, "readOnly" | "asksAlways">>;

/** A tool that may be offered to a model. */
export type Tool = {
  /** The row that it is from, and its own name there. */
  toolId: string;
  tool: string;
  /** Hash of where it is and of all that its server says of it; empty for our own. A yes is for one version. */
  version: string;
  /** Name for the model: unique among what is offered, and of the characters that all providers take. */
  name: string;
  /** Description for the model. */
  description: string;
  schema: InputSchema;
  /** Name for people. */
  label: string;
  /** The server that carries it out, where that is not Tertulia itself. */
  server: string | null;
  /** Whether it changes nothing. */
  readOnly: boolean;
  /** Whether it brings in what anybody may have written, as pages of the web or documents; of a server, whether it reaches beyond itself. */
  reachesOut: boolean;
  /** The address that a call goes to, where the model names it: what it has read may have told it to carry something there. */
  goesTo?(input: Record<string, unknown>): string;
  /** Address of the page that shows what it brings (MCP Apps). */
  app?: string | undefined;
  /** Whether the person is asked before each call. */
  asks: boolean;
  /** Whether no yes for a whole chat, nor an administrator's, spares the person the question. */
  asksAlways?: boolean;
  /** ms a call may take, and characters of its answer that are used. */
  time: number;
  length: number;
  /** Throws `ToolRefused` with a sentence, which person and model are told. */
  call(input: Record<string, unknown>, caller: Caller): Promise<Outcome>;
};

/** A call that has failed for a reason that a person understands; the message is a Spanish sentence. */
export class ToolRefused extends Error {
  override name = "ToolRefused";
  /** Whether what was asked for may have been done all the same. */
  readonly mayBeDone: boolean;
  constructor(message: string, { mayBeDone = false, ...options }: ErrorOptions & { mayBeDone?: boolean } = {}) {
    super(message, options);
    this.mayBeDone = mayBeDone;
  }
}
