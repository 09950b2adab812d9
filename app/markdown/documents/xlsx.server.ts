import { utils, write } from "@e965/xlsx";
import type { OfficeSheet } from "./office-document.server.ts";

// A number that a sheet shows as it is written: without zeros at its ends, which phones, postcodes and versions have, with no more digits
// than a sheet can hold, and without three digits behind one point, which some people read as thousands.
const plainNumber = /^(?!-0$)(?!-?\d{1,3}[.,]\d{3}$)(?!(?:\D*\d){16})-?(?:0|[1-9]\d{0,14})(?:[.,]\d{0,9}[1-9])?$/;
// Rows and columns of a sheet, by the format.
const rowsAtMost = 1_048_576;
const columnsAtMost = 16_384;
// Characters of a cell, by the format.
const longestCell = 32_767;
// Characters of the name of a sheet, by the format.
const longestName = 31;

/** A table as an XLSX: numbers as numbers, all else as text, which no program takes for a formula. */
export function xlsxOf({ title, rows }: OfficeSheet): Uint8Array {
  const cells = rows
    .slice(0, rowsAtMost)
    .map((row) =>
      row
        .slice(0, columnsAtMost)
        .map((cell) => (plainNumber.test(cell) ? Number(cell.replace(",", ".")) : cell.slice(0, longestCell))),
    );
  const book = utils.book_new();
  const name = title
    .replace(/[[\]:*?/\\']/g, " ")
    .slice(0, longestName)
    .trim();
  utils.book_append_sheet(book, utils.aoa_to_sheet(cells), name || "Tabla");
  return new Uint8Array(write(book, { type: "buffer", bookType: "xlsx", compression: true }));
}
