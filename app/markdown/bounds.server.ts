import type markdownIt from "markdown-it";

type MarkdownIt = ReturnType<typeof markdownIt>;

type Rule = (state: { src: string; pos: number; bMarks: number[] }, ...rest: unknown[]) => boolean;

/** The TeX plugin searches the rest of the text for the end of each `\\(` and `\\[`. This remembers where the last end is, so that
 * texts with many beginnings and no end do not take quadratic time. */
export function withoutRescans(md: MarkdownIt, register: () => void): void {
  const ends = new WeakMap<object, number>();
  const guard =
    (end: RegExp, at: (state: Parameters<Rule>[0], first: unknown) => number) =>
    (rule: Rule): Rule =>
    (state, ...rest) => {
      let last = ends.get(state);
      if (last === undefined) {
        last = [...state.src.matchAll(end)].at(-1)?.index ?? -1;
        ends.set(state, last);
      }
      return last >= at(state, rest[0]) && rule(state, ...rest);
    };
  const rulers = [
    { ruler: md.inline.ruler, add: "before", wrap: guard(/(?<!\\)(?:\\\\)*\\\)/g, ({ pos }) => pos) },
    {
      ruler: md.block.ruler,
      add: "after",
      wrap: guard(/\\\][ \t]*$/gm, ({ bMarks }, line) => bMarks[Number(line)] ?? 0),
    },
  ] as const;
  const own = rulers.map(({ ruler, add, wrap }) => {
    const given = ruler[add] as (...args: unknown[]) => unknown;
    Object.assign(ruler, {
      [add]: (where: string, name: string, rule: Rule, options?: object) =>
        given.call(ruler, where, name, name.endsWith("_bracket") ? wrap(rule) : rule, options),
    });
    return () => Reflect.deleteProperty(ruler, add);
  });
  register();
  for (const restore of own) restore();
}

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
