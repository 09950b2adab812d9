import {
  callsIn,
  type IsText,
  type Mark,
  marks,
  mayBeOneCall,
  mayCall,
  type WrittenCall,
} from "./call-dialects.server.ts";

/** A stretch of text, or calls that a model has written into it; `whole`: with their marks. */
export type WithCalls = { text: string } | { calls: WrittenCall[]; whole: string };

/** Calls that are being written; `tail`: their end, in which the closing mark may have begun. */
type Open = { mark: Mark; pieces: string[]; length: number; tail: string };
// In characters: a longer call is no call.
const longest = 200_000;
// In characters behind a mark, by which what follows has shown whether it is a call: longer than any beginning of one.
const decided = 200;
// An answer that is one call as JSON, as small models write it, without a mark.
const bare: Mark = { open: "", isBody: true };

/**
 * Takes the calls out of a text that a model writes between marks, because its server has no reader for them. Only a call of a tool that was
 * offered, outside of code and behind a mark that may stand there, is one; anything else stays text.
 */
export class WrittenCalls {
  readonly #offered: readonly string[];
  readonly #isText: IsText;
  #held = "";
  /** Whether any text that is more than blanks has come. */
  #hasText = false;
  #open: Open | undefined;
  #place: Place = { fence: "", line: "", last: "" };

  /** `offered`: names of the tools. */
  constructor(offered: readonly string[], isText: IsText = () => false) {
    this.#offered = offered;
    this.#isText = isText;
  }

  /** Splits the next piece of text; what may be the beginning of a call is kept for the next one. */
  split(piece: string): WithCalls[] {
    // Most pieces have no mark.
    if (this.#hasText && !this.#open && this.#held === "" && !/[<[]/.test(piece)) return [this.#text(piece)];
    const parts: WithCalls[] = [];
    let text = this.#held + piece;
    this.#held = "";
    if (!this.#hasText && !this.#open && text.trimStart().startsWith("{")) this.#begin(bare);
    while (text) {
      if (this.#open) {
        text = this.#goOn(this.#open, text, parts);
        continue;
      }
      const at = this.#beginningIn(text);
      if (at > 0) parts.push(this.#text(text.slice(0, at)));
      text = text.slice(at);
      const mark = marks.find(({ open }) => text.startsWith(open));
      if (mark) this.#begin(mark);
      else {
        this.#held = text;
        break;
      }
    }
    return parts;
  }

  /** The kept rest, at the end of the stream; a call without its closing mark is one, too. */
  rest(): WithCalls[] {
    const { mark, pieces } = this.#open ?? {};
    const text = this.#held;
    [this.#open, this.#held] = [undefined, ""];
    if (mark && pieces) return [this.#called(mark, pieces.join(""), mark.close === undefined)];
    return text ? [this.#text(text)] : [];
  }

  #begin(mark: Mark): void {
    this.#open = { mark, pieces: [], length: 0, tail: "" };
  }

  /** Adds text to the open calls, and answers the text behind them. Only its end is searched for the closing mark. */
  #goOn(open: Open, text: string, parts: WithCalls[]): string {
    const { close = "" } = open.mark;
    const found = close ? (open.tail + text).indexOf(close) : -1;
    const own = found < 0 ? text : text.slice(0, found + close.length - open.tail.length);
    open.pieces.push(own);
    open.length += own.length;
    open.tail = close && (open.tail + own).slice(1 - close.length);
    const isDecided = open.length - own.length > decided;
    if (found < 0 && !isDecided && !this.#mayGoOn(open)) return this.#goBack(open, parts);
    if (found < 0 && open.length < longest) return "";
    this.#open = undefined;
    parts.push(this.#called(open.mark, open.pieces.join(""), found >= 0));
    return text.slice(own.length);
  }

  /** Whether the text behind a mark may be of calls, so that one which only speaks of a mark is not held. */
  #mayGoOn({ mark, pieces }: Open): boolean {
    const text = pieces.join("");
    if (mark === bare) return mayBeOneCall(text, this.#offered);
    return mayCall(mark.isBody ? text : text.slice(mark.open.length), this.#offered);
  }

  /** Makes text of a mark that no call follows, and answers what stands behind it. */
  #goBack({ mark, pieces }: Open, parts: WithCalls[]): string {
    const text = pieces.join("");
    const own = mark === bare ? text.indexOf("{") + 1 : mark.open.length;
    this.#open = undefined;
    parts.push(this.#text(text.slice(0, own)));
    return text.slice(own);
  }

  #text(text: string): { text: string } {
    this.#place = placeAfter(this.#place, text);
    this.#hasText ||= /\S/.test(text);
    return { text };
  }

  /** The place in a text at which a mark begins, or may begin with the next piece; its length if there is none. */
  #beginningIn(text: string): number {
    let [place, looked] = [this.#place, 0];
    for (const { index: at } of text.matchAll(/[<[]/g)) {
      place = placeAfter(place, text.slice(looked, at));
      looked = at;
      if (place.fence !== "") continue;
      const rest = text.slice(at, at + longestOpen);
      const own = marks.filter(({ open }) => rest.startsWith(open) || open.startsWith(rest));
      // Four blanks begin code, too.
      const isFirst = /^ {0,3}$/.test(place.line);
      if (own.some(({ anywhere }) => isFirst || (anywhere && place.last !== "`"))) return at;
    }
    return text.length;
  }

  /** Calls, or the text again if it is none. */
  #called(mark: Mark, whole: string, isClosed: boolean): WithCalls {
    const body = (mark.isBody ? whole : whole.slice(mark.open.length)).replace(mark.close ?? "", "");
    const isNone = mark === bare && !/"(?:arguments|parameters)"/.test(body);
    const calls = isNone ? [] : callsIn(body, isClosed, this.#isText);
    const isOffered = calls.length > 0 && calls.every(({ name }) => this.#offered.includes(name));
    return isOffered ? { calls, whole } : this.#text(whole);
  }
}

/** A place in a text: the fence of the code that it is in, the beginning of its line, and the character before it. */
type Place = { fence: string; line: string; last: string };
// In characters of the beginning of a line: enough to know a fence by, and that it is not blank.
const lineAtMost = 30;

function placeAfter({ fence, line, last }: Place, text: string): Place {
  const lines = `${line}${text}`.split("\n");
  let open = fence;
  for (const one of lines.slice(0, -1)) {
    // Also within lists and quotes.
    const [, found = ""] = /^[\s>]{0,20}(?:(?:[-*+]|\d{1,3}[.)])\s{1,4}){0,3}(`{3,20}|~{3,20})/.exec(one) ?? [];
    if (found && open === "") open = found;
    else if (found.startsWith(open)) open = "";
  }
  return { fence: open, line: (lines.at(-1) ?? "").slice(0, lineAtMost), last: text.at(-1) ?? last };
}

const longestOpen = Math.max(...marks.map(({ open }) => open.length));
