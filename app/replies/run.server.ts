import type { MessageRow } from "../db/tables.ts";
import type { ReplyUsage, Source, Usage } from "./chunk.ts";
import type { NumberedPart, ReasoningPart, ReplyPart, ReplyState } from "./parts.server.ts";
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

/** In ms: how long a reply counts as followed in another process after that has said so. */
const followedFor = 12_000;

/** One reply that is being written. No request owns it; any number of readers may follow it. */
export class Run {
  readonly messageId: string;
  /** Its parts of text, together. */
  text: string;
  readonly parts: ReplyPart[];
  sources: Source[] = [];
  /** What the model was given, and its length in characters. */
  prompt: StoredPrompt | undefined;
  promptLength = 0;
  /** Tokens used for summarising older messages. */
  spent: Usage = { inputTokens: 0, outputTokens: 0 };
  usage: ReplyUsage = { inputTokens: 0, outputTokens: 0 };
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
  readonly startedAt: number;
  /** Parts as they were stored last, by their place. */
  readonly #storedParts = new Map<number, string>();
  #followedUntil = 0;
  /** Whether it goes on with no earlier text. */
  readonly #isNew: boolean;
  #mistaken: { to: number; finishedAt: number } | undefined;
  readonly #abort = new AbortController();
  #waiting: PromiseWithResolvers<void> = Promise.withResolvers();
  #ended = Promise.withResolvers<void>();

  /** `parts`: what an earlier run of the same message has left. */
  constructor(message: Pick<MessageRow, "id" | "content">, parts: ReplyPart[]) {
    this.messageId = message.id;
    this.text = message.content;
    this.parts = parts;
    this.stored = message.content.length;
    this.#isNew = message.content === "";
    this.startedAt = Date.now();
    this.heartbeatAt = this.startedAt;
    this.ended = this.#ended.promise;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves at the next change of this run. */
  get changed(): Promise<void> {
    return this.#waiting.promise;
  }

  /** How much has been written, thoughts included. */
  get length(): number {
    return this.parts.reduce((sum, part) => sum + (part.kind === "text" ? 0 : part.text.length), this.text.length);
  }

  write(text: string): void {
    this.endThought();
    if (this.parts.at(-1)?.kind !== "text") this.parts.push({ kind: "text", at: this.text.length });
    this.text += text;
    this.announce();
  }

  think(text: string): void {
    const last = this.parts.at(-1);
    if (last?.kind === "reasoning" && last.finishedAt === null) last.text += text;
    else {
      this.parts.push({ kind: "reasoning", at: this.text.length, text, startedAt: Date.now(), finishedAt: null });
    }
    this.announce();
  }

  /** Ends the thought that is under way, if there is one. */
  endThought(): void {
    const last = this.parts.at(-1);
    if (last?.kind !== "reasoning" || last.finishedAt !== null) return;
    last.finishedAt = Date.now();
    this.announce();
  }

  /** What was taken for text turns out to have been a thought: the model left out the tag that begins one. */
  mistook(): void {
    if (this.parts.length === 1 && this.#isNew) this.#mistaken = { to: this.text.length, finishedAt: Date.now() };
  }

  /**
   * The reply as it is kept. A thought that was taken for text is one here, while its readers keep what they have been sent: an
   * offset in the text must not change its meaning under them.
   */
  get result(): ReplyState {
    if (!this.#mistaken) return this;
    const { to, finishedAt } = this.#mistaken;
    // It may have gone out with the beginning of the tag that ends it.
    const thought = this.text
      .slice(0, to)
      .replace(/\n\s{0,20}<\/?[a-z]{0,8}$/, "")
      .trim();
    const text = this.text.slice(to).trimStart();
    const { startedAt } = this;
    return {
      text,
      parts: [
        { kind: "reasoning", at: 0, text: thought, startedAt, finishedAt },
        { kind: "text", at: 0 },
      ],
    };
  }

  /**
   * Those of these parts that the database does not have as they are now: of the run itself while it lasts, of its result at the
   * end. Text is not among them: it lies in the message.
   */
  unstored(parts: ReplyPart[]): NumberedPart[] {
    return parts.flatMap((part, n) =>
      part.kind === "text" || this.#storedParts.get(n) === stateOf(part) ? [] : { n, part: { ...part } },
    );
  }

  markStored(parts: NumberedPart[]): void {
    for (const { n, part } of parts) this.#storedParts.set(n, stateOf(part));
  }

  /** It is followed in another process, which says so from time to time. */
  followElsewhere(): void {
    this.#followedUntil = Date.now() + followedFor;
  }

  get followedElsewhere(): boolean {
    return Date.now() < this.#followedUntil;
  }

  get isThinking(): boolean {
    const last = this.parts.at(-1);
    return last?.kind === "reasoning" && last.finishedAt === null;
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

/** Tells two states of one part apart: a thought only grows, then ends. */
const stateOf = ({ text, finishedAt }: ReasoningPart) => `${text.length} ${finishedAt}`;
