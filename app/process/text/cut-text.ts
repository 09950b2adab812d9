const segmenter = new Intl.Segmenter("es", { granularity: "grapheme" });
// In UTF-16 units: longer than any character that people write, such as a family or a flag.
const longestCharacter = 64;

/** The beginning of a text, `most` UTF-16 units at most, that ends with a whole character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const from = Math.max(0, most - longestCharacter);
  const around = text.slice(from, most + longestCharacter);
  const end = from + (segmenter.segment(around).containing(most - from)?.index ?? most - from);
  return text.slice(0, end > 0 ? end : most).toWellFormed();
}
