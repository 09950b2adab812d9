import temml from "temml";
import { drawingOf, isWhole, languageOf } from "../drawings/drawing-source.server.ts";
import { markdown } from "../render.server.ts";
import type { OfficeImages, OfficeTurn } from "./office-document.server.ts";

/** A stretch of a paragraph. `formula`: as MathML, with its source as the text; `note`: text of the source that is cited here. */
export type OfficeRun = {
  text: string;
  bold?: boolean;
  italic?: boolean;
  code?: boolean;
  strike?: boolean;
  link?: string | undefined;
  formula?: string;
  note?: string;
};
/** `list`: set in an item of a list; `mark` is «•» or its number, empty for its further paragraphs; `quote`: depth of quotation. */
export type Paragraph = { runs: OfficeRun[]; quote: number; list?: { level: number; mark: string } };
export type OfficeBlock =
  | ({ kind: "heading"; level: number } & Pick<Paragraph, "runs">)
  | ({ kind: "paragraph" } & Paragraph)
  | { kind: "code"; text: string }
  | ({ kind: "image" } & OfficeImages[string])
  | { kind: "table"; rows: OfficeRun[][][] }
  | { kind: "formula"; source: string; mathml: string }
  | { kind: "rule" };

type Token = ReturnType<typeof markdown.parse>[number];
type Style = Omit<OfficeRun, "text">;
/** A list that is open: the number of its last item, undefined for bullets. */
type List = { number: number | undefined; isFirst: boolean };

// In characters, as on pages.
const longestFormula = 4_000;

/** A message as blocks for an office document: the names of its files, then its Markdown, with its drawings from `images`. */
export function blocksOf(
  { files, markdown: source, sources }: Omit<OfficeTurn, "who" | "when">,
  images: OfficeImages = {},
): OfficeBlock[] {
  const notes = new Map(sources.map(({ n, title, quote }) => [n, `${title}. ${quote.replace(/\s+/g, " ")}`]));
  const blocks = files.map(attachedBlock);
  const lists: List[] = [];
  let quote = 0;
  let heading: number | undefined;
  let table: OfficeRun[][][] | undefined;
  let footnote = "";
  for (const token of markdown.parse(source, {})) {
    follow(lists, token);
    switch (token.type) {
      case "blockquote_open":
      case "blockquote_close":
        quote += token.nesting;
        break;
      case "heading_open":
      case "heading_close":
        heading = token.nesting > 0 ? Number(token.tag.slice(1)) : undefined;
        break;
      case "table_open":
        table = [];
        break;
      case "tr_open":
        table?.push([]);
        break;
      case "table_close":
        if (table) blocks.push({ kind: "table", rows: table });
        table = undefined;
        break;
      case "inline": {
        const runs = runsOf(token.children ?? [], notes);
        if (footnote) runs.unshift({ text: `${footnote} ` });
        footnote = "";
        if (table) table.at(-1)?.push(table.length === 1 ? runs.map((run) => ({ ...run, bold: true })) : runs);
        else if (heading) blocks.push({ kind: "heading", level: heading, runs });
        else blocks.push(paragraphOf(runs, quote, lists));
        const list = lists.at(-1);
        if (list) list.isFirst = false;
        break;
      }
      case "fence":
      case "code_block":
        blocks.push(codeOf(token, images));
        break;
      case "math_block":
        blocks.push({ kind: "formula", source: token.content.trim(), mathml: mathml(token.content.trim(), true) });
        break;
      case "footnote_open":
        footnote = footnoteMark(token);
        break;
      case "hr":
        blocks.push({ kind: "rule" });
    }
  }
  return blocks;
}

const attachedBlock = (name: string): OfficeBlock => ({
  kind: "paragraph",
  runs: [{ text: `Adjunto: ${name}`, italic: true }],
  quote: 0,
});

function paragraphOf(runs: OfficeRun[], quote: number, lists: List[]): OfficeBlock {
  const list = lists.at(-1);
  const item = list && { level: lists.length - 1, mark: markOf(list) };
  return { kind: "paragraph", runs, quote, ...(item && { list: item }) };
}

/** A block of code, or the image of the drawing that it describes. */
function codeOf(token: Token, images: OfficeImages): OfficeBlock {
  const drawing = isWhole(token) ? drawingOf(languageOf(token.info), token.content) : undefined;
  const image = drawing && images[drawing.key];
  return image ? { kind: "image", ...image } : { kind: "code", text: token.content.replace(/\n$/, "") };
}

/** Opens and closes lists and their items. */
function follow(lists: List[], token: Token): void {
  const { type } = token;
  const list = lists.at(-1);
  if (type === "bullet_list_open") lists.push({ number: undefined, isFirst: true });
  else if (type === "ordered_list_open") lists.push({ number: Number(token.attrGet("start") ?? 1) - 1, isFirst: true });
  else if (type === "bullet_list_close" || type === "ordered_list_close") lists.pop();
  else if (type === "list_item_open" && list) {
    list.isFirst = true;
    if (list.number !== undefined) list.number++;
  }
}

const footnoteMark = ({ meta }: Token) => `[nota ${Number(Object(meta).id) + 1}]`;
const markOf = ({ isFirst, number }: List) => (!isFirst ? "" : number === undefined ? "•" : `${number}.`);

function runsOf(tokens: Token[], notes: Map<number, string>): OfficeRun[] {
  const runs: OfficeRun[] = [];
  const style: Style = {};
  for (const token of tokens) {
    switch (token.type) {
      case "strong_open":
      case "strong_close":
        style.bold = token.type === "strong_open";
        break;
      case "em_open":
      case "em_close":
        style.italic = token.type === "em_open";
        break;
      case "s_open":
      case "s_close":
        style.strike = token.type === "s_open";
        break;
      case "link_open":
        style.link = String(token.attrGet("href") ?? "");
        break;
      case "link_close":
        style.link = undefined;
        break;
      case "text":
        runs.push(...withNotes(token.content, notes, style));
        break;
      case "code_inline":
        runs.push({ ...style, text: token.content, code: true });
        break;
      case "image":
        runs.push({ ...style, text: token.content || "imagen", link: String(token.attrGet("src") ?? "") });
        break;
      case "softbreak":
        runs.push({ ...style, text: " " });
        break;
      case "hardbreak":
        runs.push({ ...style, text: "\n" });
        break;
      case "math_inline":
      case "math_display":
        runs.push({ text: token.content, formula: mathml(token.content, false) });
        break;
      case "footnote_ref":
        runs.push({ ...style, text: ` ${footnoteMark(token)}` });
    }
  }
  return runs.filter(({ text }) => text !== "");
}

/** Text in which sources are cited by number, like [2]. */
function withNotes(text: string, notes: Map<number, string>, style: Style): OfficeRun[] {
  return text.split(/(\[\d{1,2}\])/).map((part) => {
    const note = notes.get(Number(/^\[(\d{1,2})\]$/.exec(part)?.[1]));
    return note === undefined ? { ...style, text: part } : { ...style, text: part, note };
  });
}

/** MathML of a formula in TeX; empty for one that can't be set. */
function mathml(source: string, displayMode: boolean): string {
  if (source.length > longestFormula) return "";
  try {
    return temml.renderToString(source, { displayMode, throwOnError: true, trust: false, maxExpand: 100, xml: true });
  } catch {
    // Incomplete, or nested deeper than the stack: its source is shown.
    return "";
  }
}
