// Share of rows with at least two cells from which on a text is a table.
const ofTable = 0.6;
// Lines by which the sign between cells is found.
const linesTried = 20;
const signs = [";", "\t", ",", "|"];

/** A text of values between semicolons, tabs, commas or bars as rows with bars between the cells; the text itself if it is no table. */
export function tableText(text: string): string {
  const rows = tableRows(text);
  if (rows.length === 0 || rows.filter(({ length }) => length > 1).length < ofTable * rows.length) return text;
  return rows.map((cells) => cells.join(" | ")).join("\n");
}

/**
 * Rows of a text of values between semicolons, tabs, commas or bars; empty ones are left out. `byNames`: its first line has the names of
 * the columns, and so the sign between them; without one there is a single column, in which people write sentences.
 */
export function tableRows(text: string, { byNames = false } = {}): string[][] {
  // Old Macs end lines with a carriage return alone. Excel writes or wants the sign in a line of its own.
  const lines = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const [told, sign] = /^sep=(.)\n/i.exec(lines) ?? ["", byNames ? signOfNames(lines) : signOf(lines)];
  return cellsOf(lines.slice(told.length), sign ?? "").filter((cells) => cells.some(Boolean));
}

// In characters: more than any line of names, and than most beginnings of tables.
const beginningAtMost = 100_000;

/** The beginning of a text without its cells in quotes, whose signs and line breaks are their own. */
const withoutQuoted = (text: string): string =>
  text.slice(0, beginningAtMost).replace(/(?<=^|[;\t,|\n])"(?:[^"]|"")*"/g, "");

/** The sign that most of the first rows have. */
function signOf(text: string): string {
  const beginning = withoutQuoted(text).split("\n", linesTried);
  const rowsWith = (sign: string) => beginning.filter((line) => line.includes(sign)).length;
  return signs.reduce((best, one) => (rowsWith(one) > rowsWith(best) ? one : best));
}

/** The sign that stands most often between the names of the first line; an empty text, which parts nothing, if none does. */
function signOfNames(text: string): string {
  const [names = ""] = withoutQuoted(text.trimStart()).split("\n", 1);
  const count = (sign: string) => names.split(sign).length - 1;
  const best = signs.reduce((one, other) => (count(other) > count(one) ? other : one));
  return count(best) > 0 ? best : "";
}

/** Rows of cells (RFC 4180): a cell in quotes may have signs, line breaks and doubled quotes. */
function cellsOf(text: string, sign: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  const cell = () => {
    if (text[at] !== '"') {
      const from = at;
      while (at < text.length && text[at] !== sign && text[at] !== "\n") at++;
      return text.slice(from, at);
    }
    const parts: string[] = [];
    for (let from = at + 1; ; from = at + 1) {
      const end = text.indexOf('"', from);
      at = end < 0 ? text.length : end + 1;
      parts.push(text.slice(from, end < 0 ? undefined : end));
      if (text[at] !== '"') break;
    }
    // Text between the closing quote and the next separator belongs to the cell, too.
    const from = at;
    while (at < text.length && text[at] !== sign && text[at] !== "\n") at++;
    return parts.join('"') + text.slice(from, at);
  };
  while (at < text.length) {
    row.push(cell().replace(/\s+/g, " ").trim());
    if (text[at] !== sign) {
      rows.push(row);
      row = [];
    }
    at++;
  }
  if (row.length > 0) rows.push(row);
  return rows;
}
