// The letters of the font Symbol in the places of Latin ones, and its signs (unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt).
const greek = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
const capitals = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
const signs: Record<number, string> = {
  ...{ 162: "′", 163: "≤", 165: "∞", 171: "↔", 172: "←", 173: "↑", 174: "→", 175: "↓", 176: "°" },
  ...{ 177: "±", 178: "″", 179: "≥", 180: "×", 181: "∝", 182: "∂", 183: "•", 184: "÷", 185: "≠" },
  ...{ 186: "≡", 187: "≈", 188: "…", 197: "⊕", 198: "∅", 199: "∩", 200: "∪", 204: "⊂", 206: "∈" },
  ...{ 207: "∉", 208: "∠", 209: "∇", 213: "∏", 214: "√", 215: "⋅", 216: "¬", 217: "∧", 218: "∨" },
  ...{ 222: "⇒", 229: "∑", 242: "∫" },
};

/** The sign that the font Symbol shows for a code, also where the code lies in the private area; empty for one that it has not. */
export function symbolSign(code: number): string {
  const place = code >= 0xf000 ? code - 0xf000 : code;
  if (place >= 0x61 && place <= 0x7a) return greek.charAt(place - 0x61);
  if (place >= 0x41 && place <= 0x5a) return capitals.charAt(place - 0x41);
  return signs[place] ?? (place >= 0x20 && place < 0x40 ? String.fromCharCode(place) : "");
}

// Signs of the fonts Wingdings by their places: boxes with and without a mark, ticks and crosses, and what mail programs put for «:)» and «->».
const wingdings: Record<number, string> = {
  ...{ 83: "☒", 84: "☒", 253: "☒", 254: "☒", 111: "☐", 113: "☐", 114: "☐", 168: "☐", 251: "✗", 252: "✓" },
  ...{ 74: "☺", 76: "☹", 223: "←", 224: "→", 40: "☎", 42: "✉", 108: "●", 110: "■", 167: "▪" },
};
const wingdings2: Record<number, string> = {
  ...{ 81: "☒", 82: "☒", 83: "☒", 84: "☒", 79: "✗", 80: "✓", 163: "☐" },
};

/** Whether letters of a font are signs of Wingdings; of the second of these fonts, too. */
export const isWingdings = (font: string | undefined): font is string => /^wingdings(?: 2)?$/i.test(font ?? "");

const isSymbols = /symbol|dings|marlett/i;

/**
 * The sign that a symbol shows: a letter or sign of the font Symbol, a sign of Wingdings, also where no font is named, or the character
 * itself of a font of letters; empty for others.
 */
export function drawnSign(code: number, font: string | undefined): string {
  if (font === "Symbol") return symbolSign(code);
  if (font && !isSymbols.test(font)) return code >= 0x20 && code < 0xd800 ? String.fromCharCode(code) : "";
  return (/ 2$/.test(font ?? "") ? wingdings2 : wingdings)[code & 0xff] ?? "";
}

/** Letters as one of the fonts Wingdings shows them; those that it has no usual sign for are left out. */
export const wingdingSigns = (letters: string, font: string): string =>
  letters.replace(/\S/g, (letter) => drawnSign(letter.charCodeAt(0), font));

// Signs of the font ZapfDingbats that Unicode has elsewhere; the others stand in its block of dingbats in the same order.
const dingbats: Record<string, string> = {
  "%": "☎",
  "*": "☛",
  "+": "☞",
  H: "★",
  l: "●",
  n: "■",
  s: "▲",
  t: "▼",
  u: "◆",
};

/** The signs that the font ZapfDingbats shows for letters: «4» is a tick and «8» a cross. */
export const dingbatSigns = (letters: string): string =>
  letters.replace(/[!-~]/g, (letter) => dingbats[letter] ?? String.fromCharCode(0x2701 + letter.charCodeAt(0) - 0x21));
