import { Parser } from "htmlparser2";
import { type Archive, openArchive } from "../archive.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { damaged, withPassword } from "../unreadable.server.ts";

// Deleted, commented or repeated text.
const unread = new Set([
  "text:tracked-changes",
  "office:annotation",
  "text:alphabetical-index",
  "text:table-of-content",
]);

/** Refuses an OpenDocument file that is encrypted: its list of parts says so (OpenDocument 1.3, part 2, 4.8). Throws Unreadable. */
export function refuseEncrypted(archive: Archive): void {
  if (archive.text("META-INF/manifest.xml")?.includes("encryption-data")) throw withPassword();
}

/** The text of an ODT; of an ODP, that of each slide. Throws Unreadable. */
export function openDocumentPages(bytes: Uint8Array, what: string): string[] {
  const archive = openArchive(bytes, what);
  refuseEncrypted(archive);
  const content = archive.text("content.xml");
  if (content === undefined) throw damaged(what);
  const writer = new TextWriter();
  const items: boolean[] = [];
  let hidden = 0;
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (unread.has(name)) hidden++;
        if (hidden > 0) return;
        if (name === "text:h" || name === "text:p") depth++;
        if (name === "text:h") writer.heading(Number(attributes["text:outline-level"] ?? 1));
        else if (name === "text:p") writer.paragraph(items.at(-1) ? "- " : "");
        else if (name === "text:list-item") items.push(true);
        else if (name === "table:table-row") writer.row();
        else if (name === "table:table-cell") writer.cell();
        else if (name === "text:s") writer.text(" ".repeat(Math.min(100, Number(attributes["text:c"] ?? 1))));
        else if (name === "text:tab") writer.text(" ");
        else if (name === "text:line-break") writer.line();
        else if (name === "presentation:notes") writer.paragraph("Notas: ");
      },
      onclosetag(name) {
        if (unread.has(name)) hidden--;
        if (hidden > 0) return;
        if (name === "text:h" || name === "text:p") depth--;
        if (name === "text:p" && items.length > 0) items[items.length - 1] = false;
        else if (name === "text:list-item") items.pop();
        else if (name === "table:table") writer.endTable();
        else if (name === "draw:page") writer.page();
      },
      ontext(text) {
        if (hidden === 0 && depth > 0) writer.words(text);
      },
    },
    { xmlMode: true },
  );
  parser.end(content);
  return writer.pages();
}
