import type { CellObject, Comments, WorkSheet } from "@e965/xlsx";
import { strToU8, zipSync } from "fflate";
import { elementsIn, firstIn, textWithin, treeOf } from "../../../process/text/xml.server.ts";
import { type Archive, openArchive } from "../archive.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { damaged, withPassword } from "../unreadable.server.ts";
import { cellWriter } from "./cells.server.ts";
import { chartRows, objectRows, wordsIn } from "./drawings.server.ts";
import { refuseEncrypted } from "./open-document.server.ts";
import { type Relation, relationsOf } from "./parts.server.ts";
import { struckCells } from "./struck-cells.server.ts";

const what = "una hoja de cálculo";
// Limits of each sheet: a larger table is no text to be read.
const rowsAtMost = 20_000;
const columnsAtMost = 1_000;
// Rows into which the texts of merged cells are written.
const mergedAtMost = 100_000;
const count = new Intl.NumberFormat("es", { useGrouping: "always" });

type Row = (CellObject | undefined)[];

/** The sheets of an XLSX, ODS or XLS as one text: a heading for each, a line for each row, then what is drawn on it. Throws Unreadable. */
export async function sheetsText(bytes: Buffer, room: number): Promise<string> {
  const isArchive = bytes.subarray(0, 2).toString("latin1") === "PK";
  const archive = isArchive ? openArchive(bytes, what) : undefined;
  if (archive) refuseEncrypted(archive);
  const { read, SSF, utils } = await import("@e965/xlsx");
  const book = orRefuse(() =>
    read(archive ? withStyles(archive, bytes) : bytes, {
      type: "buffer",
      dense: true,
      cellNF: true,
      sheetRows: rowsAtMost,
      sheetStubs: true,
    }),
  );
  const writeCell = cellWriter(SSF.format, book.Workbook?.WBProps?.date1904 === true);
  const paths = archive ? sheetPaths(archive) : [];
  const drawn = archive && drawnOn(archive, paths);
  const struckIn = archive && struckCells(archive);
  const writer = new TextWriter();
  let written = 0;
  for (const [index, name] of book.SheetNames.entries()) {
    const sheet = book.Sheets[name];
    if (!sheet) continue;
    repeatMerged(sheet);
    const path = paths[index];
    const struck = path === undefined ? undefined : struckIn?.(path);
    const rows = rowsOf(sheet, (cell, r, c) => {
      const text = writeCell(cell);
      return text && struck?.size && struck.has(utils.encode_cell({ r, c })) ? `[tachado: ${text}]` : text;
    });
    const after = [...cutOff(sheet, utils.decode_range), ...commentsIn(sheet, utils.encode_cell)];
    if (drawn) after.push(...drawn(index));
    if (rows.length === 0 && after.length === 0) continue;
    writer.heading(1);
    writer.text(`Hoja ${name}${book.Workbook?.Sheets?.[index]?.Hidden ? " (oculta)" : ""}`);
    writer.paragraph();
    for (const line of [...rows, ...after.flatMap((lines) => ["", ...lines])]) {
      writer.line();
      writer.text(line);
      written += line.length;
      if (written > room) return writer.toString();
    }
    writer.paragraph();
  }
  return writer.toString();
}

/** An ODS of a program that writes no styles, with none: the library takes one without them for damaged. */
function withStyles(archive: Archive, bytes: Buffer): Buffer {
  const content = archive.names.includes("styles.xml") ? undefined : archive.read("content.xml");
  if (!content) return bytes;
  const parts = {
    "META-INF/manifest.xml": strToU8("<manifest:manifest/>"),
    "content.xml": content,
    "styles.xml": strToU8("<office:document-styles/>"),
  };
  return Buffer.from(zipSync(parts, { level: 0 }));
}

function orRefuse<Result>(open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    throw /password|encrypt/i.test(String(error)) ? withPassword() : damaged(what);
  }
}

const dataOf = (sheet: WorkSheet): Row[] => sheet["!data"] ?? [];

/** Writes the text of a cell that reaches over several rows into each of them that has other cells, so that a row says what it is about. */
function repeatMerged(sheet: WorkSheet): void {
  const data = dataOf(sheet);
  const isFull = (cell: CellObject | undefined) => cell !== undefined && cell.t !== "z";
  let looked = 0;
  for (const { s: first, e: last } of sheet["!merges"] ?? []) {
    const cell = data[first.r]?.[first.c];
    if (cell?.t !== "s") continue;
    for (let r = first.r + 1; r <= Math.min(last.r, data.length - 1) && looked < mergedAtMost; r++) {
      looked++;
      const row = data[r];
      if (row?.some(isFull) && !isFull(row[first.c])) row[first.c] = cell;
    }
  }
}

function rowsOf(sheet: WorkSheet, writeCell: (cell: CellObject, r: number, c: number) => string): string[] {
  return dataOf(sheet).flatMap((row, r) => {
    const cells = Array.from(row?.slice(0, columnsAtMost) ?? [], (cell, c) => (cell ? writeCell(cell, r, c) : ""));
    while (cells.length > 0 && !cells.at(-1)) cells.pop();
    return cells.length > 0 ? [cells.join(" | ")] : [];
  });
}

/** Says that a sheet has more rows or columns than are read. */
function cutOff(sheet: WorkSheet, decode: (range: string) => { e: { r: number; c: number } }): string[][] {
  const full: unknown = sheet["!fullref"] ?? sheet["!ref"];
  if (typeof full !== "string") return [];
  const { e: last } = decode(full);
  const isFull = (cell: CellObject | undefined) => cell !== undefined && cell.t !== "z" && cell.v !== "";
  const columns = dataOf(sheet).reduce((most, row) => Math.max(most, (row ?? []).findLastIndex(isFull) + 1), 0);
  const said: string[] = [];
  // The size that a sheet tells is often untrue: rows that were only styled count in it.
  if (last.r >= rowsAtMost && dataOf(sheet).length >= rowsAtMost) {
    said.push(
      `(La hoja tiene ${count.format(last.r + 1)} filas: se han leído las primeras ${count.format(rowsAtMost)}.)`,
    );
  }
  if (columns > columnsAtMost) {
    said.push(
      `(La hoja tiene ${count.format(columns)} columnas: se han leído las primeras ${count.format(columnsAtMost)}.)`,
    );
  }
  return said.length > 0 ? [said] : [];
}

function commentsIn(sheet: WorkSheet, encode: (cell: { r: number; c: number }) => string): string[][] {
  const said: string[] = [];
  for (const [r, row] of dataOf(sheet).entries()) {
    for (const [c, cell] of (row ?? []).slice(0, columnsAtMost).entries()) {
      const comments: Comments | undefined = cell?.c;
      for (const { a, t } of comments ?? []) {
        const by = a ? ` de ${repaired(a)}` : "";
        if (t?.trim())
          said.push(`[comentario${by} en ${encode({ r, c })}: ${repaired(t).replace(/\s+/g, " ").trim()}]`);
      }
    }
  }
  return said.length > 0 ? [said] : [];
}

/** The library takes the UTF-8 of authors, and of comments of newer programs, for Latin-1. */
function repaired(said: string): string {
  if (!/[\u00c2-\u00f4][\u0080-\u00bf]/.test(said)) return said;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(said, "latin1"));
  } catch {
    return said;
  }
}

/** Paths of the sheets of an XLSX, in their order; none for other formats. */
function sheetPaths(archive: Archive): (string | undefined)[] {
  const main = "xl/workbook.xml";
  const paths = new Map(relationsOf(archive, main).map(({ id, path }) => [id, path]));
  const sheets = [...elementsIn(treeOf(archive.text(main)), "sheet")];
  return sheets.map(({ attributes: { "r:id": id } }) => (id === undefined ? undefined : paths.get(id)));
}

/** Gives the text boxes and charts of a sheet by its index, from 0: each as lines. */
function drawnOn(archive: Archive, paths: (string | undefined)[]): (index: number) => string[][] {
  if (archive.names.includes("content.xml")) return drawnOnOpenDocument(archive);
  return (index) => {
    const path = paths[index];
    const drawings = path ? relationsOf(archive, path).filter(({ kind }) => kind === "drawing") : [];
    return drawings.flatMap((drawing) => drawnIn(archive, drawing));
  };
}

function drawnIn(archive: Archive, { path }: Relation): string[][] {
  const boxes = [...elementsIn(treeOf(archive.text(path)), "xdr:txBody")].map(wordsIn).filter(Boolean);
  const charts = relationsOf(archive, path)
    .filter(({ kind }) => kind === "chart")
    .map((chart) => chartRows(archive, chart.path).map((row) => row.join(" | ")));
  return [...boxes.map((text) => [text]), ...charts].filter((lines) => lines.length > 0);
}

function drawnOnOpenDocument(archive: Archive): (index: number) => string[][] {
  const tables = archive.text("content.xml").split(/<table:table[\s>]/);
  return (index) =>
    framesIn(tables[index + 1] ?? "").flatMap((frame) => {
      const tree = treeOf(frame);
      const object = firstIn(tree, "draw:object");
      const href = object?.attributes["xlink:href"] ?? "";
      if (object) return [objectRows(archive, `${href}/content.xml`).map((row) => row.join(" | "))];
      const text = [...elementsIn(tree, "text:p")].map(textWithin).join(" ").replace(/\s+/g, " ").trim();
      return text ? [[text]] : [];
    });
}

// Per sheet.
const framesAtMost = 500;

/** Drawn things of a table of ODS as XML. */
function framesIn(table: string): string[] {
  const frames: string[] = [];
  const pattern = /<draw:(frame|custom-shape)[\s>]/g;
  let at = 0;
  while (frames.length < framesAtMost) {
    pattern.lastIndex = at;
    const found = pattern.exec(table);
    if (!found) break;
    const [, name = ""] = found;
    const from = found.index;
    const end = `</draw:${name}>`;
    const to = table.indexOf(end, from);
    if (to < 0) break;
    frames.push(table.slice(from, to + end.length));
    at = to + end.length;
  }
  return frames;
}
