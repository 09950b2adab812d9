import {
  type Attributes,
  elementsIn,
  elementsOf,
  firstIn,
  parseXml,
  TreeBuilder,
  textWithin,
  treeOf,
} from "../../../process/text/xml.server.ts";
import { type Archive, openArchive } from "../archive.server.ts";
import { formulaText, superscript } from "../math.server.ts";
import { symbolSign } from "../symbol-font.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { damaged } from "../unreadable.server.ts";
import { chartRows, diagramLines, wordsIn } from "./drawings.server.ts";
import { Links } from "./links.server.ts";
import { formatted } from "./numbering.server.ts";
import { allRelationsOf, type Relation, type Relations, relationsOf } from "./parts.server.ts";
import { type Box, type Shape, writeShapes } from "./shape-order.server.ts";

const what = "un PPTX";
const presentationPath = "ppt/presentation.xml";

/** The text of each slide of a PPTX, with its notes and comments, in the order in which they are shown. Throws Unreadable. */
export function slideTexts(bytes: Uint8Array): string[] {
  const archive = openArchive(bytes, what);
  const presentation = archive.text(presentationPath);
  if (!archive.names.includes(presentationPath)) throw damaged(what);
  const parts = relationsOf(archive, presentationPath);
  const slides = new Map(parts.map(({ id, path }) => [id, path]));
  const authorParts = parts.filter(({ kind }) => kind === "commentAuthors" || kind === "authors");
  const authors = new Map(authorParts.flatMap(({ path }) => authorsIn(archive.text(path))));
  const writer = new TextWriter();
  for (const { attributes } of elementsIn(treeOf(presentation), "p:sldId")) {
    const path = slides.get(attributes["r:id"] ?? "");
    if (path !== undefined) writeSlide(writer, archive, path, authors);
  }
  return writer.pages();
}

/** Names of those who have commented, by their ids; comments are written in one way until 2021 and in another since. */
function authorsIn(xml = ""): [id: string, name: string][] {
  const tree = treeOf(xml);
  const authors = [...elementsIn(tree, "p:cmAuthor"), ...elementsIn(tree, "p188:author")];
  return authors.map(({ attributes: { id = "", name = "" } }) => [id, name.trim()]);
}

/** Comments and their answers in the order in which they stand: the ids of their authors and what they say. */
function commentsIn(xml = ""): { authorId: string; text: string }[] {
  const tree = treeOf(xml);
  const older = [...elementsIn(tree, "p:cm")].map((comment) => ({
    authorId: comment.attributes.authorId ?? "",
    text: [...elementsIn(comment, "p:text")].map(textWithin).join(" ").trim(),
  }));
  const newer = [...elementsIn(tree, "p188:cm")].flatMap((comment) =>
    [comment, ...elementsIn(comment, "p188:reply")].map((one) => ({
      authorId: one.attributes.authorId ?? "",
      text: elementsOf(one)
        .filter(({ name }) => name === "p188:txBody")
        .map(wordsIn)
        .join(" "),
    })),
  );
  return [...older, ...newer];
}

function writeSlide(writer: TextWriter, archive: Archive, path: string, authors: Map<string, string>): void {
  const all = allRelationsOf(archive, path);
  const { relations } = all;
  const layout = relations.find(({ kind }) => kind === "slideLayout");
  const places = placesIn(layout && archive.text(layout.path));
  writeShapes(writer, new Shapes(archive, all, places).read(archive.text(path)));
  for (const { kind, path: part } of relations) {
    if (kind === "notesSlide") {
      const shapes = new Shapes(archive, allRelationsOf(archive, part), new Map()).read(archive.text(part));
      const said = shapes.map(({ text }) => text).filter(Boolean);
      if (said.length > 0) {
        writer.paragraph();
        writer.text(`Notas: ${said.join("\n")}`);
      }
    } else if (kind === "comments") {
      for (const { authorId, text } of commentsIn(archive.text(part))) {
        const author = authors.get(authorId);
        writer.paragraph();
        writer.text(`[comentario${author ? ` de ${author}` : ""}: ${text}]`);
      }
    }
  }
  writer.page();
}

// Bounds of the format for the levels of a list, and for the number that a list begins with.
const levelsAtMost = 9;
const startAtMost = 32_767;
const wholeIn = (written: string | undefined, least: number, most: number): number | undefined => {
  const number = Number(written);
  return written !== undefined && Number.isInteger(number) && number >= least && number <= most ? number : undefined;
};
const signsAfter: Record<string, string> = { ParenBoth: ")", ParenR: ")", Period: ".", Minus: " -" };
const numberFormats: Record<string, string> = {
  alphaLc: "lowerLetter",
  alphaUc: "upperLetter",
  romanLc: "lowerRoman",
  romanUc: "upperRoman",
};

/** Kind and number of a placeholder: a slide's stands where that of its layout does, if the slide says no place. */
const placeholderOf = ({ type, idx }: Attributes) => `${type === "ctrTitle" ? "title" : (type ?? "")} ${idx ?? ""}`;

function placesIn(layout = ""): Map<string, Box> {
  const places = new Map<string, Box>();
  for (const shape of elementsIn(treeOf(layout), "p:sp")) {
    const [placeholder, at, size] = ["p:ph", "a:off", "a:ext"].map((name) => firstIn(shape, name)?.attributes);
    if (placeholder && at && size) places.set(placeholderOf(placeholder), boxOf(at, size));
  }
  return places;
}

const boxOf = ({ x, y }: Attributes, { cx, cy }: Attributes): Box => ({
  ...{ x: Number(x) || 0, y: Number(y) || 0 },
  ...{ width: Number(cx) || 0, height: Number(cy) || 0 },
});

const shapeElements = new Set(["p:sp", "p:graphicFrame", "p:pic", "p:cxnSp"]);
const groupsDeep = 20;

/** Reads the shapes of a slide or of its notes (ECMA-376, part 1, 19.3). */
class Shapes {
  #writer = new TextWriter();
  readonly #archive: Archive;
  readonly #relations: Relation[];
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #links = new Links();
  readonly #places: Map<string, Box>;
  /** The shapes that have been read, and the open groups, the innermost last. */
  readonly #groups: Shape[] = [{ box: undefined, text: "", within: [] }];
  #box: Box | undefined;
  #placeholder: string | undefined;
  /** Numbers of the last items of the lists that are open, by level. */
  #counts: number[] = [];
  #level = 0;
  #isTitle = false;
  #isNumber = false;
  #isText = false;
  /** Whether the properties of a run are open: shapes have links, too. */
  #isRunProperties = false;
  #isRaised = false;
  #isStruck = false;
  #isSymbol = false;
  #hidden = 0;
  #formula: TreeBuilder | undefined;

  constructor(archive: Archive, { relations, addresses }: Relations, places: Map<string, Box>) {
    this.#archive = archive;
    this.#relations = relations;
    this.#addresses = addresses;
    this.#places = places;
  }

  read(xml: string): Shape[] {
    parseXml(xml, {
      open: (name, attributes) => {
        // A copy for older programs.
        if (name === "mc:Fallback") this.#hidden++;
        if (this.#hidden > 0) return;
        if (this.#formula) this.#formula.open(name, attributes);
        else this.#open(name, attributes);
      },
      close: (name) => {
        if (name === "mc:Fallback") this.#hidden--;
        else if (this.#hidden === 0) this.#close(name);
      },
      text: (text) => {
        if (this.#formula) this.#formula.text(text);
        else if (this.#isText && !this.#isNumber && this.#hidden === 0) this.#words(text);
      },
    });
    return this.#groups[0]?.within ?? [];
  }

  #open(name: string, attributes: Attributes): void {
    const writer = this.#writer;
    if (shapeElements.has(name)) {
      [this.#isTitle, this.#isNumber] = [false, false];
      [this.#box, this.#placeholder] = [undefined, undefined];
      this.#counts = [];
      this.#writer = new TextWriter();
    } else if (name === "p:grpSp" && this.#groups.length < groupsDeep) {
      this.#groups.push({ box: undefined, text: "", within: [] });
      this.#box = undefined;
    } else if (name === "a:off") this.#box ??= boxOf(attributes, {});
    else if (name === "a:ext" && attributes.cx !== undefined) {
      if (this.#box?.width === 0) this.#box = { ...boxOf({}, attributes), x: this.#box.x, y: this.#box.y };
    } else if (name === "p:grpSpPr") this.#box = undefined;
    else if (name === "p:ph") {
      this.#placeholder = placeholderOf(attributes);
      this.#isTitle = attributes.type === "title" || attributes.type === "ctrTitle";
      this.#isNumber = attributes.type === "sldNum";
    } else if (name === "a:tr") writer.row();
    else if (name === "a:tc") writer.cell();
    else if (name === "a:p" && this.#isTitle) writer.heading(1);
    else if (name === "a:p" || name === "a:br") {
      this.#endLink();
      writer.line();
    } else if (name === "a:pPr") this.#level = wholeIn(attributes.lvl, 0, levelsAtMost - 1) ?? 0;
    else if (name === "a:buAutoNum") writer.mark(this.#nextNumber(attributes));
    else if (name === "a:r") [this.#isRaised, this.#isSymbol, this.#isStruck] = [false, false, false];
    else if (name === "a:hlinkClick" && this.#isRunProperties)
      this.#links.lead(this.#addresses.get(attributes["r:id"] ?? ""));
    else if (name === "a:sym" || name === "a:latin") this.#isSymbol ||= attributes.typeface === "Symbol";
    else if (name === "a:rPr") {
      this.#isRunProperties = true;
      this.#isRaised = Number(attributes.baseline ?? 0) > 0;
      this.#isStruck = /^(?:sng|dbl)Strike$/.test(attributes.strike ?? "");
    } else if (name === "a:t") this.#isText = true;
    else if (name === "m:oMath") {
      this.#endLink();
      this.#formula = new TreeBuilder(name);
    } else if (name === "c:chart") this.#draw(attributes["r:id"], (path) => chartRows(this.#archive, path));
    else if (name === "dgm:relIds") {
      this.#draw(attributes["r:dm"], (path) => diagramLines(this.#archive, path).map((line) => [line]));
    }
  }

  /** Writes the address of a link whose words have ended. */
  #endLink(): void {
    this.#writer.words(this.#links.before(""));
  }

  #words(text: string): void {
    const read = this.#isSymbol ? text.replace(/[\uf020-\uf0ff]/g, (sign) => symbolSign(sign.charCodeAt(0))) : text;
    this.#writer.words(this.#links.before(read));
    this.#writer.strike(this.#isStruck);
    this.#writer.words(this.#isRaised ? superscript(read) : read);
  }

  /** The number of an item as its list writes it, such as «2.» or «b)» (ECMA-376, part 1, 20.1.10.61). */
  #nextNumber({ type = "", startAt }: Attributes): string {
    const [, format = "arabic", signs = "Period"] =
      /^([a-zA-Z]+?)(ParenBoth|ParenR|Period|Plain|Minus)$/.exec(type) ?? [];
    this.#counts.length = Math.min(this.#counts.length, this.#level + 1);
    const count = (this.#counts[this.#level] ?? (wholeIn(startAt, 1, startAtMost) ?? 1) - 1) + 1;
    this.#counts[this.#level] = count;
    const number = formatted(count, numberFormats[format] ?? "decimal");
    return `${signs === "ParenBoth" ? "(" : ""}${number}${signsAfter[signs] ?? ""}`;
  }

  #close(name: string): void {
    if (this.#formula) {
      if (name === "m:oMath") {
        this.#writer.words(` ${formulaText(this.#formula.root)} `);
        this.#formula = undefined;
      } else this.#formula.close();
    } else if (name === "a:t") this.#isText = false;
    else if (name === "a:rPr") this.#isRunProperties = false;
    else if (name === "a:r" || name === "a:fld") this.#links.lead(undefined);
    else if (name === "a:p") {
      this.#writer.strike(false);
      this.#endLink();
    } else if (name === "a:tbl") this.#writer.endTable();
    else if (name === "p:grpSpPr") this.#setPlaceOfGroup();
    else if (name === "p:grpSp") this.#endGroup();
    else if (shapeElements.has(name)) {
      this.#isNumber = false;
      const box = this.#box ?? this.#places.get(this.#placeholder ?? "");
      this.#groups.at(-1)?.within.push({ box, text: this.#writer.toString(), within: [] });
    }
  }

  #setPlaceOfGroup(): void {
    const group = this.#groups.at(-1);
    if (group && this.#groups.length > 1) group.box = this.#box;
  }

  #endGroup(): void {
    const group = this.#groups.length > 1 ? this.#groups.pop() : undefined;
    if (group) this.#groups.at(-1)?.within.push(group);
  }

  #draw(id: string | undefined, rowsOf: (path: string) => string[][]): void {
    const part = this.#relations.find((relation) => relation.id === id);
    for (const row of part ? rowsOf(part.path) : []) {
      this.#writer.line();
      this.#writer.text(row.join(" | "));
    }
  }
}
