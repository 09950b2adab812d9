import { formatted } from "../numbering.server.ts";

// Numbers of paragraphs by their schemes (MS-PPT, 2.13.32): how they are written, and the signs around them.
const schemes: [format: string, before: string, after: string][] = [
  ["lowerLetter", "", "."],
  ["upperLetter", "", "."],
  ["decimal", "", ")"],
  ["decimal", "", "."],
  ["lowerRoman", "(", ")"],
  ["lowerRoman", "", ")"],
  ["lowerRoman", "", "."],
  ["upperRoman", "", "."],
  ["lowerLetter", "(", ")"],
  ["lowerLetter", "", ")"],
  ["upperLetter", "(", ")"],
  ["upperLetter", "", ")"],
  ["decimal", "(", ")"],
  ["decimal", "", ""],
  ["upperRoman", "(", ")"],
  ["upperRoman", "", ")"],
];

type Numbering = { scheme: number; start: number };
/** A run of characters up to `to`, with the number of its kind of paragraph. */
type Run = { to: number; kind: number };

/**
 * The number that each paragraph of a text begins with, empty for none. `styles`: how the text looks (StyleTextPropAtom); `kinds`: the kinds
 * of paragraphs that runs of it refer to (StyleTextProp9Atom). Reading beyond the end throws RangeError.
 */
export function paragraphNumbers(text: string, styles: Buffer, kinds: Buffer): string[] {
  const numberings = numberingsIn(kinds);
  const runs = runsIn(styles, text.length + 1);
  let place = 0;
  let last: Numbering | undefined;
  let count = 0;
  return text.split("\r").map((paragraph) => {
    const at = place;
    place += paragraph.length + 1;
    const numbering = numberings[runs.find(({ to }) => to > at)?.kind ?? 0];
    const goesOn = numbering && last?.scheme === numbering.scheme && last.start === numbering.start;
    count = goesOn ? count + 1 : (numbering?.start ?? 0);
    last = numbering;
    const [format, before, after] = schemes[numbering?.scheme ?? -1] ?? [];
    return format && paragraph.trim() ? `${before}${formatted(count, format)}${after}` : "";
  });
}

const bit = (masks: number, number: number) => (masks & (1 << number)) !== 0;

function numberingsIn(bytes: Buffer): (Numbering | undefined)[] {
  const found: (Numbering | undefined)[] = [];
  for (let at = 0; at + 12 <= bytes.length; ) {
    const masks = bytes.readUInt32LE(at);
    at += 4 + (bit(masks, 23) ? 2 : 0);
    const isNumbered = bit(masks, 24) && bytes.readUInt16LE(at) === 1;
    at += bit(masks, 24) ? 2 : 0;
    const scheme = bit(masks, 25) ? { scheme: bytes.readUInt16LE(at), start: bytes.readUInt16LE(at + 2) } : undefined;
    at += bit(masks, 25) ? 4 : 0;
    found.push(isNumbered ? (scheme ?? { scheme: 3, start: 1 }) : undefined);
    at += bit(bytes.readUInt32LE(at), 20) ? 8 : 4;
    const flags = bytes.readUInt32LE(at);
    at += 4 + 2 * [0, 1, 2, 6].filter((number) => bit(flags, number)).length + (bit(flags, 5) ? 4 : 0);
    if (bit(flags, 9)) at += 4 + 4 * bytes.readUInt32LE(at);
  }
  return found;
}

// Bits of the masks by which a paragraph and a run of characters have fields of so many bytes, in the order of the fields.
const paragraphFields: [bits: number[], size: number][] = [
  [[0, 1, 2, 3], 2],
  ...[7, 4, 6].map((number): [number[], number] => [[number], 2]),
  [[5], 4],
  ...[11, 12, 13, 14, 8, 10, 15].map((number): [number[], number] => [[number], 2]),
];
const fieldsBehindTabs: [bits: number[], size: number][] = [
  [[16], 2],
  [[17, 18, 19], 2],
  [[21], 2],
];
const fontStyle = [0, 1, 2, 4, 5, 7, 9, 10, 11, 12, 13];
const fieldsOfRuns: [bits: number[], size: number][] = [
  ...[16, 21, 22, 23, 17].map((number): [number[], number] => [[number], 2]),
  [[18], 4],
  [[19], 2],
];

const sizeOf = (masks: number, fields: [bits: number[], size: number][]) =>
  fields.reduce((sum, [bits, size]) => sum + (bits.some((number) => bit(masks, number)) ? size : 0), 0);

/** Runs of characters, which stand after the looks of the paragraphs. `length`: of the text, with the end of its last paragraph. */
function runsIn(bytes: Buffer, length: number): Run[] {
  let at = 0;
  for (let covered = 0; covered < length; ) {
    covered += bytes.readUInt32LE(at);
    const masks = bytes.readUInt32LE(at + 6);
    at += 10 + sizeOf(masks, paragraphFields);
    if (bit(masks, 20)) at += 2 + 4 * bytes.readUInt16LE(at);
    at += sizeOf(masks, fieldsBehindTabs);
  }
  const runs: Run[] = [];
  for (let covered = 0; covered < length && at + 8 <= bytes.length; ) {
    covered += bytes.readUInt32LE(at);
    const masks = bytes.readUInt32LE(at + 4);
    at += 8;
    const isStyled = fontStyle.some((number) => bit(masks, number));
    runs.push({ to: covered, kind: isStyled ? (bytes.readUInt16LE(at) >> 10) & 15 : 0 });
    at += (isStyled ? 2 : 0) + sizeOf(masks, fieldsOfRuns);
  }
  return runs;
}
