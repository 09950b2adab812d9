import type { MessageRow } from "../db/tables.ts";
import type { Source, Usage } from "./chunk.ts";
import type { StoredPrompt } from "./prompt/stored-prompt.server.ts";

export type EndStatus = Exclude<MessageRow["status"], "streaming">;

/** Why a run is told to end; not a failure. */
export class StopReply extends Error {
  override name = "StopReply";
  readonly status: EndStatus;
  constructor(status: EndStatus) {
    super(status);
    this.status = status;
  }
}

/** One reply that is being written. No request owns it; any number of readers may follow it. */
export class Run {
  readonly messageId: string;
  text: string;
  sources: Source[] = [];
  /** What the model was given, and its length in characters. */
  prompt: StoredPrompt | undefined;
  promptLength = 0;
  /** Tokens used for summarising older messages. */
  spent: Usage = { inputTokens: 0, outputTokens: 0 };
  usage: Usage = { inputTokens: 0, outputTokens: 0 };
  status: MessageRow["status"] = "streaming";
  /** True once the end is stored; the database may be unavailable for a while. */
  settled = false;
  error: string | undefined;
  title: string | undefined;
  /** True when nothing more will come, the title included. */
  done = false;
  /** Characters of `text` that the database already has. */
  stored: number;
  heartbeatAt: number;
  /** Resolves when the reply has ended and is stored. */
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  #waiting: PromiseWithResolvers<void> = Promise.withResolvers();
  #ended = Promise.withResolvers<void>();

  constructor(message: Pick<MessageRow, "id" | "content">) {
    this.messageId = message.id;
    this.text = message.content;
    this.stored = message.content.length;
    this.heartbeatAt = Date.now();
    this.ended = this.#ended.promise;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves at the next change of this run. */
  get changed(): Promise<void> {
    return this.#waiting.promise;
  }

  announce(): void {
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }

  stop(status: EndStatus): void {
    this.#abort.abort(new StopReply(status));
  }

  end(status: EndStatus): void {
    this.status = status;
    this.#ended.resolve();
    this.announce();
  }
}
