/** A text with each stretch from a mark to the next end mark changed, marks included. Takes linear time, as no pattern for it does. */
export function changedBetween(text: string, open: string, close: string, change: (stretch: string) => string): string {
  let changed = "";
  let from = 0;
  for (;;) {
    const begin = text.indexOf(open, from);
    const end = begin < 0 ? -1 : text.indexOf(close, begin + open.length);
    if (end < 0) return changed + text.slice(from);
    changed += text.slice(from, begin) + change(text.slice(begin, end + close.length));
    from = end + close.length;
  }
}
