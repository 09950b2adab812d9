import { Parser } from "htmlparser2";
import { declaredText } from "../../process/text/decoding/plain.server.ts";
import { elementsIn, firstIn, textWithin, treeOf } from "../../process/text/xml.server.ts";
import { openArchive } from "./archive.server.ts";
import { htmlText } from "./html.server.ts";
import { partPath } from "./office/parts.server.ts";
import { damaged, Unreadable } from "./unreadable.server.ts";

const what = "un EPUB";

// Of a chapter's file: its name, or the book's again. Shown by no reader.
const title = /<title>[^<]{0,1000}<\/title>/i;

/** The text of an EPUB, chapter after chapter. Throws Unreadable. */
export function bookText(bytes: Uint8Array): string {
  const archive = openArchive(bytes, what);
  if (/\.x?html/i.test(archive.text("META-INF/encryption.xml"))) {
    throw new Unreadable("está protegido contra copia (DRM), y así no se puede leer.");
  }
  const [, packagePath = ""] = /full-path=["']([^"']+)["']/.exec(archive.text("META-INF/container.xml")) ?? [];
  const packageText = archive.text(packagePath);
  if (!archive.names.includes(packagePath)) throw damaged(what);
  const names = new Map(archive.names.map((name) => [name.normalize(), name]));
  const spine = spineOf(packageText);
  const found = spine.flatMap((href) => {
    // Some archives have the very signs of the address as the name.
    const paths = [partPath(href, packagePath), partPath(href.replaceAll("%", "%25"), packagePath)];
    const path = paths.flatMap((one) => names.get(one?.normalize() ?? "") ?? []).at(0);
    return path === undefined ? [] : [archive.read(path)];
  });
  if (spine.length > 0 && found.length === 0) throw damaged(what);
  const chapters = found.flatMap((chapter) =>
    chapter?.length ? [htmlText(declaredText(chapter).replace(title, ""))] : [],
  );
  return [...aboutIt(packageText), ...chapters].filter(Boolean).join("\n\n");
}

/** Title and authors (EPUB 3.3, 5.5.3). */
function aboutIt(packageText: string): string[] {
  const about = firstIn(treeOf(packageText), "metadata");
  const said = (name: string) =>
    about ? [...elementsIn(about, `dc:${name}`)].map((one) => textWithin(one).replace(/\s+/g, " ").trim()) : [];
  const [title] = said("title");
  const authors = said("creator").filter(Boolean).join(", ");
  return [title ? `# ${title}` : "", authors && `De: ${authors}`];
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
