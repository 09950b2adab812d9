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
  /** Address of a web page, and the time when the page was read, in epoch ms. */
  url?: string;
  readAt?: number;
  /** Whether its address comes from a list of search results. */
  isListed?: boolean;
};

/** An image that a call has brought. `shows`: its content in words. `generated`: a model has made the image, and the file has to say so. */
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
      /** The outcome as JSON for a program, if the tool gives it. */
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
  /** The session of a temporary chat; everything that the call makes is deleted with it. */
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
  /** In a reply: whether the model has been given words that anybody may have written. */
  isTold?: () => Promise<boolean>;
};

/** A tool of Tertulia itself, without the settings of its row. It is read-only unless `readOnly` says otherwise. */
export type OwnTool = Pick<Tool, "tool" | "label" | "description" | "schema" | "reachesOut" | "goesTo" | "call"> &
  Partial<Pick<Tool, "readOnly" | "asksAlways">>;

/** A tool that may be offered to a model. */
export type Tool = {
  /** Id of the row that the tool comes from, and the tool's own name there. */
  toolId: string;
  tool: string;
  /** Hash of the server's place and of all that the server says of the tool; empty for our own tools. A yes is for one version. */
  version: string;
  /** Name for the model: unique among what is offered, and of the characters that all providers take. */
  name: string;
  /** Description for the model. */
  description: string;
  schema: InputSchema;
  /** Name for people. */
  label: string;
  /** The server that runs the tool, unless Tertulia itself does. */
  server: string | null;
  /** Whether it changes nothing. */
  readOnly: boolean;
  /**
   * Whether the tool brings in text that anybody may have written, such as web pages or documents; for a server's tool, whether it reaches
   * beyond the server.
   */
  reachesOut: boolean;
  /** The address of a call, if the model names it: a text that the model has read may have told it to carry something there. */
  goesTo?(input: Record<string, unknown>): string;
  /** Address of the page that shows what it brings (MCP Apps). */
  app?: string | undefined;
  /** Whether the person is asked before each call. */
  asks: boolean;
  /** Whether the person is asked each time, even after a yes for the whole chat or from an administrator. */
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
  /** Whether the call may have taken effect all the same. */
  readonly mayBeDone: boolean;
  constructor(message: string, { mayBeDone = false, ...options }: ErrorOptions & { mayBeDone?: boolean } = {}) {
    super(message, options);
    this.mayBeDone = mayBeDone;
  }
}
