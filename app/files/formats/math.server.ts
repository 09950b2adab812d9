import { type Element, elementsOf, firstIn, textWithin } from "../../process/text/xml.server.ts";

// No real formula is nested deeper.
const deepest = 60;
const signLength = 4;
const superscripts: Record<string, string> = {
  ...{ "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹" },
  ...{ "+": "⁺", "-": "⁻", "−": "⁻", n: "ⁿ" },
};

/** A raised text as it stands in a line: numbers keep their height, since 10⁶ is not 106; other texts are as they were. */
export const superscript = (text: string): string =>
  /^\s*(?:[+\-−]?\d+|n)\s*$/.test(text) ? text.replace(/[\d+\-−n]/g, (sign) => superscripts[sign] ?? sign) : text;

/** A formula as one line that can be read and searched: from MathML, or Office's OMML. */
export const formulaText = (formula: Element): string => said(formula, deepest).replace(/\s+/g, " ").trim();

function said(element: Element, deep: number): string {
  if (deep === 0) return textWithin(element);
  const name = element.name.replace(/^(?:math|mml):/, "");
  return name.startsWith("m:") ? officeSaid(element, deep - 1) : mathSaid(name, element, deep - 1);
}

const allSaid = (elements: Element[], deep: number) => elements.map((one) => said(one, deep)).join("");

/** MathML, whose parts are known by their order. */
function mathSaid(name: string, element: Element, deep: number): string {
  const parts = elementsOf(element);
  const at = (index: number) => {
    const part = parts[index];
    return part ? said(part, deep) : "";
  };
  switch (name) {
    case "mfrac":
      return fraction(at(0), at(1));
    case "msup":
    case "mover":
      return at(0) + power(at(1));
    case "msub":
    case "munder":
      return at(0) + index(at(1));
    case "msubsup":
    case "munderover":
      return at(0) + index(at(1)) + power(at(2));
    case "msqrt":
      return `√${grouped(allSaid(parts, deep))}`;
    case "mroot":
      return `${power(at(1))}√${grouped(at(0))}`;
    case "mtr":
      return row(parts, deep);
    case "mo":
    case "mi":
    case "mn":
    case "mtext":
      return operator(textWithin(element));
    case "annotation":
    case "annotation-xml":
      return "";
    default:
      return allSaid(parts, deep);
  }
}

/** OMML, whose parts are known by their names. */
function officeSaid(element: Element, deep: number): string {
  const parts = elementsOf(element);
  const partsNamed = (name: string) => parts.filter((part) => part.name === `m:${name}`);
  const of = (name: string) => allSaid(partsNamed(name), deep);
  const sign = (name: string, usual: string) =>
    (firstIn(element, `m:${name}`)?.attributes["m:val"] ?? usual).slice(0, signLength);
  switch (element.name) {
    case "m:ctrlPr":
    case "m:rPr":
      return "";
    case "m:f":
      return fraction(of("num"), of("den"));
    case "m:sSup":
      return of("e") + power(of("sup"));
    case "m:sSub":
      return of("e") + index(of("sub"));
    case "m:sSubSup":
      return of("e") + index(of("sub")) + power(of("sup"));
    case "m:rad":
      return `${power(of("deg"))}√${grouped(of("e"))}`;
    case "m:nary":
      return `${sign("chr", "∫")}${index(of("sub"))}${power(of("sup"))} ${of("e")}`;
    case "m:d": {
      const inside = partsNamed("e").map((part) => said(part, deep));
      return `${sign("begChr", "(")}${inside.join(sign("sepChr", "|"))}${sign("endChr", ")")}`;
    }
    case "m:func":
      return `${of("fName")} ${of("e")}`;
    case "m:limLow":
      return `${of("e")}${index(of("lim"))} `;
    case "m:limUpp":
      return of("e") + power(of("lim"));
    case "m:mr":
      return row(parts, deep);
    case "m:t":
      return operator(textWithin(element));
    default:
      return allSaid(parts, deep);
  }
}

const row = (parts: Element[], deep: number) => `${parts.map((part) => said(part, deep)).join(", ")}; `;

// Invisible signs of multiplication and of functions.
const operator = (text: string) => text.replace(/[\u2061-\u2064]/g, "").replace(/^\s*([=±+−<>≤≥≠≈→-])\s*$/, " $1 ");
const isSimple = (text: string) => /^[\p{L}\p{N}.,]*$/u.test(text.trim());
const grouped = (text: string) => (isSimple(text) ? text.trim() : `(${text.trim()})`);
const fraction = (above: string, below: string) => `${grouped(above)}/${grouped(below)}`;
const index = (text: string) => (text.trim() ? `_${grouped(text)}` : "");
const power = (text: string) => {
  const exponent = superscript(text.trim());
  return exponent === text.trim() && exponent ? `^${grouped(exponent)}` : exponent;
};
