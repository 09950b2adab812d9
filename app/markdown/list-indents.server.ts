const item = /^((\d{1,9})[.)] {1,4})\S/;
const subItem = /^ {2,}(?:[-+*]|(\d{1,9})[.)]) /;
// Also behind the mark of an item.
const fenceMark = /^([ \t]*(?:(?:[-+*]|\d{1,9}[.)]) {1,4})?)(`{3,}|~{3,})/;

/** Columns of the blanks before a line, with tabs up to the next multiple of four. */
function columnsBefore(line: string): number {
  let columns = 0;
  for (const sign of line) {
    if (sign === " ") columns++;
    else if (sign === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

/**
 * The source with sub-items of numbered items indented as far as CommonMark wants them. Models indent them by two spaces; under «1. » that is
 * one too few, and the sub-items would count on as items. A number that follows that of the item is no sub-item. A block of code is shifted
 * as a whole or not at all. Takes linear time.
 */
export function withIndentedLists(src: string): string {
  if (!/^ {2,3}(?:[-+*]|\d{1,9}[.)]) /m.test(src) || !/^\d{1,9}[.)] /m.test(src)) return src;
  // The open block of code: its mark, and by how much it is shifted.
  let fence: { mark: string; shift: number } | undefined;
  // The open item: width of its mark, 0 if none is open; its number; indent of its sub-items, 0 before the first one.
  let [width, number, from] = [0, 0, 0];
  const lines = src.split("\n").map((line) => {
    const text = line.trim();
    if (text === "") return line;
    if (fence) {
      const { mark, shift } = fence;
      if (text.startsWith(mark) && text === mark.charAt(0).repeat(text.length)) fence = undefined;
      return " ".repeat(shift) + line;
    }
    const indent = columnsBefore(line);
    const shift = from > 0 && indent >= from ? width - from : 0;
    const [opening = "", before = "", mark = ""] = fenceMark.exec(line) ?? [];
    // A mark with another one behind it is code within the line; four columns before it make it code itself.
    const isCode = mark.startsWith("`") && line.slice(opening.length).includes("`");
    if (mark && !isCode && (width > 0 || indent < 4)) {
      fence = { mark, shift };
      if (before.trim() === "") {
        if (indent === 0) width = from = 0;
        return " ".repeat(shift) + line;
      }
    }
    if (indent === 0) {
      const [, begin = "", digits] = item.exec(line) ?? [];
      [width, number, from] = [begin.length, Number(digits), 0];
      return line;
    }
    if (width > 0 && from === 0) {
      const found = subItem.exec(line);
      if (!found) return line;
      if (indent < width && Number(found[1]) !== number + 1) from = indent;
      else width = 0;
      const more = from > 0 ? width - from : 0;
      if (fence) fence.shift = more;
      return " ".repeat(more) + line;
    }
    return shift > 0 ? " ".repeat(indent + shift) + line.trimStart() : line;
  });
  return lines.join("\n");
}
