import hljs from "highlight.js/lib/common";
import MarkdownIt from "markdown-it";
import temml from "temml";
import { boundLabels } from "./bounds.server.ts";
import { addDialect, type FootnoteEnv } from "./dialect.server.ts";
import type { Drawn, DrawnTable } from "./drawings/drawing.server.ts";
import { drawingOf, isWhole, languageOf } from "./drawings/drawing-source.server.ts";
import { addMath } from "./math.server.ts";
import { addSourceStep } from "./source.server.ts";

/** Options of rendering: a message's numbered sources, or that the text is a page of the site. */
export type RenderEnv = FootnoteEnv & {
  /** Address of the drawings of a text, before their keys. Without it their code is shown. */
  drawingsAt?: string;
  /** Drawings by their keys: their sizes, or why there is no picture; undefined while neither is known. Drawings not listed are code. */
  drawn?: ReadonlyMap<string, Drawn | undefined>;
  /** Pictures are linked to, not shown. */
  light?: boolean;
  sourcesId?: string;
  sources?: number;
  page?: boolean;
  /** Set in the rendering thread, which has a time limit: code is highlighted in all languages there. */
  inThread?: boolean;
  highlighted?: number;
};

// In characters: the longest block that is highlighted, and the most in one text. Most grammars can be made to take quadratic
// time; on the main thread these limits keep that below 40 ms.
const highlightUpTo = { here: 1_500, inThread: 4_000 };
const highlightInAll = { here: 3_000, inThread: 8_000 };
// These grammars can be made to take cubic time: seconds for a page of code.
const costly = new Set(["markdown", "ruby", "csharp"]);
// Real code has no such runs, and most grammars rescan them from each character.
const longRun = /\S{500}|[ \t]{200}/;

/** Whether a text has code in a costly language, so that it has to be rendered in the thread. */
export const needsThread = (source: string) =>
  [...source.matchAll(/^[ \t>]*(?:```|~~~)[ \t]*([\w#+-]+)/gm)].some(([, name = ""]) => isCostly(name));
const isCostly = (name: string) =>
  [...costly].some((language) => hljs.getLanguage(name) === hljs.getLanguage(language));

/** CommonMark with GFM's tables, task lists, strikethrough and footnotes; code highlighted, math as MathML; no raw HTML. */
export const markdown = new MarkdownIt({ html: false, linkify: true });
boundLabels(markdown);
addSourceStep(markdown);
addMath(markdown, renderMath);
addDialect(markdown);

/** Markdown from anyone → HTML that is safe to show. */
export function renderMarkdown(source: string, env: RenderEnv = {}): string {
  return markdown.render(source, { ...env, highlighted: 0 });
}

const { rules } = markdown.renderer;
export const { escapeHtml } = markdown.utils;

type Token = Parameters<NonNullable<typeof rules.text>>[0][number];
const contentOf = (token: Token | undefined) => token?.content ?? "";
const attributeOf = (token: Token | undefined, name: string) => String(token?.attrGet(name) ?? "");

rules.fence = (tokens, index, _options, env: RenderEnv = {}) => {
  const token = tokens[index];
  const language = languageOf(token?.info ?? "");
  const code = contentOf(token);
  const drawing = env.drawingsAt && token && isWhole(token) ? drawingOf(language, code) : undefined;
  // In a growing text, a list or a quotation goes on around its code: no picture there.
  const isKnown = drawing && (env.drawn?.has(drawing.key) ?? (env.isGrowing && token?.level === 0));
  return isKnown ? renderDrawing(drawing.key, code, language, env) : renderCode(code, language, env);
};
rules.code_block = (tokens, index, _options, env: RenderEnv = {}) => renderCode(contentOf(tokens[index]), "", env);

function renderCode(code: string, language: string, env: RenderEnv): string {
  const known = language && hljs.getLanguage(language);
  const where = env.inThread ? "inThread" : "here";
  const room = Math.min(highlightUpTo[where], highlightInAll[where] - (env.highlighted ?? 0));
  const highlights = known && code.length <= room && (env.inThread || !isCostly(language)) && !longRun.test(code);
  if (highlights) env.highlighted = (env.highlighted ?? 0) + code.length;
  const body = highlights ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escapeHtml(code);
  const name = known ? known.name : language;
  const caption = name ? `<figcaption><span>${escapeHtml(name)}</span></figcaption>` : "";
  return `<figure class="code">${caption}<pre tabindex="0"><code>${body}</code></pre></figure>\n`;
}

/** A picture with its code folded below it; without a picture, the code and the reason. A growing text has shown the code already. */
function renderDrawing(key: string, code: string, language: string, env: RenderEnv): string {
  const drawn = env.drawn?.get(key);
  const source = renderCode(code, language, env);
  if (drawn && "problem" in drawn) return `${source}<p class="undrawn">${escapeHtml(drawn.problem)}</p>\n`;
  const address = escapeHtml(`${env.drawingsAt}${key}`);
  const label = escapeHtml(drawn?.label ? `Dibujo: ${drawn.label}` : "Dibujo");
  const size = drawn ? ` width="${drawn.width}" height="${drawn.height}"` : "";
  const weight = drawn ? `SVG, ${Math.ceil(drawn.bytes / 1000)} kB` : "SVG";
  const picture = env.light
    ? `<p><a href="${address}">Ver el dibujo (${weight})</a></p>`
    : `<p class="scroll drawn"><a href="${address}"><img src="${address}" alt="${label}"${size}></a></p>`;
  // The code stands there already; a figure would be taken for a block of code that still grows.
  if (env.isGrowing) return `${source}${picture.replace("<p", "<p data-drawing")}\n`;
  const data = drawn?.table ? renderData(drawn.table) : "";
  return `<figure class="drawing">${picture}${data}<details><summary>Ver el código</summary>${source}</details></figure>\n`;
}

function renderData({ columns, rows }: DrawnTable): string {
  const cells = (tag: string, texts: string[]) =>
    `<tr>${texts.map((one) => `<${tag}>${escapeHtml(one)}</${tag.slice(0, 2)}>`).join("")}</tr>`;
  const table = `<table class="table"><thead>${cells('th scope="col"', columns)}</thead><tbody>${rows.map((row) => cells("td", row)).join("")}</tbody></table>`;
  return `<details><summary>Ver los datos</summary><section class="scroll" tabindex="0" aria-label="Datos">${table}</section></details>`;
}

// In characters. No person reads a longer formula, and laying it out is costly.
const longestFormula = 4_000;

function renderMath(source: string, displayMode: boolean): string {
  if (source.length > longestFormula) return `<code>${escapeHtml(source)}</code>`;
  try {
    // Without `trust` there are no links and classes. Styles are removed because of the CSP, ids because they could collide
    // with the page's.
    const options = { displayMode, throwOnError: true, trust: false, maxExpand: 100, macros: { ...spanish } };
    // In TeX a percent sign begins a remark, which nobody writes in a reply.
    const html = temml.renderToString(source.replace(/(?<!\\)%/g, "\\%"), options);
    const math = withoutStyles(html)
      .replace(/ id="[^"]*"/g, "")
      .replace(/<\/?a\b[^>]*>/g, "");
    // A wide one is moved sideways by itself, also by keyboard.
    return displayMode ? `<span class="formula" role="group" tabindex="0" aria-label="Fórmula">${math}</span>` : math;
  } catch {
    // An incomplete formula, or one nested deeper than the stack: shown as source.
    return `<code>${escapeHtml(source)}</code>`;
  }
}

// Functions by their names in Spanish schools.
const spanish = Object.fromEntries(
  ["sen", "arcsen", "arctg", "cotg", "cosec", "senh", "tgh", "mcd", "mcm"].map((name) => [
    `\\${name}`,
    `\\operatorname{${name}}`,
  ]),
);

/**
 * A formula without styles, which the CSP forbids: lines become classes. Colours are left out: black on a dark page is not seen.
 */
const withoutStyles = (html: string): string =>
  html.replace(/<[^<>]*>/g, (tag) => {
    const [whole = "", style = ""] = / style="([^"]*)"/.exec(tag) ?? [];
    if (!whole) return tag;
    const lines = [...style.matchAll(/border(?:-(top|right|bottom|left))?:/g)];
    const classes = lines.map(([, side]) => (side ? `line-${side}` : "boxed")).join(" ");
    const bare = tag.replace(whole, "");
    if (!classes) return bare;
    return bare.includes(' class="')
      ? bare.replace(' class="', ` class="${classes} `)
      : bare.replace(/(?=>)/, ` class="${classes}"`);
  });

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
    const align = /right|center/.exec(attributeOf(token, "style"))?.[0];
    const scope = cell === "th_open" ? ' scope="col"' : "";
    return `<${token?.tag}${scope}${align ? ` class="${align === "right" ? "num" : "middle"}"` : ""}>`;
  };
}

rules.link_open = (tokens, index, _options, env: RenderEnv = {}) => {
  const given = attributeOf(tokens[index], "href");
  const href = /^www\./i.test(given) ? `https://${given}` : given;
  // An address within a model's own machine, or relative to a page that is not there, leads nowhere.
  if (!env.page && (!/^(?:[a-z][a-z\d+.-]*:|\/)/i.test(href) || /^(?:sandbox|file|attachment):/i.test(href)))
    return "<a>";
  const own = env.page && /^[/#]/.test(href) && !href.startsWith("//");
  return `<a href="${escapeHtml(href)}"${own ? "" : ' rel="nofollow noopener noreferrer"'}>`;
};

// A picture from elsewhere would tell its server who reads what: it becomes a link.
rules.image = (tokens, index) => {
  const token = tokens[index];
  const name = token?.content || "imagen";
  return `<a href="${escapeHtml(attributeOf(token, "src"))}" rel="nofollow noopener noreferrer">${escapeHtml(name)}</a>`;
};

rules.text = (tokens, index, _options, env: RenderEnv = {}) =>
  escapeHtml(contentOf(tokens[index])).replace(/\[(\d{1,2})\]/g, (whole, number) =>
    env.sourcesId && Number(number) >= 1 && Number(number) <= (env.sources ?? 0)
      ? `<a class="ref" href="#fuente-${env.sourcesId}-${number}" aria-label="Fuente ${number}">${number}</a>`
      : whole,
  );

// People and models break lines where they want them broken; the site's own pages are wrapped.
rules.softbreak = (_tokens, _index, _options, env: RenderEnv = {}) => (env.page ? "\n" : "<br>\n");

// A link in a link would be two: within one, a picture is its name.
markdown.core.ruler.after("inline", "linked_pictures", ({ tokens }) => {
  for (const { children } of tokens) {
    let isLink = false;
    for (const child of children ?? []) {
      if (child.type === "link_open") isLink = true;
      else if (child.type === "link_close") isLink = false;
      else if (isLink && child.type === "image") child.type = "text";
    }
  }
});

markdown.core.ruler.after("inline", "tasks", ({ tokens }) => {
  for (const [index, token] of tokens.entries()) {
    const first = token.children?.[0];
    if (token.type !== "inline" || tokens[index - 2]?.type !== "list_item_open" || first?.type !== "text") continue;
    first.content = first.content.replace(/^\[([ xX])\]\s/, (_, mark) => (mark === " " ? "☐ " : "☑ "));
  }
});
