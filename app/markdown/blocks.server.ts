import { markdown } from "./render.server.ts";
import { asWritten } from "./source.server.ts";

/** A top-level block: its token's type, the mark that opened it, and where it starts; for lists, where the last item does. */
export type Block = { type: string; markup: string; start: number; lastItem: number };

type Token = ReturnType<typeof markdown.parse>[number];

/** The top-level blocks of a source, without looking inside their text. */
export function parseBlocks(source: string): Block[] {
  const tokens: Token[] = [];
  markdown.block.parse(asWritten(source), markdown, { isGrowing: true }, tokens);
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const startOf = (token: Token) => lineStarts[token.map?.[0] ?? 0] ?? 0;
  const blocks: Block[] = [];
  for (const token of tokens) {
    const block = blocks.at(-1);
    if (token.level === 0 && token.nesting >= 0 && token.map) {
      blocks.push({ type: token.type.replace(/_open$/, ""), markup: token.markup, start: startOf(token), lastItem: 0 });
    } else if (block && token.level === 1 && token.type === "list_item_open") {
      block.lastItem = startOf(token);
    }
  }
  return blocks;
}

/** Whether a last block can't go on, judged by its whole lines. */
export function isClosed({ type, markup }: Block, source: string): boolean {
  if (type === "heading" || type === "hr") return true;
  const trimmed = source.trimEnd();
  const last = trimmed.slice(trimmed.lastIndexOf("\n") + 1);
  if (type === "fence") {
    const mark = last.trim();
    return (
      trimmed.includes("\n") &&
      /^ {0,3}\S/.test(last) &&
      mark.startsWith(markup) &&
      mark === mark.charAt(0).repeat(mark.length)
    );
  }
  if (type.startsWith("math")) {
    return (
      last.trimEnd().endsWith(markup === "$$" ? "$$" : "\\]") && (trimmed.includes("\n") || last.trim().length > 3)
    );
  }
  const goesOnAfterBlank = type.endsWith("_list") || type === "code_block";
  return !goesOnAfterBlank && /\n[ \t]*\n$/.test(source);
}
