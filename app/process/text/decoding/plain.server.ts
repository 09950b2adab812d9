import { decoded } from "./encodings.server.ts";

const sampled = 4_096;
// In bytes: enough words to tell an encoding by.
const judged = 200_000;
// How many broken signs a UTF-8 text may have for each good one: a byte is lost now and then, where a file was cut or joined.
const brokenOfGood = 0.25;

/**
 * The text of a file: in UTF-16, with a mark or without, or in UTF-8, also with a broken sign; else in the encoding of Windows, the
 * Mac or DOS that gives the most Spanish letters.
 */
export function plainText(bytes: Uint8Array): string {
  const wide = utf16Of(bytes);
  if (wide) return new TextDecoder(wide).decode(bytes);
  const text = new TextDecoder().decode(bytes);
  if (!text.includes("\uFFFD")) return text;
  const { broken, good } = signsIn(text);
  // A broken sign at either end was cut in two, and is left out.
  if (broken <= good * brokenOfGood) return text.replace(/^\uFFFD+|\uFFFD+$/g, "");
  const beginning = bytes.subarray(0, judged);
  const likeliest = oldEncodings
    .map((encoding) => ({ encoding, words: likely(decoded(beginning, encoding)) }))
    .reduce((one, other) => (other.words > one.words ? other : one));
  return decoded(bytes, likeliest.encoding);
}

/** How many broken signs a text has, and how many good signs beyond ASCII. */
function signsIn(text: string): { broken: number; good: number } {
  let [broken, good] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd) broken++;
    else if (code > 0x7f) good++;
  }
  return { broken, good };
}

/** UTF-16's order of bytes, by its mark or by the zeros in a text of Latin letters; undefined for other texts. */
export function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const sample = bytes.subarray(0, sampled);
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at & 1] = (zeros[at & 1] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const pairs = sample.length >> 1;
  if (pairs < 2) return undefined;
  if (odd > 0.6 * pairs && even < 0.05 * pairs) return "utf-16le";
  return even > 0.6 * pairs && odd < 0.05 * pairs ? "utf-16be" : undefined;
}

const oldEncodings = ["windows-1252", "macintosh", "cp850"];
// Letters that Spanish has within words, and signs before them.
const spanish = /(?<=\p{L})[áéíóúüñçàèòï]|[áéíóúüñçàèòï](?=[a-z])|(?<=\p{Lu})[ÁÉÍÓÚÜÑ]|[¿¡](?=\p{L})|(?<=\d)[ºª]/gu;

const likely = (text: string) => text.match(spanish)?.length ?? 0;

/**
 * The text of a page or file from the web: by its byte order mark, else in the encoding that its server names (`charset`), else in the one
 * that it declares, which is the order of the HTML standard.
 */
export function textOf(bytes: Uint8Array, charset: string | undefined): string {
  const isMarked = utf16Of(bytes) || (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf);
  return charset && !isMarked && !/^utf-?8$/i.test(charset) ? decoded(bytes, charset) : declaredText(bytes);
}

/** The text of a page or an XML file, in the encoding that it declares. */
export function declaredText(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4_000)).toString("latin1");
  const [, said] =
    /^\s*<\?xml[^>]+encoding=["']([\w-]+)/i.exec(head) ?? /<meta[^>]+charset ?= ?["']?([\w-]+)/i.exec(head) ?? [];
  // A declaration is older than the file if the bytes are valid UTF-8 with other letters than ASCII.
  // Nor is a declaration of UTF-8 true if they are not.
  if (!said || /^utf-?8$/i.test(said) || utf16Of(bytes) || isUtf8(bytes)) return plainText(bytes);
  return decoded(bytes, said);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    return /[^\0-\x7f]/.test(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return false;
  }
}
