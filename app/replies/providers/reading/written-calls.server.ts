import { parseJson, recordOf } from "../../../process/text/json.ts";

/** A stretch of text, or a call that a model has written into it. `input`: JSON. */
export type WithCalls = { text: string } | { name: string; input: string };

// The marks of Qwen and Hermes, and of Llama; each with its end.
const marks = [
  { open: "<tool_call>", close: "</tool_call>" },
  { open: "<function=", close: "</function>" },
] as const;
type Mark = (typeof marks)[number];
/** A call that is being written; `tail`: its end, in which the closing mark may have begun. */
type Open = { mark: Mark; pieces: string[]; length: number; tail: string };
// In characters: a longer call is no call.
const longest = 200_000;

/**
 * Takes the calls out of a text that a model writes between marks, because its server has no reader for them. Only a call of a tool that was
 * offered, at the beginning of a line and outside of code, is one; anything else stays text.
 */
export class WrittenCalls {
  readonly #offered: readonly string[];
  #held = "";
  #open: Open | undefined;
  #place: Place = { fence: "", line: "" };

  constructor(offered: readonly string[]) {
    this.#offered = offered;
  }

  /** Splits the next piece of text; what may be the beginning of a call is kept for the next one. */
  split(piece: string): WithCalls[] {
    // Most pieces have no mark.
    if (!this.#open && this.#held === "" && !piece.includes("<")) return [this.#text(piece)];
    const parts: WithCalls[] = [];
    let text = this.#held + piece;
    this.#held = "";
    while (text) {
      if (this.#open) {
        text = this.#goOn(this.#open, text, parts);
        continue;
      }
      const at = this.#beginningIn(text);
      if (at > 0) parts.push(this.#text(text.slice(0, at)));
      text = text.slice(at);
      const mark = marks.find(({ open }) => text.startsWith(open));
      if (mark) this.#open = { mark, pieces: [], length: 0, tail: "" };
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
    if (mark && pieces) return [this.#called(mark, pieces.join(""), false)];
    return text ? [this.#text(text)] : [];
  }

  /** Adds text to the open call, and answers the text behind it. Only its end is searched for the closing mark. */
  #goOn(open: Open, text: string, parts: WithCalls[]): string {
    const { close } = open.mark;
    const end = (open.tail + text).indexOf(close);
    const own = end < 0 ? text : text.slice(0, end + close.length - open.tail.length);
    open.pieces.push(own);
    open.length += own.length;
    open.tail = (open.tail + own).slice(1 - close.length);
    if (end < 0 && open.length < longest) return "";
    this.#open = undefined;
    parts.push(this.#called(open.mark, open.pieces.join("")));
    return text.slice(own.length);
  }

  #text(text: string): { text: string } {
    this.#place = placeAfter(this.#place, text);
    return { text };
  }

  /** The place in a text at which a mark begins, or may begin with the next piece; its length if there is none. */
  #beginningIn(text: string): number {
    let [place, looked] = [this.#place, 0];
    for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at + 1)) {
      place = placeAfter(place, text.slice(looked, at));
      looked = at;
      const rest = text.slice(at, at + longestOpen);
      const mayBe = marks.some(({ open }) => rest.startsWith(open) || open.startsWith(rest));
      // Four blanks begin code, too.
      if (mayBe && place.fence === "" && /^ {0,3}$/.test(place.line)) return at;
    }
    return text.length;
  }

  /** A call, or the text again if it is none. */
  #called({ open, close }: Mark, whole: string, isClosed = true): WithCalls {
    const body = (open === "<tool_call>" ? whole.slice(open.length) : whole).replace(close, "").trim();
    const call = callIn(body, isClosed);
    return call && this.#offered.includes(call.name) ? call : this.#text(whole);
  }
}

/** A place in a text: the fence of the code that it is in, and the beginning of its line. */
type Place = { fence: string; line: string };
// In characters of the beginning of a line: enough to know a fence by, and that it is not blank.
const lineAtMost = 30;

function placeAfter({ fence, line }: Place, text: string): Place {
  const lines = `${line}${text}`.split("\n");
  let open = fence;
  for (const one of lines.slice(0, -1)) {
    // Also within lists and quotes.
    const [, found = ""] = /^[\s>]{0,20}(?:(?:[-*+]|\d{1,3}[.)])\s{1,4}){0,3}(`{3,20}|~{3,20})/.exec(one) ?? [];
    if (found && open === "") open = found;
    else if (found.startsWith(open)) open = "";
  }
  return { fence: open, line: (lines.at(-1) ?? "").slice(0, lineAtMost) };
}

const longestOpen = Math.max(...marks.map(({ open }) => open.length));

/** The call in a body: JSON with name and arguments, or Llama's and Qwen Coder's function with JSON or parameters. */
function callIn(body: string, isClosed: boolean): { name: string; input: string } | undefined {
  const [, name, rest = ""] = /^<function=([\w.-]{1,64})>([\s\S]*)$/.exec(body) ?? [];
  const given = rest.replace(/<\/function>\s*$/, "");
  // Of one that was cut only JSON shows that nothing is missing.
  if (name) return isClosed || rest !== given || objectIn(given) ? { name, input: inputIn(given) } : undefined;
  const said = objectIn(body);
  const called = said?.name ?? recordOf(said?.function)?.name;
  if (typeof called !== "string") return undefined;
  const input = said?.arguments ?? said?.parameters ?? {};
  return { name: called, input: typeof input === "string" ? input : JSON.stringify(input) };
}

function inputIn(body: string): string {
  if (objectIn(body)) return body.trim();
  const values: Record<string, unknown> = {};
  for (const part of body.split("<parameter=").slice(1)) {
    const [, name, value = ""] = /^([\w.-]{1,64})>\n?([\s\S]*)$/.exec(part) ?? [];
    const end = value.lastIndexOf("</parameter>");
    if (name && end >= 0) values[name] = valueIn(value.slice(0, end).replace(/\n$/, ""));
  }
  return JSON.stringify(values);
}

/** A value that Qwen Coder writes without quotes: numbers, lists and objects as JSON, everything else as text. */
function valueIn(text: string): unknown {
  // Longer numbers are those of accounts and telephones.
  if (!/^\s*(?:[[{]|-?\d{1,15}(?:\.\d{1,15})?\s*$|true|false|null)/.test(text)) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    return recordOf(parseJson(text));
  } catch {
    return undefined;
  }
}
