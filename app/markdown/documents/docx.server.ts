import {
  AlignmentType,
  BorderStyle,
  Document,
  ExternalHyperlink,
  FootnoteReferenceRun,
  HeadingLevel,
  ImageRun,
  Math as MathBlock,
  MathFraction,
  MathRadical,
  MathRun,
  MathSubScript,
  MathSubSuperScript,
  MathSuperScript,
  Packer,
  Paragraph,
  type ParagraphChild,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import { type Element, elementsOf, textWithin, treeOf } from "../../process/text/xml.server.ts";
import { blocksOf, type OfficeBlock, type OfficeRun } from "./blocks.server.ts";
import { fitted, type OfficeDocument, type OfficeImages } from "./office-document.server.ts";

const levels = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
] as const;
const monospace = "Liberation Mono";
// In twentieths of a point.
const indent = 400;
const grey = "666666";

/** A conversation as a DOCX: headings, lists, tables, code, formulas, and its sources as footnotes. */
export async function docxOf(
  { title, author, notice, turns }: OfficeDocument,
  images: OfficeImages = {},
): Promise<Uint8Array> {
  const notes: Record<string, { children: Paragraph[] }> = {};
  let noteCount = 0;
  const children: (Paragraph | Table)[] = [
    new Paragraph({ text: title, heading: HeadingLevel.TITLE }),
    ...(notice ? [new Paragraph({ children: [new TextRun({ text: notice, italics: true, color: grey })] })] : []),
  ];
  const noteOf = (text: string) => {
    notes[++noteCount] = { children: [new Paragraph(text)] };
    return noteCount;
  };
  for (const { who, when, ...said } of turns) {
    if (who !== null) children.push(new Paragraph({ text: `${who} (${when})`, heading: HeadingLevel.HEADING_2 }));
    // Headings of a message are below the heading with its author.
    const below = who === null ? 0 : 2;
    for (const block of blocksOf(said, images)) children.push(...drawn(block, noteOf, below));
  }
  const document = new Document({
    title,
    ...{ creator: author, lastModifiedBy: author },
    styles: { default: { document: { run: { language: { value: "es-ES" } } } } },
    footnotes: notes,
    sections: [{ children }],
  });
  return new Uint8Array(await Packer.toBuffer(document));
}

/** Keeps a note; returns its number. */
type NoteOf = (text: string) => number;

function drawn(block: OfficeBlock, noteOf: NoteOf, below: number): (Paragraph | Table)[] {
  switch (block.kind) {
    case "heading": {
      const heading = levels[Math.min(levels.length, block.level + below) - 1] ?? HeadingLevel.HEADING_6;
      return [new Paragraph({ heading, children: runs(block.runs, noteOf) })];
    }
    case "paragraph": {
      const { list, quote } = block;
      const left = indent * ((list ? list.level + 1 : 0) + quote);
      const mark = list?.mark ? [new TextRun(`${list.mark} `)] : [];
      const hanging = list?.mark ? indent / 2 : 0;
      const quoted = quote > 0 && { border: { left: { style: BorderStyle.SINGLE, size: 6, color: grey, space: 8 } } };
      const children = [...mark, ...runs(block.runs, noteOf)];
      return [new Paragraph({ children, indent: { left, hanging }, spacing: { after: 120 }, ...quoted })];
    }
    case "code":
      return block.text.split("\n").map(
        (line) =>
          new Paragraph({
            children: [new TextRun({ text: line, font: monospace, size: 18 })],
            shading: { fill: "F2F2F2" },
            indent: { left: indent / 2 },
          }),
      );
    case "image": {
      const altText = { name: "Dibujo", title: "Dibujo", description: block.label };
      const image = new ImageRun({ type: "png", data: block.png, transformation: fitted(block), altText });
      return [new Paragraph({ children: [image], spacing: { before: 120, after: 120 } })];
    }
    case "formula":
      return [new Paragraph({ alignment: AlignmentType.CENTER, children: [formula(block.source, block.mathml)] })];
    case "table":
      return [tableOf(block.rows, noteOf), new Paragraph("")];
    case "rule":
      return [new Paragraph({ thematicBreak: true })];
  }
}

function tableOf(rows: OfficeRun[][][], noteOf: NoteOf): Table {
  return new Table({
    width: { size: 100, type: WidthType.PERCENTAGE },
    rows: rows.map(
      (cells, index) =>
        new TableRow({
          tableHeader: index === 0,
          children: cells.map((cell) => new TableCell({ children: [new Paragraph({ children: runs(cell, noteOf) })] })),
        }),
    ),
  });
}

function runs(all: OfficeRun[], noteOf: NoteOf): ParagraphChild[] {
  return all.flatMap((run): ParagraphChild[] => {
    if (run.formula !== undefined) return [formula(run.text, run.formula)];
    if (run.note !== undefined) return [new FootnoteReferenceRun(noteOf(run.note))];
    const styled = run.text.split("\n").map(
      (text, line) =>
        new TextRun({
          text,
          bold: run.bold ?? false,
          italics: run.italic ?? false,
          strike: run.strike ?? false,
          ...(line > 0 && { break: 1 }),
          ...(run.code && { font: monospace }),
          ...(run.link && { style: "Hyperlink" }),
        }),
    );
    return run.link ? [new ExternalHyperlink({ link: run.link, children: styled })] : styled;
  });
}

/** A formula of Word; its source where it could not be set. */
function formula(source: string, mathml: string): ParagraphChild {
  const tree = mathml ? treeOf(mathml) : undefined;
  return tree ? new MathBlock({ children: parts(tree) }) : new TextRun({ text: source, font: monospace });
}

type MathPart = ConstructorParameters<typeof MathBlock>[0]["children"][number];

function parts(element: Element): MathPart[] {
  const inside = elementsOf(element);
  const at = (index: number) => {
    const part = inside[index];
    return part ? parts(part) : [];
  };
  switch (element.name) {
    case "mfrac":
      return [new MathFraction({ numerator: at(0), denominator: at(1) })];
    case "msup":
    case "mover":
      return [new MathSuperScript({ children: at(0), superScript: at(1) })];
    case "msub":
    case "munder":
      return [new MathSubScript({ children: at(0), subScript: at(1) })];
    case "msubsup":
    case "munderover":
      return [new MathSubSuperScript({ children: at(0), subScript: at(1), superScript: at(2) })];
    case "msqrt":
      return [new MathRadical({ children: inside.flatMap(parts) })];
    case "mroot":
      return [new MathRadical({ children: at(0), degree: at(1) })];
    case "mi":
    case "mn":
    case "mo":
    case "mtext":
      return [new MathRun(textWithin(element))];
    case "annotation":
      return [];
    default:
      return inside.flatMap(parts);
  }
}
