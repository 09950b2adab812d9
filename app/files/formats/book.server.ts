import { Parser } from "htmlparser2";
import { openArchive } from "./archive.server.ts";
import { htmlText } from "./html.server.ts";
import { damaged, Unreadable } from "./unreadable.server.ts";

const what = "un EPUB";

/** The text of an EPUB, chapter after chapter. Throws Unreadable. */
export function bookText(bytes: Uint8Array): string {
  const archive = openArchive(bytes, what);
  if (/\.x?html/i.test(archive.text("META-INF/encryption.xml") ?? "")) {
    throw new Unreadable("está protegido contra copia (DRM), y así no se puede leer.");
  }
  const [, packagePath = ""] = /full-path="([^"]+)"/.exec(archive.text("META-INF/container.xml") ?? "") ?? [];
  const packageText = archive.text(packagePath);
  if (packageText === undefined) throw damaged(what);
  const chapters = spineOf(packageText).flatMap((href) => {
    const path = decodeURIComponent(new URL(href, `file:///${encodeURI(packagePath)}`).pathname.slice(1));
    const text = archive.text(path);
    return text === undefined ? [] : [htmlText(text)];
  });
  return chapters.filter(Boolean).join("\n\n");
}

/** The addresses of the chapters, in the order in which they are read (EPUB 3.3, 5.7). */
function spineOf(packageText: string): string[] {
  const items = new Map<string, string>();
  const order: string[] = [];
  const parser = new Parser(
    {
      onopentag(name, { id, href, idref }) {
        if (/(^|:)item$/.test(name) && id && href) items.set(id, href);
        if (/(^|:)itemref$/.test(name) && idref) order.push(idref);
      },
    },
    { xmlMode: true },
  );
  parser.end(packageText);
  return order.flatMap((id) => items.get(id) ?? []);
}
