const item = /^((\d{1,9})[.)] {1,4})\S/;
const subItem = /^ {2,}(?:[-+*]|(\d{1,9})[.)]) /;

/**
 * The source with sub-items of numbered items indented as far as CommonMark wants them. Models indent them by two spaces; under «1. » that is
 * one too few, and the sub-items would count on as items. A number that follows that of the item is no sub-item. Takes linear time.
 */
export function withIndentedLists(src: string): string {
  if (!/^ {2,3}(?:[-+*]|\d{1,9}[.)]) /m.test(src) || !/^\d{1,9}[.)] /m.test(src)) return src;
  let fence: string | undefined;
  // The open item: width of its mark, 0 if none is open; its number; indent of its sub-items, 0 before the first one.
  let [width, number, from] = [0, 0, 0];
  const lines = src.split("\n").map((line) => {
    const indent = line.search(/\S/);
    if (indent < 0) return line;
    if (indent === 0) {
      const [mark] = /^(?:`{3,}|~{3,})/.exec(line) ?? [];
      if (!fence) {
        const [, begin = "", digits] = item.exec(line) ?? [];
        [width, number, from] = [begin.length, Number(digits), 0];
        fence = mark;
      } else if (mark?.startsWith(fence)) fence = undefined;
      return line;
    }
    if (fence || width === 0) return line;
    if (from === 0) {
      const found = subItem.exec(line);
      if (!found) return line;
      if (indent >= width || Number(found[1]) === number + 1) {
        width = 0;
        return line;
      }
      from = indent;
    }
    return indent >= from ? " ".repeat(width - from) + line : line;
  });
  return lines.join("\n");
}
