import type { CellObject, SSF } from "@e965/xlsx";

type Format = typeof SSF.format;

const errors = new Map(
  Object.entries({
    "#NULL!": "#¡NULO!",
    "#DIV/0!": "#¡DIV/0!",
    "#VALUE!": "#¡VALOR!",
    "#REF!": "#¡REF!",
    "#NAME?": "#¿NOMBRE?",
    "#NUM!": "#¡NUM!",
    "#N/A": "#N/D",
  }),
);
// Dates in American order, which programs write for «as dates are written here».
const usualTime = /^(?:\s*h{1,2}:mm(?::ss)?(?:\s*AM\/PM)?)?$/i;
// Excel shows smaller numbers with an exponent.
const smallestInDigits = 1e-4;
// Longest format that Excel accepts.
const codeAtMost = 255;
const american = /^m{1,2}[/-]d{1,2}[/-]y{2,4}(.*)$/i;

const locale = (language: string) => (options: Intl.DateTimeFormatOptions, at: Date) =>
  new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" }).format(at);
/** English names of months and days with the Spanish ones; «May», which is short as well as long, with the long one. */
const names = new Map<string, string>();
for (const style of ["short", "long"] as const) {
  const [english, spanish] = [locale("en-US"), locale("es")];
  for (const month of Array.from({ length: 12 }, (_, n) => new Date(Date.UTC(2024, n, 1)))) {
    names.set(english({ month: style }, month), spanish({ month: style }, month).replace(/^sept$/, "sep"));
  }
  for (const day of Array.from({ length: 7 }, (_, n) => new Date(Date.UTC(2024, 0, 1 + n)))) {
    names.set(english({ weekday: style }, day), spanish({ weekday: style }, day));
  }
}
const named = new RegExp(`\\b(?:${[...names.keys()].join("|")})\\b`, "g");

/** Writes cells as they are shown where Spanish is spoken. `format`: of the library; `isFrom1904`: how the book counts days. */
export const cellWriter =
  (format: Format, isFrom1904: boolean) =>
  ({ t, v, w, f, z }: CellObject): string => {
    // A formula whose result is an empty text shows nothing; one without a result is told by itself.
    if (v === "" && t === "s") return "";
    if (t === "z") return f ? `=${f}` : "";
    if (t === "b") return v ? "VERDADERO" : "FALSO";
    if (t === "e") return errors.get(w ?? "") ?? w ?? "";
    if (t !== "n" || typeof v !== "number") return oneLine(String(w ?? v ?? ""));
    const code = String(z ?? "General");
    if (code.length > codeAtMost) return oneLine(w ?? String(v));
    const [, time] = american.exec(code.replace(/["\\](?=[/-])|(?<=[/-])["\\]/g, "")) ?? [];
    if (time !== undefined && usualTime.test(time)) {
      // OpenDocument's usual date also shows the hour of a moment.
      const shownTime = time || (/\d:\d\d/.test(w ?? "") ? " hh:mm" : "");
      return oneLine(format(`dd/mm/yyyy${shownTime}`, v, { date1904: isFrom1904 }));
    }
    if (w === "TRUE" || w === "FALSE") return v ? "VERDADERO" : "FALSO";
    const told = grouped(code, v) ?? shownBy(format, code, v, w);
    // Excel shows long numbers with an exponent; people who search for a number write its digits. Of an ODS only the text has its format.
    if (code === "General" && Number.isSafeInteger(v))
      return z === undefined && w && !/e\+/i.test(w) ? inSpanish(oneLine(w), v, code) : String(v);
    if (code === "General" && v !== 0 && Math.abs(v) < smallestInDigits) return withExponent(v);
    const shown = oneLine(told);
    if (isDate(code)) {
      const isShort = !/m{4}/i.test(code);
      return shown.replace(named, (name) => (name === "May" && isShort ? "may" : (names.get(name) ?? name)));
    }
    return hasDigitsAsText(code) ? shown : inSpanish(shown, v, code);
  };

/** The text of a number. LibreOffice writes percentages with a blank, on which the library fails. */
function shownBy(format: Format, code: string, value: number, text: string | undefined): string {
  const percent = /(?:\\?\s|"\s")%/g;
  if (!percent.test(code)) return text ?? String(value);
  try {
    return format(code.replace(percent, "%"), value).replace("%", " %");
  } catch {
    return text ?? String(value);
  }
}

/** A number in groups of digits, as of accounts and affiliations (`00"/"00000000"/"00`); the library takes their bars for fractions. */
function grouped(code: string, value: number): string | undefined {
  if (
    !/^(?:0|"[^"]{0,9}"|\\.|[-/ ]){2,60}$/.test(code) ||
    !/"[^"]*\/|\\\//.test(code) ||
    !Number.isSafeInteger(value) ||
    value < 0
  )
    return;
  const parts = [...code.matchAll(/0+|"([^"]*)"|\\(.)|[-/ ]/g)].reverse();
  const places = parts.reduce((sum, [part]) => sum + (part.startsWith("0") ? part.length : 0), 0);
  const digits = String(Math.abs(value)).padStart(places, "0");
  let left = digits.length;
  const last = parts.findLastIndex(([part]) => part.startsWith("0"));
  return parts
    .map(([part, quoted, escaped], index) => {
      if (!part.startsWith("0")) return quoted ?? escaped ?? part;
      const from = index === last ? 0 : left - part.length;
      const own = digits.slice(from, left);
      left = from;
      return own;
    })
    .reverse()
    .join("");
}

/** As Excel writes it: at least two digits of the exponent, at most six of the number. */
const withExponent = (value: number) =>
  Number(value.toPrecision(6))
    .toExponential()
    .replace(".", ",")
    .replace(/e-(\d+)$/, (_, digits: string) => `E-${digits.padStart(2, "0")}`);

// Digits in the text of a format, such as «Art. 3.1», which can't be told from those of the number.
const hasDigitsAsText = (code: string) => [...code.matchAll(/"([^"]*)"/g)].some(([, text = ""]) => /\d/.test(text));
// Colours, conditions and currencies stand between brackets, too, with letters of dates in their names.
const isDate = (code: string) =>
  /[dy]|m{3}|h|ss|\[[hms]+\]/i.test(code.replace(/"[^"]*"|\\.|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, ""));
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

/** A number with a decimal comma. Some books keep their numbers written so already. */
function inSpanish(shown: string, value: number, code: string): string {
  const number = /\d[\d.,]*/.exec(shown)?.[0] ?? "";
  const english = Number(number.replaceAll(",", ""));
  const spanish = Number(number.replaceAll(".", "").replace(",", "."));
  // Commas behind the last digit show thousands or millions of units; an exponent is written behind the number.
  const [, commas = ""] = /[0#?](,+)(?![0#?,])/.exec(code) ?? [];
  const [, exponent = "0"] = /\dE([+-]?\d{1,3})/i.exec(shown) ?? [];
  const scaled = (shown.includes("%") ? value * 100 : value) / 1000 ** commas.length / 10 ** Number(exponent);
  const away = (read: number) => (Number.isNaN(read) ? Number.POSITIVE_INFINITY : Math.abs(read - Math.abs(scaled)));
  if (away(spanish) < away(english)) return shown;
  return shown.replace(/\d[\d.,]*/g, (digits) => digits.replace(/[.,](?=\d)/g, (sign) => (sign === "." ? "," : ".")));
}
