import { storedJson } from "../process/text/json.ts";
/** Something that belongs to a person has changed. `what`: its kind, never its content; «sessions»: some sessions may have ended. */
export type Change = { userId: string; what: string };
/**
 * Notice between processes. `followed`: replies are followed in a process that does not write them; `grown`: the writing process has
 * stored more of them; `left`: it has left them for another process to go on with.
 */
export type ReplyNotice = { replyIds: string[]; are: "followed" | "grown" | "left" };
type Listener = (change: Change) => void;

// PostgreSQL's notices have at most 8,000 bytes; an id takes 39 of them.
const repliesAtOnce = 150;

/** Sends notices to all processes, including this one. */
type Relay = { send(text: string): void; listen(hear: (text: string) => void): Promise<void> };

/** Publish and subscribe for changes: writers publish here, open pages subscribe. One instance per process. */
export class Changes {
  readonly #listeners = new Set<Listener>();
  /** Functions that wake the readers of a reply that another process writes; by the reply's id, as there may be a thousand replies. */
  readonly #readers = new Map<string, Set<() => void>>();
  readonly #writers = { followed: new Set<(replyId: string) => void>(), left: new Set<(replyId: string) => void>() };
  readonly #relay: Relay | undefined;

  /** `relay`: present when other processes write as well. */
  constructor(relay?: Relay) {
    this.#relay = relay;
    void relay?.listen((text) => this.#pass(storedJson<Change | ReplyNotice>(text)));
  }

  tell(change: Change): void {
    this.#send(change);
  }

  tellOfReplies({ replyIds, are }: ReplyNotice): void {
    for (let at = 0; at < replyIds.length; at += repliesAtOnce) {
      this.#send({ replyIds: replyIds.slice(at, at + repliesAtOnce), are });
    }
  }

  #send(notice: Change | ReplyNotice): void {
    if (this.#relay) this.#relay.send(JSON.stringify(notice));
    else this.#pass(notice);
  }

  #pass(notice: Change | ReplyNotice): void {
    if (!("replyIds" in notice)) for (const listener of this.#listeners) listener(notice);
    else if (notice.are !== "grown") for (const tell of this.#writers[notice.are]) notice.replyIds.forEach(tell);
    else for (const replyId of notice.replyIds) for (const wake of this.#readers.get(replyId) ?? []) wake();
  }

  /** Subscribes to changes; returns the function that unsubscribes. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `tell` whenever a reply is followed in a process that does not write it, or was left by the one that did. */
  whenNoticed(what: "followed" | "left", tell: (replyId: string) => void): void {
    this.#writers[what].add(tell);
  }

  /** Calls `wake` whenever another process has stored more of a reply; returns the function that unsubscribes. */
  whenGrown(replyId: string, wake: () => void): () => void {
    const readers = this.#readers.get(replyId) ?? new Set();
    this.#readers.set(replyId, readers.add(wake));
    return () => {
      readers.delete(wake);
      if (readers.size === 0) this.#readers.delete(replyId);
    };
  }
}
