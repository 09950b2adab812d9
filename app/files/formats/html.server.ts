import { Parser } from "htmlparser2";
import { TreeBuilder } from "../../process/text/xml.server.ts";
import { formulaText } from "./math.server.ts";
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
  let formula: TreeBuilder | undefined;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (unread.has(name)) hidden++;
        if (hidden > 0) return;
        if (formula) return formula.open(name, attributes);
        const { alt } = attributes;
        if (name === "math") formula = new TreeBuilder(name);
        const level = /^h([1-6])$/.exec(name)?.[1];
        if (level) writer.heading(Number(level));
        else if (name === "li") writer.line("- ");
        else if (name === "br") writer.line();
        else if (name === "tr") writer.row();
        else if (name === "td" || name === "th") writer.cell();
        else if (name === "pre" || name === "textarea") {
          verbatim++;
          writer.paragraph();
        } else if (blocks.has(name)) writer.paragraph();
        else if (name === "img" && alt) writer.words(` ${alt} `);
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
        else if (name === "pre" || name === "textarea") verbatim = Math.max(0, verbatim - 1);
        if (/^h[1-6]$/.test(name) || (blocks.has(name) && name !== "ul" && name !== "ol")) writer.line();
      },
      ontext(text) {
        if (hidden > 0) return;
        if (formula) formula.text(text);
        else if (verbatim > 0) writer.text(text);
        else writer.words(text);
      },
    },
    // Without this option, <script/> would hide the rest of a page.
    { recognizeSelfClosing: true },
  );
  parser.end(html);
  return writer.toString();
}
