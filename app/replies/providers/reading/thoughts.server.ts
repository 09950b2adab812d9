/** A stretch of what a model writes; `mistaken`: the text before it was a thought. `isRefusal`: the model declines to answer. */
export type Stretch =
  | { type: "text"; text: string; isRefusal?: true }
  | { type: "reasoning"; text: string }
  | { type: "mistaken" };

/** Marks between which a model writes its thoughts. */
type Mark = { open: string; close: string[] };

const tag = (name: string): Mark => ({ open: `<${name}>`, close: [`</${name}>`] });
// A thought that begins with one of these two names has been seen to end with the other.
const think = { close: ["</think>", "</thinking>"] };
/**
 * The marks of DeepSeek, Qwen and most others; of Gemma's and Claude's imitators; of ByteDance; of Mistral; of Kimi; of OpenAI's open
 * models (harmony, whose channels servers are to take apart, and some don't); of Cohere; of newer Gemmas; of OpenThinker.
 */
const marks: Mark[] = [
  { open: "<think>", ...think },
  { open: "<thinking>", ...think },
  tag("thought"),
  tag("thoughts"),
  tag("reasoning"),
  tag("seed:think"),
  { open: "[THINK]", close: ["[/THINK]"] },
  { open: "◁think▷", close: ["◁/think▷"] },
  { open: "<|channel|>analysis<|message|>", close: ["<|end|>", "<|channel|>final<|message|>"] },
  { open: "<|START_THINKING|>", close: ["<|END_THINKING|>"] },
  { open: "<|channel>thought", close: ["<channel|>"] },
  { open: "<|begin_of_thought|>", close: ["<|end_of_thought|>"] },
];
/** Marks around the text itself, which say nothing to a person. */
const before = [
  "<|start|>assistant",
  "<|channel|>final<|message|>",
  "<|channel|>commentary<|message|>",
  "<|START_RESPONSE|>",
  "<|START_TEXT|>",
  "<|begin_of_solution|>",
];
const behind = ["<|return|>", "<|end|>", "<|END_RESPONSE|>", "<|END_TEXT|>", "<|end_of_solution|>"];
const openings = [...marks.map(({ open }) => open), ...before];
/** Ends of thoughts whose beginning the template of the model has given already. */
const closings = marks.flatMap(({ close }) => close).filter((close) => !close.startsWith("<|"));
const known = [...openings, ...closings];

// Blanks are counted up to a bound everywhere, so that a model that sends only blanks does not cost more with each.
const blanksAtMost = 1_000;
const blanksBefore = /(?<!\s)\s{1,20}$/;
// A closing tag on a line of its own, or right behind a word or before one, ends a thought whose opening tag the model's template has
// already given.
const untagged = /\n\s{0,20}(?:<\/(?:think|thinking|thought|reasoning)>|\[\/THINK\])\s{0,20}\n/;
const within = /(?<=[^ \t`"'«“(<])<\/think(?:ing)?>(?=[\p{L}\p{N}¡¿#*\n])/u;
const untaggedLength = 60;

/**
 * Separates the text from the thoughts that some models write into it between marks: before the text and, after a first thought, also at
 * the beginning of a line.
 */
export class Thoughts {
  #state: "before" | "inside" | "blank" | "after";
  #held = "";
  /** The marks of the current thought, or of the last one. */
  #mark: Mark | undefined;
  /** Whether marks around the text have come. */
  #isWrapped = false;
  /** The beginning of the line that is under way. */
  #line = "";
  #isCode = false;
  /** The end of the text so far, where an untagged thought may end; undefined once the text can't be one. */
  #tail: string | undefined = "";

  /** `untagged`: this model is known to leave out the opening tag. */
  constructor({ untagged = false } = {}) {
    this.#state = untagged ? "inside" : "before";
  }

  /** Splits the next piece of text; what may be the beginning of a mark is kept for the next one. */
  split(piece: string): Stretch[] {
    const text = this.#held + piece;
    this.#held = "";
    if (this.#state === "inside") return this.#think(text);
    if (this.#state === "after") return this.#goOn(text);
    return this.#begin(text);
  }

  /** Whether a thought has begun that has not ended. */
  get isInside(): boolean {
    return this.#state === "inside";
  }

  /** The kept rest, at the end of the stream. */
  rest(): Stretch[] {
    const text = this.#held;
    this.#held = "";
    if (!text) return [];
    return this.#state === "inside" ? [{ type: "reasoning", text }] : [{ type: "text", text }];
  }

  /** Reads the beginning of the answer, or the text after a thought, whose leading blanks are dropped. */
  #begin(text: string): Stretch[] {
    const begins = text.trimStart();
    const blanks = text.length - begins.length;
    if (blanks <= blanksAtMost) {
      const found = openings.find((open) => begins.startsWith(open));
      if (found) return this.#open(found, begins.slice(found.length));
      // The thought has come in a field of its own, and its end here.
      const stray = closings.find((close) => begins.startsWith(close));
      if (stray) {
        this.#state = "blank";
        return this.split(begins.slice(stray.length).trimStart());
      }
      if (known.some((mark) => mark.startsWith(begins))) {
        if (begins || this.#state === "before") this.#held = text;
        return [];
      }
    }
    const isAfterThought = this.#state === "blank" || this.#isWrapped;
    if (this.#state === "blank") this.#tail = undefined;
    this.#state = "after";
    return this.#goOn(isAfterThought ? begins : text);
  }

  #open(found: string, rest: string): Stretch[] {
    const mark = marks.find(({ open }) => open === found);
    if (mark) {
      this.#mark = mark;
      this.#state = "inside";
      return this.split(rest.trimStart());
    }
    this.#isWrapped = true;
    return this.split(rest);
  }

  #think(text: string): Stretch[] {
    const closes = this.#mark?.close ?? closings;
    const { mark: close, at } = firstOf(closes, text);
    if (close === undefined) {
      const tail = text.slice(0, text.length - partOf(closes, text));
      const end = blanksBefore.exec(tail)?.index ?? tail.length;
      this.#held = text.slice(end);
      return end > 0 ? [{ type: "reasoning", text: text.slice(0, end) }] : [];
    }
    this.#state = "blank";
    if (close.startsWith("<|")) this.#isWrapped = true;
    const thought = text.slice(0, at).replace(blanksBefore, "");
    const rest = this.split(text.slice(at + close.length).trimStart());
    return thought ? [{ type: "reasoning", text: thought }, ...rest] : rest;
  }

  /** The text. After a first thought, another may begin at the beginning of a line that is no code. */
  #goOn(text: string): Stretch[] {
    const { open } = this.#mark ?? {};
    if (open === undefined && !this.#isWrapped) return text ? this.#write(text) : [];
    const said: Stretch[] = [];
    for (let rest = text; rest; ) {
      if (open !== undefined && this.#line === "" && !this.#isCode) {
        if (rest.startsWith(open)) {
          this.#state = "inside";
          return [...said, ...this.split(rest.slice(open.length).trimStart())];
        }
        if (open.startsWith(rest)) {
          this.#held = rest;
          return said;
        }
      }
      const end = rest.indexOf("\n") + 1 || rest.length;
      const line = this.#isWrapped ? withoutMarks(rest.slice(0, end)) : rest.slice(0, end);
      const held = this.#isWrapped && end === rest.length ? partOf(behind, line) : 0;
      this.#held = line.slice(line.length - held);
      const whole = line.slice(0, line.length - held);
      if (whole) said.push(...this.#write(whole));
      this.#follow(whole);
      rest = rest.slice(end);
    }
    return said;
  }

  /** Follows where lines and blocks of code begin and end. */
  #follow(piece: string): void {
    this.#line = `${this.#line}${piece}`.slice(0, 8);
    if (!piece.endsWith("\n")) return;
    if (/^\s{0,3}(?:```|~~~)/.test(this.#line)) this.#isCode = !this.#isCode;
    this.#line = "";
  }

  #write(text: string): Stretch[] {
    if (this.#tail === undefined) return [{ type: "text", text }];
    const seen = this.#tail + text;
    // Most pieces have no tag at all.
    const end = /<\/|\[\//.test(seen) ? (untagged.exec(seen) ?? within.exec(seen)) : null;
    // Text that shows code or speaks of such tags itself may well have a line like that.
    this.#tail = end || /```|<think/.test(seen) ? undefined : seen.slice(-untaggedLength);
    if (!end) return [{ type: "text", text }];
    const before = text.slice(0, Math.max(0, end.index - (seen.length - text.length)));
    const after = seen.slice(end.index + end[0].length).trimStart();
    if (!after) this.#state = "blank";
    return [
      ...(before ? [{ type: "text" as const, text: before }] : []),
      { type: "mistaken" },
      ...(after ? [{ type: "text" as const, text: after }] : []),
    ];
  }
}

/** The first of these marks in a text, and its place. */
function firstOf(all: string[], text: string): { mark: string | undefined; at: number } {
  let first: { mark: string | undefined; at: number } = { mark: undefined, at: text.length };
  for (const mark of all) {
    const at = text.indexOf(mark);
    if (at !== -1 && at < first.at) first = { mark, at };
  }
  return first;
}

/** Length of the end of a text that may be the beginning of one of these marks. */
function partOf(all: string[], text: string): number {
  const longest = Math.max(...all.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (all.some((mark) => mark.startsWith(end))) return length;
  }
  return 0;
}

const withoutMarks = (text: string) => behind.reduce((rest, mark) => rest.replaceAll(mark, ""), text);
