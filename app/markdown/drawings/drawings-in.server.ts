import { markdown } from "../render.server.ts";
import { type DrawingSource, drawingOf, isWhole, languageOf } from "./drawing-source.server.ts";

// Drawings of one text that are drawn before it is shown.
const drawingsAtMost = 30;

/**
 * The first `atMost` drawings among the blocks of code of a text. A text without such a block costs only a search for its mark.
 */
export function drawingsIn(source: string, atMost = drawingsAtMost): DrawingSource[] {
  // Normalised as the parser does it, so that a picture has one key everywhere.
  const text = source.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD");
  if (!/^[ \t>*+\d.)-]*(?:`{3,}|~{3,})[ \t]*(?:mermaid|dot|graphviz|gv|vega|svg|json|xml|html)/im.test(text)) return [];
  const tokens: Parameters<typeof markdown.block.parse>[3] = [];
  markdown.block.parse(text, markdown, {}, tokens);
  const found = new Map<string, DrawingSource>();
  for (const token of tokens) {
    if (token.type !== "fence" || !isWhole(token)) continue;
    const one = drawingOf(languageOf(token.info), token.content);
    if (one) found.set(one.key, one);
    if (found.size === atMost) break;
  }
  return [...found.values()];
}
