// How long one piece of a reply may hold the thread, whatever the model writes: `npm run bench -- worst`. Each text repeats
// what some Markdown parser has once been slow on; the floor is ordinary prose, measured in the same run.

import { MarkdownStream } from "../../app/markdown/stream.server.ts";

const length = 20_000;
// Characters that a model sends at once.
const piece = 4;
const repeated = [
  ...[" ", "\t", "a", ".", ". ", "*", "_", "**a ", "`", "```\n", "~", "[", "]", "![", "](", "[a](", "<", ">", "> "],
  ...["- ", "1. ", "|", "| a ", "a|b\n", "$", "$$", "\\(", "\\[", "\\", "\n", "\n ", "    ", "#", "# ", "&", "&amp;"],
  ...["http://a", "www.", "a@b.c ", "-", "=", "a\n", "- a\n", "  - a\n", "> a\n", "* * ", '"', "'", ":", "{", "}", "("],
  ...["$x ", "$$x ", "$$ x\n", "\\[ x\n", "[^1] ", "[^1]: a\n", "**a:**b ", "$a|b$|", "**«", "<think>\n"],
  ...[")", "\r", "<!--", "    a\n", "- a\n  b\n", "*a", "_a_ ", "[x]: ", "| - ", "\u0301", "\u200D", "á", "😀"],
];
const beginnings = ["", "- a\n", "| a | b |\n|---|---|\n", "```md\n", "> a\n", "Hola. ", "```js\n"];
const prose = "Una frase como las que se escriben, con sus **palabras** y su final. ";

/** The longest step of a stream of this text, in ms. */
function longestStep(beginning: string, text: string): number {
  const stream = new MarkdownStream({}, { byWord: true });
  stream.push(beginning);
  let longest = 0;
  const timed = (work: () => void) => {
    const begun = performance.now();
    work();
    longest = Math.max(longest, performance.now() - begun);
  };
  for (let at = 0; at < text.length; at += piece) timed(() => stream.push(text.slice(at, at + piece)));
  timed(() => stream.end());
  return longest;
}

const fill = (text: string) => text.repeat(Math.ceil(length / text.length)).slice(0, length);

longestStep("", fill(prose));
const floor = longestStep("", fill(prose));
const measured = repeated.flatMap((text) =>
  beginnings.map((beginning) => ({ text, beginning, ms: longestStep(beginning, fill(text)) })),
);
measured.sort((a, b) => b.ms - a.ms);
console.log(`prose: ${floor.toFixed(1)} ms at most in one step`);
for (const { text, beginning, ms } of measured.slice(0, 10)) {
  const what = `${JSON.stringify(text)} after ${JSON.stringify(beginning)}`;
  console.log(`${ms.toFixed(1).padStart(7)} ms, ${(ms / floor).toFixed(1).padStart(5)} times the prose: ${what}`);
}
