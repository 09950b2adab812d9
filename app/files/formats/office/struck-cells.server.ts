import { type Element, elementsOf, firstIn, parseXml, treeOf } from "../../../process/text/xml.server.ts";
import type { Archive } from "../archive.server.ts";
import { Unreadable } from "../unreadable.server.ts";

// In characters of XML: the library has read a longer sheet already, and it is not read twice for what is struck out.
const readAtMost = 20_000_000;

/** Gives the addresses («B7») of the cells whose font is struck out, by the path of their sheet in an XLSX. */
export function struckCells(archive: Archive): (path: string) => Set<string> {
  const styles = struckStyles(archive.text("xl/styles.xml"));
  return (path) => (styles.size === 0 ? new Set() : cellsOf(styles, sheetXml(archive, path)));
}

function cellsOf(styles: Set<string>, xml: string): Set<string> {
  const cells = new Set<string>();
  parseXml(xml, {
    open(name, { r, s }) {
      if (name === "c" && r !== undefined && s !== undefined && styles.has(s)) cells.add(r);
    },
  });
  return cells;
}

/** The XML of a sheet; empty for one that is too large to be read twice. */
function sheetXml(archive: Archive, path: string): string {
  try {
    const xml = archive.text(path);
    return xml.length > readAtMost ? "" : xml;
  } catch (error) {
    if (error instanceof Unreadable) return "";
    throw error;
  }
}

/** The numbers of the formats of cells whose font is struck out. */
function struckStyles(xml: string): Set<string> {
  if (!/<(?:\w{1,20}:)?strike\b/.test(xml)) return new Set();
  const root = treeOf(xml);
  const fonts = childrenOf(root, "fonts").map((font) => {
    const strike = firstIn(font, "strike");
    return strike !== undefined && !/^(?:0|false)$/.test(strike.attributes.val ?? "1");
  });
  const formats = childrenOf(root, "cellXfs").map(({ attributes }) => fonts[Number(attributes.fontId)] === true);
  return new Set(formats.flatMap((isStruck, number) => (isStruck ? [String(number)] : [])));
}

function childrenOf(root: Element, name: string): Element[] {
  const found = firstIn(root, name);
  return found ? elementsOf(found) : [];
}
