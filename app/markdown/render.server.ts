import { tex } from "@mdit/plugin-tex";
import hljs from "highlight.js/lib/common";
import MarkdownIt, { type Env } from "markdown-it";
import temml from "temml";

/** What rendering needs to know of the text: where a message's numbered sources are, or that it is a page of the site's own. */
export type RenderEnv = Env & { sourcesId?: string; sources?: number; page?: boolean; highlighted?: number };

// Longer code stays plain, and so does what comes after as much of it: some grammars take quadratic time.
const highlightUpTo = 4_000;
const highlightInAll = 8_000;

/** CommonMark with GFM's tables, task lists and strikethrough; code highlighted, math as MathML; no raw HTML (product.md §7). */
export const markdown = new MarkdownIt({ html: false, linkify: true });
withoutRescans(markdown, () =>
  markdown.use(tex, {
    delimiters: "all",
    render: (source: string, displayMode: boolean) => renderMath(source, displayMode),
  }),
);

type Rule = (state: { src: string; pos: number; bMarks: number[] }, ...rest: unknown[]) => boolean;

/** From each `\\(` and `\\[` the plugin looks for its end through all that follows: where there is none, it need not look twice. */
function withoutRescans(md: typeof markdown, register: () => void): void {
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

/** Markdown from anyone → HTML that is safe to show. */
export function renderMarkdown(source: string, env: RenderEnv = {}): string {
  return markdown.render(source, { ...env, highlighted: 0 });
}

const { rules } = markdown.renderer;
export const { escapeHtml } = markdown.utils;

rules.fence = (tokens, index, _options, env: RenderEnv = {}) => {
  const token = tokens[index];
  const language = token?.info.trim().split(/\s+/)[0] ?? "";
  return renderCode(token?.content ?? "", language, env);
};
rules.code_block = (tokens, index, _options, env: RenderEnv = {}) => renderCode(tokens[index]?.content ?? "", "", env);

function renderCode(code: string, language: string, env: RenderEnv): string {
  const known = language && hljs.getLanguage(language);
  const highlights = known && code.length <= Math.min(highlightUpTo, highlightInAll - (env.highlighted ?? 0));
  if (highlights) env.highlighted = (env.highlighted ?? 0) + code.length;
  const body = highlights ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escapeHtml(code);
  const name = known ? known.name : language;
  const caption = name ? `<figcaption><span>${escapeHtml(name ?? "")}</span></figcaption>` : "";
  return `<figure class="code">${caption}<pre tabindex="0"><code>${body}</code></pre></figure>\n`;
}

// A formula that a person could read; anything longer costs more to lay out than it is worth.
const longestFormula = 4_000;

function renderMath(source: string, displayMode: boolean): string {
  if (source.length > longestFormula) return `<code>${escapeHtml(source)}</code>`;
  try {
    // Without `trust` links and classes stay out. The CSP forbids styles, and ids belong to the page.
    const html = temml.renderToString(source, { displayMode, throwOnError: false, trust: false, maxExpand: 100 });
    return html.replace(/ (?:style|id)="[^"]*"/g, "").replace(/<\/?a\b[^>]*>/g, "");
  } catch {
    // Half a formula, or one nested deeper than the stack: it is shown as it was written.
    return `<code>${escapeHtml(source)}</code>`;
  }
}

// The page has the chat as h1 and each turn as h2.
const heading = (tag = "h3", { page }: RenderEnv = {}) =>
  page ? `h${Math.max(2, Number(tag.slice(1)))}` : `h${Math.min(6, Math.max(3, Number(tag.slice(1)) + 1))}`;
rules.heading_open = (tokens, index, _options, env) => `<${heading(tokens[index]?.tag, env)}>`;
rules.heading_close = (tokens, index, _options, env) => `</${heading(tokens[index]?.tag, env)}>\n`;

rules.table_open = () => `<section class="scroll" tabindex="0" aria-label="Tabla"><table class="table">\n`;
rules.table_close = () => "</table></section>\n";
// Alignment comes as a style attribute, which the CSP forbids.
for (const cell of ["th_open", "td_open"]) {
  rules[cell] = (tokens, index) => {
    const token = tokens[index];
    const align = /right|center/.exec(String(token?.attrGet("style") ?? ""))?.[0];
    const scope = cell === "th_open" ? ' scope="col"' : "";
    return `<${token?.tag}${scope}${align ? ` class="${align === "right" ? "num" : "middle"}"` : ""}>`;
  };
}

rules.link_open = (tokens, index, _options, env: RenderEnv = {}) => {
  const href = String(tokens[index]?.attrGet("href") ?? "");
  const own = env.page && /^[/#]/.test(href) && !href.startsWith("//");
  return `<a href="${escapeHtml(href)}"${own ? "" : ' rel="nofollow noopener noreferrer"'}>`;
};

// A picture from elsewhere would tell its server who reads what: it becomes a link.
rules.image = (tokens, index) => {
  const token = tokens[index];
  const name = token?.content || "imagen";
  return `<a href="${escapeHtml(String(token?.attrGet("src") ?? ""))}" rel="nofollow noopener noreferrer">${escapeHtml(name)}</a>`;
};

rules.text = (tokens, index, _options, env: RenderEnv = {}) =>
  escapeHtml(tokens[index]?.content ?? "").replace(/\[(\d{1,2})\]/g, (whole, number) =>
    env.sourcesId && Number(number) >= 1 && Number(number) <= (env.sources ?? 0)
      ? `<a class="ref" href="#fuente-${env.sourcesId}-${number}" aria-label="Fuente ${number}">${number}</a>`
      : whole,
  );

markdown.core.ruler.after("inline", "tasks", ({ tokens }) => {
  for (const [index, token] of tokens.entries()) {
    const first = token.children?.[0];
    if (token.type !== "inline" || tokens[index - 2]?.type !== "list_item_open" || first?.type !== "text") continue;
    first.content = first.content.replace(/^\[([ xX])\]\s/, (_, mark) => (mark === " " ? "☐ " : "☑ "));
  }
});
