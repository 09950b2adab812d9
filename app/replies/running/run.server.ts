import type { MessageRow } from "../../db/tables.ts";
import { storedJson } from "../../process/text/json.ts";
import type { ReplyUsage, Source, Usage } from "../chunk.ts";
import type { ImagePart, KeptPart, NumberedPart, ReplyPart, ReplyState, ToolPart } from "../parts.server.ts";
import { notDecided } from "../parts.server.ts";
import type { StoredPrompt } from "../prompt/stored-prompt.server.ts";
import { versionOf } from "../reading-place.server.ts";

/** How a run may end. `waiting`: the person has to decide; the reply goes on in another run. */
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

/** Successor for a reply that this process leaves: another process, or the next start of this one. */
export type Heir = "another" | "next start";

/** Why a run is told to end: somebody else goes on with its reply. */
export class HandOver extends StopReply {
  readonly heir: Heir;
  constructor(heir: Heir) {
    super("interrupted");
    this.heir = heir;
  }
}

/** In ms: how long a reply counts as followed in another process after that has said so. */
const followedFor = 12_000;

/** One reply that is being written. No request owns it; any number of readers may follow it. */
export class Run {
  readonly messageId: string;
  /** The process that writes it. */
  readonly writer: string | null;
  /** The text of all its text parts. */
  text: string;
  readonly parts: ReplyPart[];
  sources: Source[] = [];
  /** The model's prompt, and its length in characters. */
  prompt: StoredPrompt | undefined;
  promptLength = 0;
  /** Tokens used for summaries and for other words to search by. */
  spent: Usage = { inputTokens: 0, outputTokens: 0 };
  /** Cost of the `spent` tokens of models that have failed. */
  spentBefore = 0;
  usage: ReplyUsage = { inputTokens: 0, outputTokens: 0 };
  /** Tokens that are stored with the reply once it has ended: of all its runs, estimated where none were reported. */
  counted: ReplyUsage | undefined;
  status: MessageRow["status"] = "streaming";
  /** Set once the reply is left. */
  leftTo: Heir | undefined;
  /** True once the end is stored; the database may be unavailable for a while. */
  settled = false;
  error: string | undefined;
  /** Place in the queue of its model, from 1 on; 0: it does not wait. */
  place = 0;
  title: string | undefined;
  /** True when nothing more will come, the title included. */
  done = false;
  /** Length of the parts of earlier runs, thoughts and calls included. */
  readonly lengthBefore: number;
  /** Characters of `text` that the database already has. */
  stored: number;
  heartbeatAt: number;
  /** Resolves when the reply has ended and is stored. */
  readonly ended: Promise<void>;
  readonly startedAt: number;
  /** When the first thought or word came; undefined before. */
  firstAt: number | undefined;
  /** The time zone of the person. */
  readonly zone: string;
  /** Parts as they were stored last, by their place. */
  readonly #storedParts = new Map<number, string>();
  #followedUntil = 0;
  /** Whether earlier runs have left no text. */
  readonly #isNew: boolean;
  #mistaken: { to: number; finishedAt: number } | undefined;
  readonly #abort = new AbortController();
  #waiting: PromiseWithResolvers<void> = Promise.withResolvers();
  #ended = Promise.withResolvers<void>();

  /** `parts`: what an earlier run of the same message has left. */
  constructor(message: Pick<MessageRow, "id" | "content" | "sources" | "writer">, parts: ReplyPart[], zone = "UTC") {
    this.messageId = message.id;
    this.writer = message.writer;
    this.zone = zone;
    this.text = message.content;
    this.parts = parts;
    // Sources that calls have found keep their numbers.
    if (parts.some(({ kind }) => kind === "tool")) this.sources = storedJson<Source[]>(message.sources ?? "[]");
    this.stored = message.content.length;
    this.lengthBefore = this.length;
    this.#isNew = message.content === "";
    this.startedAt = Date.now();
    this.heartbeatAt = this.startedAt;
    this.ended = this.#ended.promise;
  }

  /** Whether nothing more is written here. */
  get isOver(): boolean {
    return this.status !== "streaming" || this.leftTo !== undefined;
  }

  /** Whether somebody else is to go on with the reply. Only its hand-over stores it then: a later sign of life would hide that it was left. */
  get isLeaving(): boolean {
    return this.#abort.signal.reason instanceof HandOver;
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
    const last = this.parts.at(-1)?.kind;
    if (last !== "text") this.parts.push({ kind: "text", at: this.text.length });
    // Text after a call is a paragraph of its own.
    if ((last === "tool" || last === "image") && this.text !== "") this.text += "\n\n";
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

  /** Notes its place in the model's queue. */
  waitFor(place: number): void {
    this.place = place;
    this.announce();
  }

  /** Ends the thought that is under way, if there is one. */
  endThought(): void {
    const last = this.parts.at(-1);
    if (last?.kind !== "reasoning" || last.finishedAt !== null) return;
    last.finishedAt = Date.now();
    this.announce();
  }

  /** The calls of the reply, in order. */
  get calls(): ToolPart[] {
    return this.parts.filter((part) => part.kind === "tool");
  }

  /** Adds a call, or an image that a call has made. Code that changes a call later has to call `announce`. */
  add(part: ToolPart | ImagePart): void {
    this.endThought();
    this.parts.push(part);
    this.announce();
  }

  /** Marks calls still running at the end of the run as interrupted; in a stopped run, waiting and allowed calls as refused. */
  endCalls(status: EndStatus): void {
    const finishedAt = Date.now();
    for (const part of this.calls) {
      if (part.status === "running") Object.assign(part, { status: "interrupted", finishedAt });
      else if (status === "stopped" && (part.status === "waiting" || part.status === "allowed"))
        Object.assign(part, { status: "refused", text: notDecided, finishedAt });
    }
  }

  /** Text so far turns out to have been a thought: the model left out the tag that begins one. */
  mistook(): void {
    if (this.parts.length === 1 && this.#isNew) this.#mistaken = { to: this.text.length, finishedAt: Date.now() };
  }

  /**
   * The reply as it is kept. A thought that was taken for text is a thought here, while readers keep the text that they have been sent: an
   * offset in the text must not change its meaning for them.
   */
  get result(): ReplyState {
    if (!this.#mistaken) return this;
    const { to, finishedAt } = this.#mistaken;
    // The thought may end with the beginning of its closing tag.
    const thought = this.text
      .slice(0, to)
      .replace(/\n\s{0,20}<\/?[a-z]{0,8}$/, "")
      .trim();
    const text = this.text.slice(to).trimStart();
    const { startedAt } = this;
    const moved = this.text.length - text.length;
    return {
      text,
      parts: [
        { kind: "reasoning", at: 0, text: thought, startedAt, finishedAt },
        { kind: "text", at: 0 },
        ...this.parts.slice(1).map((part) => ({ ...part, at: Math.max(0, part.at - moved) })),
      ],
    };
  }

  /** Whether the parts of the result have other places than those that were stored while it was written. */
  get isRenumbered(): boolean {
    return this.#mistaken !== undefined;
  }

  /**
   * The parts that the database does not have in their present state: those of the run while it lasts, those of its result at the end.
   * Text parts are not among them: their text is in the message.
   */
  unstored(parts: ReplyPart[]): NumberedPart[] {
    return parts.flatMap((part, n) =>
      part.kind === "text" || this.#storedParts.get(n) === stateOf(part) ? [] : { n, part: { ...part } },
    );
  }

  markStored(parts: NumberedPart[]): void {
    for (const { n, part } of parts) this.#storedParts.set(n, stateOf(part));
  }

  /** Notes that another process follows this run; that process says so from time to time. */
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

  get isCalling(): boolean {
    return this.parts.some((part) => part.kind === "tool" && part.status === "running");
  }

  announce(): void {
    if (this.firstAt === undefined && this.length > this.lengthBefore) this.firstAt = Date.now();
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }

  stop(status: EndStatus): void {
    this.#abort.abort(new StopReply(status));
  }

  /** Lets somebody else go on with the reply. */
  leave(heir: Heir): void {
    this.#abort.abort(new HandOver(heir));
  }

  /** Ends the run in this process, once its state is stored. */
  endHere(heir: Heir): void {
    this.leftTo = heir;
    this.done = true;
    this.#ended.resolve();
    this.announce();
  }

  end(status: EndStatus): void {
    this.status = status;
    this.#ended.resolve();
    this.announce();
  }
}

/** Tells two states of one part apart: a thought only grows, then ends; an image stays as it is. */
const stateOf = (part: KeptPart) => (part.kind === "tool" ? versionOf(part) : `${part.text.length} ${part.finishedAt}`);
