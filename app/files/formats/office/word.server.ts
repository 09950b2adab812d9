import { declaredText } from "../../../process/text/decoding/plain.server.ts";
import { type Archive, openArchive } from "../archive.server.ts";
import { htmlText } from "../html.server.ts";
import { parseMail } from "../mail.server.ts";
import { isTelling } from "../text-writer.server.ts";
import { damaged } from "../unreadable.server.ts";
import { Numbering, numberingRules } from "./numbering.server.ts";
import { allRelationsOf, type Relation, relationsOf } from "./parts.server.ts";
import { type Note, WordPart } from "./word-part.server.ts";
import { stylesIn } from "./word-styles.server.ts";

const what = "un DOCX";

/** The text of a DOCX: headers once, headings, numbers, tables, notes and comments where they are called. Throws Unreadable. */
export async function wordText(bytes: Buffer): Promise<string> {
  const archive = openArchive(bytes, what);
  const main = relationsOf(archive, "").find(({ kind }) => kind === "officeDocument")?.path ?? "word/document.xml";
  const xml = archive.text(main);
  if (!archive.names.includes(main)) throw damaged(what);
  const relations = relationsOf(archive, main);
  const textOf = (kind: string) => {
    const part = relations.find((relation) => relation.kind === kind);
    return part && archive.text(part.path);
  };
  const document = {
    archive,
    styles: stylesIn(textOf("styles")),
    numbering: new Numbering(numberingRules(textOf("numbering"))),
    notes: new Map<string, Note>(),
    chunks: await chunksOf(archive, relations),
  };
  const partOf = (path: string) => new WordPart(document, allRelationsOf(archive, path));
  for (const [kind, element] of noteParts) {
    for (const part of relations.filter((relation) => relation.kind === kind)) {
      const notes = partOf(part.path).notesIn(archive.text(part.path), element);
      for (const [id, note] of notes) document.notes.set(`${element} ${id}`, note);
    }
  }
  const read = (part: string, text: string) => partOf(part).textOf(text);
  const aside = (kind: string) => asides(archive, relations, kind, read);
  return [...aside("header"), read(main, xml), ...aside("footer")].filter(Boolean).join("\n\n");
}

/** Texts of the files in HTML, MHTML or plain text that the document shows as parts of itself. */
async function chunksOf(archive: Archive, relations: Relation[]): Promise<Map<string, string>> {
  const chunks = new Map<string, string>();
  for (const { path } of relations.filter(({ kind }) => kind === "aFChunk")) {
    const bytes = Buffer.from(archive.read(path) ?? []);
    const mail = /^(?:MIME-Version|Content-Type|From):/i.test(bytes.toString("latin1").trimStart())
      ? await parseMail(bytes).catch(() => undefined)
      : undefined;
    const html = mail ? (mail.html ?? mail.text ?? "") : declaredText(bytes);
    chunks.set(path, /\.txt$/i.test(path) ? html : htmlText(html));
  }
  return chunks;
}

const noteParts = [
  ["footnotes", "w:footnote"],
  ["endnotes", "w:endnote"],
  ["comments", "w:comment"],
] as const;

/** Headers or footers, each once, though it stands on every page. */
function asides(
  archive: Archive,
  relations: Relation[],
  kind: string,
  read: (part: string, text: string) => string,
): string[] {
  const texts = relations
    .filter((relation) => relation.kind === kind)
    .map(({ path }) => read(path, archive.text(path)));
  return [...new Set(texts)].filter(isTelling);
}
