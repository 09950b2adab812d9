import { footnote } from "@mdit/plugin-footnote";
import type markdownIt from "markdown-it";
import type { Env, Token } from "markdown-it";
import { recordOf } from "../process/text/json.ts";

type MarkdownIt = ReturnType<typeof markdownIt>;

/** Adds to CommonMark and GFM what people and models write beside them: loose emphasis, elements of plain text, footnotes. */
export function addDialect(md: MarkdownIt): void {
  loosenEmphasis(md);
  takePlainHtml(md);
  addFootnotes(md);
}

const opening = /[«“"'¿¡([`「『（]/;
const closing = /[:.,;!?…»”"')\]%€`」』）。，！？：]/;
const inWord = /[\p{L}\p{N}]/u;

/**
 * Lets `**` open emphasis before an opening sign and close it after a closing sign, whatever stands on the other side of the mark:
 * CommonMark leaves the marks of «**Nota:**texto» and «dice**«sí»**y» as they are, as it can't tell whether they open or close.
 */
function loosenEmphasis({ inline }: MarkdownIt): void {
  inline.State = class extends inline.State {
    override scanDelims(start: number, canSplitWord: boolean) {
      const found = super.scanDelims(start, canSplitWord);
      const before = this.src.charAt(start - 1);
      const after = this.src.charAt(start + found.length);
      if (this.src[start] !== "*") return found;
      // A single asterisk may be a multiplication sign: 2*3*4, 3*(4+5)*2.
      if (found.length === 1) {
        return inWord.test(before) && inWord.test(after) ? { ...found, can_open: false, can_close: false } : found;
      }
      return {
        ...found,
        can_open: found.can_open || (opening.test(after) && before !== ""),
        can_close: found.can_close || (closing.test(before) && after !== ""),
      };
    }
  };
}

const plainHtml = /(<br\s?\/?>|<(?:sub|sup|kbd|u|mark)>[^<>]{1,200}<\/(?:sub|sup|kbd|u|mark)>)/i;

/** `<br>` and the elements of plain text for which Markdown has no marks, without attributes. Other HTML stays text. */
function takePlainHtml(md: MarkdownIt): void {
  md.core.ruler.after("inline", "plain_html", ({ tokens, Token }) => {
    const text = (content: string) => Object.assign(new Token("text", "", 0), { content });
    const tag = (content: string) => Object.assign(new Token("html_inline", "", 0), { content });
    const read = (part: string) => {
      if (/^<br/i.test(part)) return new Token("hardbreak", "br", 0);
      const [, opened = "", content = "", closed = ""] = /^<(\w+)>([^<>]+)<\/(\w+)>$/.exec(part.toLowerCase()) ?? [];
      if (!opened || opened !== closed) return text(part);
      const inside = part.slice(opened.length + 2, -closed.length - 3);
      return content ? [tag(`<${opened}>`), text(inside), tag(`</${opened}>`)] : [];
    };
    for (const token of tokens) {
      if (token.type !== "inline" || !plainHtml.test(token.content)) continue;
      token.children = (token.children ?? []).flatMap((child) =>
        child.type === "text" && plainHtml.test(child.content)
          ? child.content.split(plainHtml).flatMap((part, at) => (at % 2 === 0 ? text(part) : read(part)))
          : child,
      );
    }
  });
}

/** `docId`: message of the footnotes, part of their ids so that these are unique on a page; `isGrowing`: its last notes have not come. */
export type FootnoteEnv = Env & { docId?: string; isGrowing?: boolean };
type BlockRule = Parameters<MarkdownIt["block"]["ruler"]["before"]>[2];

/** The line of a note as a paragraph until the other notes are known: one that is only an address would define a link, and show nothing. */
const growingNote: BlockRule = (state, line, _end, silent) => {
  const { isGrowing }: FootnoteEnv = state.env;
  const from = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  const text = isGrowing ? state.src.slice(from, state.eMarks[line]) : "";
  if (!/^\[\^[^\]\s]{1,100}\]:/.test(text)) return false;
  if (silent) return true;
  state.push("paragraph_open", "p", 1).map = [line, line + 1];
  Object.assign(state.push("inline", "", 0), { content: text.trim(), map: [line, line + 1], children: [] });
  state.push("paragraph_close", "p", -1);
  state.line = line + 1;
  return true;
};

function addFootnotes(md: MarkdownIt): void {
  const { ruler } = md.block;
  const { before } = ruler;
  const whenWhole =
    (rule: BlockRule): BlockRule =>
    (state, ...rest) => {
      const { isGrowing }: FootnoteEnv = state.env;
      return !isGrowing && rule(state, ...rest);
    };
  ruler.before = (where, name, rule, options) => before.call(ruler, where, name, whenWhole(rule), options);
  md.use(footnote);
  ruler.before = before;
  ruler.before("reference", "growing_note", growingNote);
  // `10^[2]` is no note.
  md.inline.ruler.disable("footnoteInline");
  const labelOf = (token: Token | undefined) => String(recordOf(token?.meta)?.label ?? "");
  // A note that nothing refers to stays where it stands.
  md.core.ruler.before("footnoteTail", "lost_notes", ({ tokens, env }) => {
    const refs = recordOf(recordOf(recordOf(env)?.footnotes)?.refs);
    let isLost = false;
    for (const token of tokens) {
      if (token.type === "footnote_reference_open") {
        isLost = Number(refs?.[`:${labelOf(token)}`] ?? -1) < 0;
        if (isLost) token.type = "lost_note_open";
      } else if (token.type === "footnote_reference_close" && isLost) token.type = "lost_note_close";
    }
  });
  const { rules } = md.renderer;
  rules.lost_note_open = (tokens, index) => `<p>[^${md.utils.escapeHtml(labelOf(tokens[index]))}]:</p>\n`;
  rules.lost_note_close = () => "";
  const metaOf = (token: Token | undefined) => ({
    id: Number(token?.meta?.id),
    subId: Number(token?.meta?.subId ?? 0),
  });
  const idOf = ({ id }: { id: number }, env: FootnoteEnv) => `${env.docId ?? "pagina"}-${id + 1}`;
  rules.footnote_ref = (tokens, index, _options, env: FootnoteEnv = {}) => {
    const meta = metaOf(tokens[index]);
    const again = meta.subId ? `-${meta.subId}` : "";
    return `<sup><a class="note" id="llamada-${idOf(meta, env)}${again}" href="#nota-${idOf(meta, env)}" aria-label="Nota ${meta.id + 1}">${meta.id + 1}</a></sup>`;
  };
  rules.footnote_block_open = () => `<section class="notes" aria-label="Notas"><ol>\n`;
  rules.footnote_block_close = () => "</ol></section>\n";
  rules.footnote_open = (tokens, index, _options, env: FootnoteEnv = {}) =>
    `<li id="nota-${idOf(metaOf(tokens[index]), env)}">`;
  rules.footnote_close = () => "</li>\n";
  rules.footnote_anchor = (tokens, index, _options, env: FootnoteEnv = {}) => {
    const meta = metaOf(tokens[index]);
    const again = meta.subId ? `-${meta.subId}` : "";
    return ` <a href="#llamada-${idOf(meta, env)}${again}" aria-label="Volver a la llamada ${meta.id + 1}">↩︎</a>`;
  };
}
