import { Parser } from "htmlparser2";
import { type Archive, openArchive } from "../archive.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { damaged } from "../unreadable.server.ts";

const what = "un PPTX";

/** The text of each slide of a PPTX, with its notes, in the order in which they are shown. Throws Unreadable. */
export function slideTexts(bytes: Uint8Array): string[] {
  const archive = openArchive(bytes, what);
  const presentation = archive.text("ppt/presentation.xml");
  if (presentation === undefined) throw damaged(what);
  const targets = relations(archive, "ppt/presentation.xml");
  const order = [...presentation.matchAll(/<p:sldId\b[^>]*\br:id="([^"]+)"/g)].flatMap(
    ([, id = ""]) => targets.get(id) ?? [],
  );
  const writer = new TextWriter();
  for (const path of order) {
    writeShapes(writer, archive.text(path) ?? "");
    const notes = [...relations(archive, path).values()].find((one) => one.includes("notesSlide"));
    if (notes) {
      writer.paragraph("Notas: ");
      writeShapes(writer, archive.text(notes) ?? "");
    }
    writer.page();
  }
  return writer.pages();
}

/** Paths of the parts that a part names by an id (ECMA-376, part 2). */
function relations(archive: Archive, part: string): Map<string, string> {
  const [, folder = "", name = ""] = /^(.*\/)([^/]+)$/.exec(part) ?? [];
  const found = new Map<string, string>();
  const parser = new Parser(
    {
      onopentag(tag, { Id, Target, TargetMode }) {
        if (tag !== "Relationship" || !Id || !Target || TargetMode === "External") return;
        found.set(Id, new URL(Target, `file:///${folder}`).pathname.slice(1));
      },
    },
    { xmlMode: true },
  );
  parser.end(archive.text(`${folder}_rels/${name}.rels`) ?? "");
  return found;
}

function writeShapes(writer: TextWriter, xml: string): void {
  let isTitle = false;
  let isNumber = false;
  let isText = false;
  const parser = new Parser(
    {
      onopentag(name, { type }) {
        if (name === "p:sp") [isTitle, isNumber] = [false, false];
        else if (name === "p:ph") {
          isTitle = type === "title" || type === "ctrTitle";
          isNumber = type === "sldNum";
        } else if (name === "a:tr") writer.row();
        else if (name === "a:tc") writer.cell();
        else if (name === "a:p" && isTitle) writer.heading(1);
        else if (name === "a:p") writer.line();
        else if (name === "a:br") writer.line();
        else if (name === "a:t") isText = true;
      },
      onclosetag(name) {
        if (name === "a:t") isText = false;
        else if (name === "a:tbl") writer.endTable();
        else if (name === "p:sp") writer.paragraph();
      },
      ontext(text) {
        if (isText && !isNumber) writer.words(text);
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
}
