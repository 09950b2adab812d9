import { footnote } from "@mdit/plugin-footnote";
import type markdownIt from "markdown-it";
import type { Env } from "markdown-it";

type MarkdownIt = ReturnType<typeof markdownIt>;

/** Adds to CommonMark and GFM what people and models write beside them: loose emphasis, line breaks in cells, footnotes. */
export function addDialect(md: MarkdownIt): void {
  loosenEmphasis(md);
  breakCells(md);
  addFootnotes(md);
}

const opening = /[«“"'¿¡([`]/;
const closing = /[:.,;!?…»”"')\]%€`]/;

/**
 * Lets `**` open emphasis before an opening sign and close it after a closing sign, whatever stands on the other side of the mark:
 * CommonMark leaves the marks of «**Nota:**texto» and «dice**«sí»**y» as they are, as it can't tell whether they open or close.
 */
function loosenEmphasis({ inline }: MarkdownIt): void {
  inline.State = class extends inline.State {
    override scanDelims(start: number, canSplitWord: boolean) {
      const found = super.scanDelims(start, canSplitWord);
      // A single asterisk may be a multiplication sign: 3*(4+5)*2.
      if (this.src[start] !== "*" || found.length < 2) return found;
      const before = this.src[start - 1] ?? "";
      const after = this.src[start + found.length] ?? "";
      return {
        ...found,
        can_open: found.can_open || (opening.test(after) && before !== ""),
        can_close: found.can_close || (closing.test(before) && after !== ""),
      };
    }
  };
}

/** `<br>` in the cells of tables, where Markdown has no line break. Other HTML stays text. */
function breakCells(md: MarkdownIt): void {
  md.core.ruler.after("inline", "cell_breaks", ({ tokens, Token }) => {
    for (const [n, token] of tokens.entries()) {
      if (token.type !== "inline" || !/^t[dh]_open$/.test(tokens[n - 1]?.type ?? "")) continue;
      token.children = (token.children ?? []).flatMap((child) => {
        if (child.type !== "text" || !/<br\s?\/?>/i.test(child.content)) return child;
        return child.content.split(/<br\s?\/?>/i).flatMap((content, at) => {
          const text = Object.assign(new Token("text", "", 0), { content });
          return at === 0 ? text : [new Token("hardbreak", "br", 0), text];
        });
      });
    }
  });
}

/** `docId`: message of the footnotes, part of their ids so that these are unique on a page; `isGrowing`: its last notes have not come. */
export type FootnoteEnv = Env & { docId?: string; isGrowing?: boolean };
type Meta = { id: number; subId?: number };
type BlockRule = Parameters<MarkdownIt["block"]["ruler"]["before"]>[2];

function addFootnotes(md: MarkdownIt): void {
  const { ruler } = md.block;
  const { before } = ruler;
  const whenWhole =
    (rule: BlockRule): BlockRule =>
    (state, ...rest) =>
      !(state.env as FootnoteEnv).isGrowing && rule(state, ...rest);
  ruler.before = (where, name, rule, options) => before.call(ruler, where, name, whenWhole(rule), options);
  md.use(footnote);
  ruler.before = before;
  // `10^[2]` is no note.
  md.inline.ruler.disable("footnoteInline");
  const labelOf = (token: { meta: unknown } | undefined) => String((token?.meta as { label?: string })?.label ?? "");
  // A note that nothing refers to stays where it stands.
  md.core.ruler.before("footnoteTail", "lost_notes", ({ tokens, env }) => {
    const refs = (env as { footnotes?: { refs?: Record<string, number> } }).footnotes?.refs ?? {};
    let isLost = false;
    for (const token of tokens) {
      if (token.type === "footnote_reference_open") {
        isLost = (refs[`:${labelOf(token)}`] ?? -1) < 0;
        if (isLost) token.type = "lost_note_open";
      } else if (token.type === "footnote_reference_close" && isLost) token.type = "lost_note_close";
    }
  });
  const { rules } = md.renderer;
  rules.lost_note_open = (tokens, index) => `<p>[^${md.utils.escapeHtml(labelOf(tokens[index]))}]:</p>\n`;
  rules.lost_note_close = () => "";
  const idOf = (meta: unknown, env: FootnoteEnv) => `${env.docId ?? "pagina"}-${(meta as Meta).id + 1}`;
  rules.footnote_ref = (tokens, index, _options, env: FootnoteEnv = {}) => {
    const meta = tokens[index]?.meta as Meta;
    const again = meta.subId ? `-${meta.subId}` : "";
    return `<sup><a class="note" id="llamada-${idOf(meta, env)}${again}" href="#nota-${idOf(meta, env)}" aria-label="Nota ${meta.id + 1}">${meta.id + 1}</a></sup>`;
  };
  rules.footnote_block_open = () => `<section class="notes" aria-label="Notas"><ol>\n`;
  rules.footnote_block_close = () => "</ol></section>\n";
  rules.footnote_open = (tokens, index, _options, env: FootnoteEnv = {}) =>
    `<li id="nota-${idOf(tokens[index]?.meta, env)}">`;
  rules.footnote_close = () => "</li>\n";
  rules.footnote_anchor = (tokens, index, _options, env: FootnoteEnv = {}) => {
    const meta = tokens[index]?.meta as Meta;
    const again = meta.subId ? `-${meta.subId}` : "";
    return ` <a href="#llamada-${idOf(meta, env)}${again}" aria-label="Volver a la llamada ${meta.id + 1}">↩︎</a>`;
  };
}
