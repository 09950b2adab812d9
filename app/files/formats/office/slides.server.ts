import {
  type Attributes,
  elementsIn,
  parseXml,
  TreeBuilder,
  textWithin,
  treeOf,
} from "../../../process/text/xml.server.ts";
import { type Archive, openArchive } from "../archive.server.ts";
import { formulaText } from "../math.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { damaged } from "../unreadable.server.ts";
import { chartRows, diagramLines } from "./drawings.server.ts";
import { type Relation, relationsOf } from "./parts.server.ts";

const what = "un PPTX";
const presentationPath = "ppt/presentation.xml";

/** The text of each slide of a PPTX, with its notes and comments, in the order in which they are shown. Throws Unreadable. */
export function slideTexts(bytes: Uint8Array): string[] {
  const archive = openArchive(bytes, what);
  const presentation = archive.text(presentationPath);
  if (presentation === undefined) throw damaged(what);
  const slides = new Map(relationsOf(archive, presentationPath).map(({ id, path }) => [id, path]));
  const writer = new TextWriter();
  for (const { attributes } of elementsIn(treeOf(presentation), "p:sldId")) {
    const path = slides.get(attributes["r:id"] ?? "");
    if (path !== undefined) writeSlide(writer, archive, path);
  }
  return writer.pages();
}

function writeSlide(writer: TextWriter, archive: Archive, path: string): void {
  const relations = relationsOf(archive, path);
  new Shapes(writer, archive, relations).write(archive.text(path) ?? "");
  for (const { kind, path: part } of relations) {
    if (kind === "notesSlide") {
      writer.paragraph("Notas: ");
      new Shapes(writer, archive, relationsOf(archive, part)).write(archive.text(part) ?? "");
    } else if (kind === "comments") {
      for (const comment of elementsIn(treeOf(archive.text(part) ?? ""), "p:text")) {
        writer.paragraph();
        writer.text(`[comentario: ${textWithin(comment).trim()}]`);
      }
    }
  }
  writer.page();
}

/** Writes the shapes of a slide or of its notes (ECMA-376, part 1, 19.3). */
class Shapes {
  readonly #writer: TextWriter;
  readonly #archive: Archive;
  readonly #relations: Relation[];
  #isTitle = false;
  #isNumber = false;
  #isText = false;
  #hidden = 0;
  #formula: TreeBuilder | undefined;

  constructor(writer: TextWriter, archive: Archive, relations: Relation[]) {
    this.#writer = writer;
    this.#archive = archive;
    this.#relations = relations;
  }

  write(xml: string): void {
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
        else if (this.#isText && !this.#isNumber && this.#hidden === 0) this.#writer.words(text);
      },
    });
  }

  #open(name: string, attributes: Attributes): void {
    const writer = this.#writer;
    if (name === "p:sp" || name === "p:graphicFrame") [this.#isTitle, this.#isNumber] = [false, false];
    else if (name === "p:ph") {
      this.#isTitle = attributes.type === "title" || attributes.type === "ctrTitle";
      this.#isNumber = attributes.type === "sldNum";
    } else if (name === "a:tr") writer.row();
    else if (name === "a:tc") writer.cell();
    else if (name === "a:p" && this.#isTitle) writer.heading(1);
    else if (name === "a:p" || name === "a:br") writer.line();
    else if (name === "a:t") this.#isText = true;
    else if (name === "m:oMath") this.#formula = new TreeBuilder(name);
    else if (name === "c:chart") this.#draw(attributes["r:id"], (path) => chartRows(this.#archive, path));
    else if (name === "dgm:relIds") {
      this.#draw(attributes["r:dm"], (path) => diagramLines(this.#archive, path).map((line) => [`- ${line}`]));
    }
  }

  #close(name: string): void {
    if (this.#formula) {
      if (name === "m:oMath") {
        this.#writer.words(` ${formulaText(this.#formula.root)} `);
        this.#formula = undefined;
      } else this.#formula.close();
    } else if (name === "a:t") this.#isText = false;
    else if (name === "a:tbl") this.#writer.endTable();
    else if (name === "p:sp" || name === "p:graphicFrame") {
      this.#isNumber = false;
      this.#writer.paragraph();
    }
  }

  #draw(id: string | undefined, rowsOf: (path: string) => string[][]): void {
    const part = this.#relations.find((relation) => relation.id === id);
    for (const row of part ? rowsOf(part.path) : []) {
      this.#writer.line();
      this.#writer.text(row.join(" | "));
    }
  }
}
