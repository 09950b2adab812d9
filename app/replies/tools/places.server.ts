/** A place that a call names: an address, a recipient, or a path on the tool's machine. */
export type Place = { value: string; isPath: boolean };

const isAddress = (word: string) => /^(?:[a-z][a-z\d+.-]{1,20}:\/\/|mailto:|www\.)\S/i.test(word);
const isMail = (word: string) => /^[^\s@]+@[^\s@.]+\.[^\s@]+$/.test(word);
const isHost = (word: string) =>
  /^(?:(?:[\p{L}\p{N}_-]+\.)+\p{L}{2,}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:[/?#]|$)/u.test(word);
// A path begins at a root or is one word; not a date, a fraction or a number.
const isPath = (text: string) =>
  /^(?:[/\\~]|\.{1,2}[/\\]|[a-z]:\\)/i.test(text) || (/[/\\]/.test(text) && !/\s/.test(text) && /\p{L}/u.test(text));

// Quotes, brackets and stops around an address in a text.
const around = /^["'«“‘(<[{]+|["'»”’)>\]},;:.!?]{1,8}$/g;

/** The places that are named in the input of a call, at any depth; in a text of several words, addresses and recipients alone. */
export function placesIn(input: unknown): Place[] {
  if (typeof input === "object" && input !== null) return Object.values(input).flatMap(placesIn);
  if (typeof input !== "string") return [];
  const text = input.trim();
  const words = text.split(/\s+/);
  if (words.length === 1 && (isHost(text) || isMail(text))) return [{ value: text, isPath: false }];
  const places = words
    .map((word) => word.replace(around, ""))
    .filter((word) => isAddress(word) || isMail(word))
    .map((value) => ({ value, isPath: false }));
  return places.length === 0 && !text.includes("\n") && isPath(text) ? [{ value: text, isPath: true }] : places;
}

/** One form of an address, however it is written: without its scheme, «www.» and the slash at its end, decoded. */
export function formOf(address: string): string {
  const text = address.trim().replace(/^mailto:/i, "");
  const url = /^[/\\~.]/.test(text) ? null : URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (!url) return text;
  const form = url.href.replace(/^[a-z\d+.-]+:\/\/(?:www\.)?/i, "").replace(/\/$/, "");
  try {
    return decodeURI(form);
  } catch {
    return form;
  }
}

const partOfAddress = /[\p{L}\p{N}_/@.~%&=#?+-]/u;

/** Whether a text names this very place: all of it, and not only as the beginning or the end of a longer one. */
export function isIn(text: string, place: string): boolean {
  const form = formOf(place);
  return [...new Set([place.trim(), form])].some((written) => written !== "" && standsIn(text, written));
}

function standsIn(text: string, written: string): boolean {
  for (let at = text.indexOf(written); at >= 0; at = text.indexOf(written, at + 1)) {
    const before = text.slice(Math.max(0, at - 12), at).replace(/(?:https?:\/\/)?(?:www\.)?$/i, "");
    // A final slash is ignored, and a full stop ends the sentence.
    const after = text
      .slice(at + written.length, at + written.length + 8)
      .replace(/^\/(?![\p{L}\p{N}])|^[.?]+(?=\s|$)/u, "");
    if (!partOfAddress.test(before.at(-1) ?? "") && !partOfAddress.test(after[0] ?? "")) return true;
  }
  return false;
}
