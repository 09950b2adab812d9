import { tex } from "@mdit/plugin-tex";
import hljs from "highlight.js/lib/common";
import MarkdownIt, { type Env } from "markdown-it";
import temml from "temml";

/** What rendering needs to know of the text: where a message's numbered sources are, or that it is a page of the site's own. */
export type RenderEnv = Env & { sourcesId?: string; sources?: number; page?: boolean };

// Longer code stays plain: highlighting it again at each line would hold up everyone else.
const highlightUpTo = 20_000;

/** CommonMark with GFM's tables, task lists and strikethrough; code highlighted, math as MathML; no raw HTML (product.md §7). */
export const markdown = new MarkdownIt({ html: false, linkify: true }).use(tex, {
  delimiters: "all",
  render: (source: string, displayMode: boolean) => renderMath(source, displayMode),
});

/** Markdown from anyone → HTML that is safe to show. */
export function renderMarkdown(source: string, env: RenderEnv = {}): string {
  return markdown.render(source, env);
}

const { rules } = markdown.renderer;
export const { escapeHtml } = markdown.utils;

rules.fence = (tokens, index) => {
  const token = tokens[index];
  const language = token?.info.trim().split(/\s+/)[0] ?? "";
  return renderCode(token?.content ?? "", language);
};
rules.code_block = (tokens, index) => renderCode(tokens[index]?.content ?? "", "");

function renderCode(code: string, language: string): string {
  const known = language && hljs.getLanguage(language);
  const body =
    known && code.length <= highlightUpTo
      ? hljs.highlight(code, { language, ignoreIllegals: true }).value
      : escapeHtml(code);
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

rules.table_open = () => `<div class="scroll" tabindex="0" role="region" aria-label="Tabla"><table class="table">\n`;
rules.table_close = () => "</table></div>\n";
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
