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
  if (place >= 0x61 && place <= 0x7a) return greek[place - 0x61] ?? "";
  if (place >= 0x41 && place <= 0x5a) return capitals[place - 0x41] ?? "";
  return signs[place] ?? (place >= 0x20 && place < 0x40 ? String.fromCharCode(place) : "");
}
