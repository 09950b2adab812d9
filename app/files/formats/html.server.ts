import { Parser } from "htmlparser2";
import { TreeBuilder } from "../../process/text/xml.server.ts";
import { formulaText, superscript } from "./math.server.ts";
import { TextWriter } from "./text-writer.server.ts";

// Elements that are not read: programs, decoration, and navigation.
const unread = new Set([
  ...["script", "style", "noscript", "template", "iframe", "object", "select", "nav"],
  ...["metadata", "defs", "desc", "rt", "rp"],
]);
const blocks = new Set(
  "p div section article main header footer aside address blockquote figure figcaption dl dt dd ul ol form fieldset details summary hr text".split(
    " ",
  ),
);

/** The text of an HTML page, with its headings, lists and tables. */
export function htmlText(html: string): string {
  const writer = new TextWriter();
  let hidden = 0;
  let verbatim = 0;
  let isRaised = false;
  /** Number of the next item of each open list; undefined for lists without numbers. */
  const lists: (number | undefined)[] = [];
  let formula: TreeBuilder | undefined;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (unread.has(name)) hidden++;
        if (hidden > 0) return;
        if (formula) return formula.open(name, attributes);
        const { alt } = attributes;
        if (name === "math") formula = new TreeBuilder(name);
        else if (name === "sup") isRaised = true;
        const level = /^h([1-6])$/.exec(name)?.[1];
        if (level) writer.heading(Number(level));
        else if (name === "li") writer.line(itemMark(lists, attributes.value));
        else if (name === "br") writer.line();
        else if (name === "tr") writer.row();
        else if (name === "td" || name === "th") writer.cell();
        else if (name === "pre" || name === "textarea") {
          verbatim++;
          writer.paragraph();
        } else if (blocks.has(name)) writer.paragraph();
        else if (name === "img" && alt) writer.words(` ${alt} `);
        if (name === "ol") lists.push(Number.parseInt(attributes.start ?? "1", 10) || 1);
        else if (name === "ul") lists.push(undefined);
      },
      onclosetag(name) {
        if (unread.has(name)) hidden = Math.max(0, hidden - 1);
        if (hidden > 0) return;
        if (formula && name === "math") {
          writer.words(` ${formulaText(formula.root)} `);
          formula = undefined;
        }
        if (formula) return formula.close();
        if (name === "table") writer.endTable();
        else if (name === "sup") isRaised = false;
        else if (name === "pre" || name === "textarea") verbatim = Math.max(0, verbatim - 1);
        if (name === "ol" || name === "ul") lists.pop();
        // After a list within an item, the item's own next line is begun by itself.
        if (/^h[1-6]$/.test(name) || (blocks.has(name) && ((name !== "ul" && name !== "ol") || lists.length === 0)))
          writer.line();
      },
      ontext(text) {
        if (hidden > 0) return;
        if (formula) formula.text(text);
        else if (verbatim > 0) writer.text(text);
        else writer.words(isRaised ? superscript(text) : text);
      },
    },
    // Without this option, <script/> would hide the rest of a page.
    { recognizeSelfClosing: true },
  );
  parser.end(html);
  return writer.toString();
}

/** Mark of the next item of the innermost list; `value`: its own number, if it has one. */
function itemMark(lists: (number | undefined)[], value: string | undefined): string {
  const next = lists.at(-1);
  if (next === undefined) return "- ";
  const own = Number.parseInt(value ?? "", 10);
  const number = Number.isNaN(own) ? next : own;
  lists[lists.length - 1] = number + 1;
  return `${number}. `;
}
