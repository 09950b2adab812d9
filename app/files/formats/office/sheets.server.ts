import type { CellObject, WorkSheet } from "@e965/xlsx";
import { openArchive } from "../archive.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { damaged, withPassword } from "../unreadable.server.ts";
import { refuseEncrypted } from "./open-document.server.ts";

const what = "una hoja de cálculo";
// Of each sheet. More of a table is no text to be read.
const rowsAtMost = 20_000;
const columnsAtMost = 200;

/** The sheets of an XLSX, ODS or XLS as one text: a heading for each, a line for each row. Throws Unreadable. */
export async function sheetsText(bytes: Buffer, room: number): Promise<string> {
  const isArchive = bytes.subarray(0, 2).toString("latin1") === "PK";
  if (isArchive) refuseEncrypted(openArchive(bytes, what));
  const { read } = await import("@e965/xlsx");
  const book = orRefuse(() =>
    read(bytes, {
      type: "buffer",
      dense: true,
      cellDates: true,
      UTC: true,
      cellNF: true,
      sheetRows: rowsAtMost,
      sheetStubs: true,
    }),
  );
  const writer = new TextWriter();
  let written = 0;
  for (const name of book.SheetNames) {
    const sheet = book.Sheets[name];
    const rows = sheet ? rowsOf(sheet) : [];
    if (rows.length === 0) continue;
    writer.heading(1);
    writer.text(`Hoja ${name}`);
    writer.paragraph();
    for (const row of rows) {
      writer.line();
      const text = row.join(" | ");
      writer.text(text);
      written += text.length;
      if (written > room) return writer.toString();
    }
    writer.paragraph();
  }
  return writer.toString();
}

function orRefuse<Result>(open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    throw /password|encrypt/i.test(String(error)) ? withPassword() : damaged(what);
  }
}

function rowsOf(sheet: WorkSheet): string[][] {
  const rows = (sheet["!data"] ?? []) as (CellObject | undefined)[][];
  return rows.flatMap((row) => {
    const cells = Array.from(row?.slice(0, columnsAtMost) ?? [], (cell) => (cell ? cellText(cell) : ""));
    while (cells.length > 0 && !cells.at(-1)) cells.pop();
    return cells.length > 0 ? [cells] : [];
  });
}

const day = { day: "numeric", month: "numeric", year: "numeric", timeZone: "UTC" } as const;
const dates = new Intl.DateTimeFormat("es", day);
const moments = new Intl.DateTimeFormat("es", { ...day, hour: "numeric", minute: "2-digit" });

/** Text of a cell, as it is written in Spanish; a formula without a result is shown as it is. */
function cellText({ t, v, w, f, z }: CellObject): string {
  const format = String(z ?? "");
  // A cell without a value.
  if (t === "z") return f ? `=${f}` : "";
  if (v instanceof Date) return (v.getTime() % 86_400_000 === 0 ? dates : moments).format(v);
  if (t === "n" && typeof v === "number") {
    if (format.includes("%")) return `${(v * 100).toLocaleString("es", { maximumFractionDigits: 4 })} %`;
    const number = v.toLocaleString("es", { maximumFractionDigits: 6, useGrouping: format.includes(",") });
    const currency = /[€$£]/.exec(format)?.[0];
    return currency ? `${number} ${currency}` : number;
  }
  if (t === "b") return v ? "sí" : "no";
  return String(w ?? v ?? "")
    .replace(/\s+/g, " ")
    .trim();
}
