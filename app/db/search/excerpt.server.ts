import { questionWords, searchWords, withTilde } from "./words.server.ts";

export type Excerpt = { text: string; hit: boolean }[];

const excerptLength = 220;

/** An excerpt around the first match, cut into parts at the matching words so that they can be marked. */
export function excerptOf(written: string, question: string): Excerpt {
  // macOS writes an accent as a sign of its own, which would end a word.
  const text = written.normalize("NFC");
  const asked = questionWords(question);
  const words = new Set(asked.flatMap((word) => [word, ...withTilde(word)]));
  const begun = asked.at(-1) ?? "";
  const isHit = (word: string) => {
    const indexed = searchWords(word);
    const [stem = ""] = indexed;
    return indexed.some((one) => words.has(one)) || (begun.length > 2 && stem.startsWith(begun));
  };
  const hits = [...text.matchAll(/[\p{L}\p{N}]+|\p{Extended_Pictographic}/gu)].filter(([word]) => isHit(word));
  const first = hits[0]?.index ?? 0;
  const space = text.indexOf(" ", Math.max(0, first - excerptLength / 3));
  const start = first < excerptLength / 3 ? 0 : space < 0 || space >= first ? first : space + 1;
  const end = Math.min(text.length, start + excerptLength);
  const parts: Excerpt = start > 0 ? [{ text: "…", hit: false }] : [];
  let at = start;
  for (const { 0: word, index } of hits) {
    if (index < start || index + word.length > end) continue;
    parts.push({ text: text.slice(at, index), hit: false }, { text: word, hit: true });
    at = index + word.length;
  }
  parts.push({ text: text.slice(at, end) + (end < text.length ? "…" : ""), hit: false });
  return parts.filter((part) => part.text !== "").map(({ text, hit }) => ({ text: text.toWellFormed(), hit }));
}
