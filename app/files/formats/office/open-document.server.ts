import { type Archive, openArchive } from "../archive.server.ts";
import { isTelling } from "../text-writer.server.ts";
import { damaged, withPassword } from "../unreadable.server.ts";
import { OpenDocumentPart } from "./open-document-part.server.ts";
import { stylesIn } from "./open-document-styles.server.ts";

/** Refuses an OpenDocument file that is encrypted: its list of parts says so (OpenDocument 1.3, part 2, 4.8). Throws Unreadable. */
export function refuseEncrypted(archive: Archive): void {
  if (archive.text("META-INF/manifest.xml").includes("encryption-data")) throw withPassword();
}

/** The text of an ODT, or the text of each slide of an ODP. Throws Unreadable. */
export function openDocumentPages(bytes: Uint8Array, what: string): string[] {
  const archive = openArchive(bytes, what);
  refuseEncrypted(archive);
  const content = archive.text("content.xml");
  if (!archive.names.includes("content.xml")) throw damaged(what);
  const styles = archive.text("styles.xml");
  const own = stylesIn([styles, content]);
  const read = (xml: string) => new OpenDocumentPart(archive, own).pagesOf(xml);
  const pages = read(content);
  const aside = (name: string) => [...new Set(asidesIn(styles, name).flatMap(read))].filter(isTelling);
  const [first = "", ...others] = pages;
  const withHeader = [[...aside("header"), first].filter(Boolean).join("\n\n"), ...others];
  const footer = aside("footer").join("\n\n");
  if (!footer) return withHeader;
  return [...withHeader.slice(0, -1), [withHeader.at(-1), footer].filter(Boolean).join("\n\n")];
}

// Headers or footers of all kinds of pages: no document has more.
const asidesAtMost = 50;

/** Headers or footers of all kinds of pages. */
function asidesIn(styles: string, name: string): string[] {
  const found: string[] = [];
  const pattern = new RegExp(`<style:(${name}(?:-left|-first)?)(?:\\s[^>]*[^/])?>`, "g");
  for (let start = pattern.exec(styles); start && found.length < asidesAtMost; start = pattern.exec(styles)) {
    const end = styles.indexOf(`</style:${start[1]}>`, start.index);
    if (end < 0) break;
    found.push(`<office:text>${styles.slice(start.index + start[0].length, end)}</office:text>`);
    pattern.lastIndex = end;
  }
  return found;
}
