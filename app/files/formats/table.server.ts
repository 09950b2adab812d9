// Of a table: most rows have at least two cells.
const tableRows = 0.6;

/**
 * A text of values between commas, semicolons or tabs as rows with bars between the cells; the text itself if it is no table. `room`:
 * characters that are wanted.
 */
export async function tableText(text: string, room: number): Promise<string> {
  const { read } = await import("@e965/xlsx");
  // Old Macs end lines with a carriage return.
  const lines = text.slice(0, room).replace(/\r\n?/g, "\n");
  // The library knows other formats by their first letters: a blank there is no letter.
  const [sheet] = Object.values(read(` ${lines}`, { type: "string", raw: true, dense: true }).Sheets);
  const rows = (sheet?.["!data"] ?? []).map((row) =>
    Array.from(row ?? [], (cell) =>
      String(cell?.v ?? "")
        .replace(/\s+/g, " ")
        .trim(),
    ),
  );
  const shown = rows.filter((cells) => cells.some(Boolean));
  if (shown.length === 0 || shown.filter(({ length }) => length > 1).length < tableRows * shown.length) return text;
  return shown.map((cells) => cells.join(" | ")).join("\n");
}
