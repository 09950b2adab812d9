import { recordOf } from "../../../process/text/json.ts";
import type { PrintedPiece } from "./printed-line.server.ts";

/** A thing on a page beside its text, as pdf.js says it: a field of a form, a note. */
export type Annotation = Record<string, unknown>;
type Box = { x0: number; y0: number; x1: number; y1: number };

// The bits that hide an annotation (PDF 32000, 12.5.3): Hidden, NoView.
const unseen = 2 | 32;
// In points.
const typeSize = 10;
const labelAbove = 26;
const noteLength = 5_000;
// Per page: more annotations are a drawing.
const annotationsAtMost = 3_000;
const optionsAtMost = 2_000;
// Names that programs give by themselves.
const automatic =
  /^(?:te?xt|chk|cb|cmb|campo|field|undefined|untitled|check ?box|casilla(?: de verificación)?|button|bot[oó]n|radio(?: button)?|group|grupo|list|combo ?box|drop ?down|fill|cuadro(?: de texto| combinado)?|[a-z]{1,2})?[\s\d.#-]*$/i;

/** The answers of a form and the notes on a page as pieces at their places. `boxOf`: a place of the PDF on the page as it is shown. */
export function annotationPieces(
  annotations: Annotation[],
  printed: PrintedPiece[],
  boxOf: (rect: number[]) => Box,
): PrintedPiece[] {
  const radios = new Map(
    annotations.filter(({ radioButton }) => radioButton === true).map((one) => [one.fieldName, one]),
  );
  return annotations.slice(0, annotationsAtMost).flatMap((annotation) => {
    const rect = numbersIn(annotation.rect);
    if (rect.length !== 4 || (Number(annotation.annotationFlags) & unseen) !== 0) return [];
    const box = boxOf(rect);
    const said = annotation.subtype === "Widget" ? fieldSaid(annotation, printed, box, radios) : noteSaid(annotation);
    if (!said) return [];
    const height = box.y1 - box.y0;
    const size = Math.min(typeSize, Math.max(4, height));
    // A tall field is written from its top.
    const middle = height > 2.5 * size ? box.y0 + 0.7 * size : (box.y0 + box.y1) / 2;
    const x1 = Math.max(box.x0 + 1, Math.min(box.x1, box.x0 + said.length * 0.5 * size));
    return [{ str: said, dir: "ltr", x0: box.x0, x1, y: middle + 0.3 * size, size }];
  });
}

/** The answer of a field, after its name if that is not printed beside it; undefined if nothing was answered. */
function fieldSaid(
  field: Annotation,
  printed: PrintedPiece[],
  box: Box,
  lastRadios: Map<unknown, Annotation>,
): string | undefined {
  const answer = answerOf(field);
  if (!answer) return undefined;
  // Without pictures of its buttons a form does not say which one was chosen: the answer is written once, at the last button.
  if (field.radioButton === true && !field.buttonValue && lastRadios.get(field.fieldName) !== field) return undefined;
  const name = nameOf(field);
  return name && !isPrinted(name, printed, box) ? `${name}: ${answer}` : answer;
}

function answerOf(field: Annotation): string | undefined {
  const { fieldType, fieldValue } = field;
  // A password is typed for nobody to read (PDF 32000, 12.7.4.3).
  if (field.password === true || (fieldType === "Tx" && (Number(field.fieldFlags) & 0x2000) !== 0)) return undefined;
  if (fieldType === "Btn") {
    if (field.checkBox === true) {
      return isOn(fieldValue) && fieldValue === field.exportValue ? "[marcada]" : "[sin marcar]";
    }
    if (field.radioButton !== true || !isOn(fieldValue)) return undefined;
    if (field.buttonValue && fieldValue !== field.buttonValue) return undefined;
    return /^\d+$/.test(String(fieldValue)) ? "[elegida]" : `[elegida: ${fieldValue}]`;
  }
  const values = (Array.isArray(fieldValue) ? fieldValue.slice(0, optionsAtMost / 10) : [fieldValue]).filter(
    (value) => typeof value === "string",
  );
  return (
    values
      .map((value) => shownAs(field, value).trim())
      .filter(Boolean)
      .join(", ") || undefined
  );
}

const isOn = (value: unknown) => typeof value === "string" && value !== "" && value !== "Off";

/** A choice as it is shown, which may be other words than the form sends. */
function shownAs({ options }: Annotation, value: string): string {
  const chosen = (Array.isArray(options) ? options.slice(0, optionsAtMost) : [])
    .map(recordOf)
    .find((option) => option?.exportValue === value);
  return typeof chosen?.displayValue === "string" ? chosen.displayValue : value;
}

function nameOf({ alternativeText, fieldName }: Annotation): string | undefined {
  if (typeof alternativeText === "string" && alternativeText.trim()) return alternativeText.trim().replace(/:$/, "");
  if (typeof fieldName !== "string") return undefined;
  const [last = ""] = fieldName.split(".").slice(-1);
  const words = last
    .replace(/\[\d+\]$/, "")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/[_\s]+/g, " ")
    .trim();
  return automatic.test(words) ? undefined : words;
}

/** Whether most of a field's name is printed left of it, right of it or above it. */
function isPrinted(name: string, printed: PrintedPiece[], { x0, y0, x1, y1 }: Box): boolean {
  const near = printed.filter(
    ({ x0: from, x1: to, y }) =>
      (y > y0 - 2 && y < y1 + 4 && to > x0 - 300 && from < x1 + 200) ||
      (y <= y0 && y > y0 - labelAbove && from < x1 && to > x0),
  );
  const words = near.flatMap(({ str }) => longWords(str));
  const wanted = longWords(name);
  const found = wanted.filter((word) => words.includes(word));
  return wanted.length > 0 && found.length >= wanted.length / 2;
}

// Beginnings of the words that tell fields from each other, without accents.
const longWords = (text: string) =>
  [
    ...text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .matchAll(/[\p{L}\p{N}]{3,}/gu),
  ]
    .map(([word]) => word.slice(0, 6))
    .filter((word) => !/^(?:del|las|los|una|con|por|para|que)$/.test(word));

/** The words of a note on a page. Text that was written onto the page stands as such. */
function noteSaid({ subtype, contentsObj, titleObj }: Annotation): string | undefined {
  if (subtype === "Link" || subtype === "Popup") return undefined;
  const said = textIn(contentsObj).slice(0, noteLength);
  if (!said || subtype === "FreeText") return said || undefined;
  const author = textIn(titleObj);
  return `[Nota${author && ` de ${author}`}: ${said}]`;
}

function textIn(value: unknown): string {
  const text = recordOf(value)?.str;
  return typeof text === "string" ? text.trim() : "";
}

const numbersIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "number" && Number.isFinite(one)) : [];
