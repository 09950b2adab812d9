import type markdownIt from "markdown-it";

type MarkdownIt = ReturnType<typeof markdownIt>;
type InlineRule = Parameters<MarkdownIt["inline"]["ruler"]["before"]>[2];
type BlockRule = Parameters<MarkdownIt["block"]["ruler"]["after"]>[2];

const blank = /\s/;
const wordCharacter = /[\p{L}\p{N}_]/u;

/** Whether a text between marks is words or prices, not a formula: «5$ y el otro 10$». Formulas have commands, signs or single letters. */
const isProse = (content: string) =>
  !/[\\^_={}+*/<>|]/.test(content) &&
  ((/\s/.test(content.trim()) && /\p{L}{2}|^\d[\d.,]*\s/u.test(content)) || /^\s*\p{Ll}{4,}\s*$/u.test(content));
/** Commands, powers and indices of letters, as no price has them: such a formula may have blanks next to its marks. */
const isFormula = /\\[a-zA-Z]|\^|(?<![\p{L}\p{N}_])\p{L}_[\p{L}\p{N}{]/u;
/** Powers, indices and commands alone may stand next to letters and digits: `CO$_2$`, `25$^\circ$C`, `10$\mu$m`; `$_POST$` may not. */
const attached = /^(?:[_^](?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[a-zA-Z]+|[A-Za-z]|[\d+-]{1,3})|\\[a-zA-Z]+)+$/;
const attachedAtMost = 80;
const isAttached = (content: string) => content.length <= attachedAtMost && attached.test(content);
/** `\[1\]` is a number in escaped brackets, not a formula. */
const isReference = (content: string) => /^[\d\s,;–-]*$/.test(content);

/**
 * `$…$` by Pandoc's rules and stricter, as people write prices and shell variables: no blank inside next to a mark where there is no
 * command or power, no letter or digit before the first mark or after the last one unless it is a power or the like. `$$…$$` in a sentence is a formula on its own line. Only the next mark is looked at, so
 * that the time stays linear.
 */
const dollars: InlineRule = (state, silent) => {
  const { src, pos } = state;
  if (src[pos] !== "$") return false;
  const isDisplay = src[pos + 1] === "$";
  const mark = isDisplay ? "$$" : "$";
  const end = isDisplay ? src.indexOf("$$", pos + 2) : nextDollar(src, pos + 1);
  const content = end < 0 ? "" : src.slice(pos + mark.length, end);
  const before = src.charAt(pos - 1);
  const after = src.charAt(end + mark.length);
  const isMath =
    content.trim() !== "" &&
    !isProse(content) &&
    (isDisplay ||
      ((isAttached(content) || !(wordCharacter.test(before) || wordCharacter.test(after))) &&
        (isFormula.test(content) || !(blank.test(content.charAt(0)) || blank.test(content.slice(-1))))));
  if (!isMath) {
    if (!silent) state.pending += mark;
    state.pos += mark.length;
    return true;
  }
  if (!silent) {
    const token = state.push(isDisplay ? "math_display" : "math_inline", "math", 0);
    token.markup = mark;
    token.content = content;
  }
  state.pos = end + mark.length;
  return true;
};

function nextDollar(src: string, from: number): number {
  for (let at = src.indexOf("$", from); at !== -1; at = src.indexOf("$", at + 1)) {
    let slashes = 0;
    while (src[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

// The positions of all `\)` and `\]` of a text that are not escaped, so that a text with many beginnings does not take quadratic time.
type Ends = { ")": number[]; "]": number[] };
const endsIn = new WeakMap<object, Ends>();

function endsOf(state: object, src: string): Ends {
  const known = endsIn.get(state);
  if (known) return known;
  const ends: Ends = { ")": [], "]": [] };
  for (const { 0: run, index } of src.matchAll(/(?<!\\)\\+[)\]]/g)) {
    // An even number of backslashes before the bracket escape each other.
    if (run.length % 2 === 0) ends[run.endsWith(")") ? ")" : "]"].push(index + run.length - 2);
  }
  endsIn.set(state, ends);
  return ends;
}

// In characters: a longer text is no formula within a sentence.
const longestInline = 4_000;

/** `\(…\)` and, in a sentence, `\[…\]`. */
const brackets: InlineRule = (state, silent) => {
  const { src, pos } = state;
  if (src[pos] !== "\\" || (src[pos + 1] !== "(" && src[pos + 1] !== "[")) return false;
  const isDisplay = src[pos + 1] === "[";
  const ends = endsOf(state, src)[isDisplay ? "]" : ")"];
  const end = ends[firstFrom(ends, pos + 2)];
  if (end === undefined || end - pos > longestInline) return false;
  const content = src.slice(pos + 2, end);
  if (!content.trim() || (isDisplay && (isProse(content) || isReference(content)))) return false;
  const before = src.charAt(pos - 1);
  // Escaped brackets in the words of a link, and the place in a list: `[\[PDF\] Bases](…)`, `arr\[i\]`.
  if (isDisplay && (before === "[" || (wordCharacter.test(before) && /^\w{1,10}$/.test(content)))) return false;
  if (!silent) {
    const token = state.push(isDisplay ? "math_display" : "math_inline", "math", 0);
    token.markup = src.slice(pos, pos + 2);
    token.content = content;
  }
  state.pos = end + 2;
  return true;
};

/** Index of the first of these ascending numbers that is not below `least`. */
function firstFrom(numbers: number[], least: number): number {
  let low = 0;
  for (let high = numbers.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

const blockMarks = [
  { open: "$$", close: "$$" },
  { open: "\\[", close: "\\]" },
];
// Lines of a formula that begins on the line of its mark.
const linesAtMost = 100;

/** A formula on lines of its own. If its first mark stands alone and no last one follows, it goes on to the end: it is still growing. */
const block: BlockRule = (state, startLine, endLine, silent) => {
  const line = (n: number) => state.src.slice((state.bMarks[n] ?? 0) + (state.tShift[n] ?? 0), state.eMarks[n]);
  const first = line(startLine);
  const mark = blockMarks.find(({ open }) => first.startsWith(open));
  if (!mark || (state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const rest = first.slice(2).trimEnd();
  const lines: string[] = [];
  let last = startLine;
  let isClosed = false;
  const at = rest.indexOf(mark.close);
  if (at !== -1) {
    // A formula that words follow stands in a sentence.
    if (at !== rest.length - 2 || !rest.slice(0, at).trim()) return false;
    lines.push(rest.slice(0, at));
    isClosed = true;
  } else if (rest) lines.push(rest);
  const isAlone = rest === "";
  let wordsFrom = -1;
  while (!isClosed && last + 1 < endLine && (isAlone || last - startLine < linesAtMost)) {
    const next = line(last + 1).trimEnd();
    const leaves = next !== "" && (state.sCount[last + 1] ?? 0) < state.blkIndent;
    if (leaves || (next === "" && !isAlone)) break;
    last++;
    const end = next.indexOf(mark.close);
    if (end === -1 || end === next.length - 2) {
      isClosed = end !== -1;
      lines.push(isClosed ? next.slice(0, -2) : next);
    } else if (!isAlone) return false;
    else if (end === 0) {
      // Words behind the last mark are a paragraph of their own.
      isClosed = true;
      wordsFrom = (state.bMarks[last] ?? 0) + (state.tShift[last] ?? 0) + 2;
    } else lines.push(next);
  }
  if (!isClosed && !isAlone) return false;
  if (silent) return true;
  const token = state.push("math_block", "math", 0);
  token.block = true;
  token.content = `${lines.join("\n").trim()}\n`;
  token.map = [startLine, last + 1];
  token.markup = mark.open;
  state.line = last + 1;
  if (wordsFrom !== -1) {
    state.bMarks[last] = state.src.slice(wordsFrom, state.eMarks[last]).search(/\S/) + wordsFrom;
    state.tShift[last] = 0;
    state.sCount[last] = state.blkIndent;
    state.line = last;
  }
  return true;
};

/** Adds formulas to a parser. `render` makes HTML of a formula; `isDisplay`: the formula stands by itself. */
export function addMath(md: MarkdownIt, render: (source: string, isDisplay: boolean) => string): void {
  md.inline.ruler.before("escape", "math_brackets", brackets);
  md.inline.ruler.after("escape", "math_dollars", dollars);
  md.block.ruler.after("blockquote", "math_block", block, { alt: ["paragraph", "reference", "blockquote", "list"] });
  const { rules } = md.renderer;
  rules.math_inline = (tokens, index) => render(tokens[index]?.content ?? "", false);
  rules.math_display = rules.math_block = (tokens, index) => render(tokens[index]?.content ?? "", true);
}
