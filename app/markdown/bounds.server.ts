import type markdownIt from "markdown-it";

type MarkdownIt = ReturnType<typeof markdownIt>;

// Characters that may be searched for the ends of labels in one paragraph: about a hundred times what a text with many
// links needs.
const labelBudget = 50_000;

/**
 * The parser searches the rest of the text for the `]` of each `[`, which takes quadratic time if there are many and few of them
 * end. Once a paragraph's budget is spent, it has no more links.
 */
export function boundLabels({ helpers }: MarkdownIt): void {
  const { parseLinkLabel } = helpers;
  const spent = new WeakMap<object, number>();
  helpers.parseLinkLabel = (state, start, disableNested) => {
    const before = spent.get(state) ?? 0;
    if (before > labelBudget) return -1;
    const end = parseLinkLabel(state, start, disableNested);
    spent.set(state, (spent.get(state) ?? 0) + (end < 0 ? state.posMax : end) - start);
    return end;
  };
}
