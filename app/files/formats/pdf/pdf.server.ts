import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { TextItem } from "pdfjs-dist/types/src/display/api.js";
import { listOf, recordOf } from "../../../process/text/json.ts";
import { joinHyphens } from "../hyphens.server.ts";
import { damaged, Unreadable, withPassword } from "../unreadable.server.ts";
import { type Annotation, annotationPieces } from "./annotations.server.ts";
import { layoutText, type PrintedPiece } from "./layout.server.ts";
import { answersInXfa } from "./xfa.server.ts";

const pagesAtMost = 5_000;
// In characters: a page may have a shorter answer by chance.
const shortAnswer = 4;

type Pdf = Awaited<ReturnType<typeof openPdf>>;
type Page = Awaited<ReturnType<Pdf["getPage"]>>;
type Matrix = number[];

/** The text of each page of a PDF, up to `room` characters, and how many pages it has. Throws Unreadable. */
export async function pdfPages(bytes: Uint8Array, room: number): Promise<{ pages: string[]; count: number }> {
  const pdf = await openPdf(bytes).catch(refuse);
  if (pdf.numPages > pagesAtMost) {
    throw new Unreadable(`tiene más de ${pagesAtMost.toLocaleString("es")} páginas. Pártelo en varios.`);
  }
  const pages: string[] = [];
  let left = room;
  for (let number = 1; number <= pdf.numPages && left > 0; number++) {
    const page = await pdf.getPage(number).catch(refuse);
    const text = await pageText(page);
    page.cleanup();
    pages.push(text);
    left -= text.length;
  }
  const [first = ""] = pages;
  const answers = await unshownAnswers(bytes, pdf, first);
  if (answers.length > 0) pages[0] = [first, ...answers].join("\n");
  return { pages: joinHyphens(pages), count: pdf.numPages };
}

/**
 * Answers of an XFA form that its pages do not show. A form that only Adobe's programs can draw has one page, which says so; a printed form
 * of one page has the same answers in its fields.
 */
async function unshownAnswers(bytes: Uint8Array, pdf: Pdf, shown: string): Promise<string[]> {
  if (pdf.numPages !== 1) return [];
  const { info } = await pdf.getMetadata().catch(refuse);
  if (recordOf(info)?.IsXFAPresent !== true) return [];
  return answersInXfa(bytes)
    .filter(({ answer }) => answer.length < shortAnswer || !shown.includes(answer))
    .map(({ name, answer }) => `${name}: ${answer}`);
}

/** Text of a page with the answers of its form and its notes: straight text first, then turned text. */
async function pageText(page: Page): Promise<string> {
  const view = page.getViewport({ scale: 1 }).transform;
  const { items } = await page.getTextContent().catch(refuse);
  const byTurn = Map.groupBy(
    items.flatMap((item) => ("str" in item && item.str.trim() ? [item] : [])),
    ({ transform }) => turnOf(product(view, transform)),
  );
  const printed = (byTurn.get(0) ?? []).map((item) => pieceOf(item, view));
  const annotations = await withSignatures(page, await page.getAnnotations().catch(refuse));
  const answered = annotationPieces(annotations, printed, (rect) => boxOf(rect, view));
  const turned = [...byTurn]
    .filter(([turn]) => turn !== 0)
    .map(([turn, those]) => layoutText(those.map((item) => pieceOf(item, product(turnedBack(turn), view)))));
  return [layoutText([...printed, ...answered]), ...turned].filter(Boolean).join("\n\n");
}

/** Annotations with the words that a signature shows, which only its picture has. */
async function withSignatures(page: Page, annotations: Annotation[]): Promise<Annotation[]> {
  if (!annotations.some((one) => one.fieldType === "Sig" && one.hasAppearance === true)) return annotations;
  const { OPS } = await pdfJs();
  const { fnArray, argsArray } = await page.getOperatorList().catch(refuse);
  const shown = new Map<unknown, string>();
  let id: unknown;
  for (const [at, operator] of fnArray.entries()) {
    const given: unknown[] = argsArray[at] ?? [];
    if (operator === OPS.beginAnnotation) [id] = given;
    else if (operator === OPS.endAnnotation) id = undefined;
    else if (operator === OPS.showText && id !== undefined)
      shown.set(id, `${shown.get(id) ?? ""}${glyphsIn(given[0])} `);
  }
  return annotations.map((one) => (one.fieldType === "Sig" ? { ...one, fieldValue: shown.get(one.id) } : one));
}

const glyphsIn = (glyphs: unknown): string =>
  listOf(glyphs)
    .map((glyph) => recordOf(glyph)?.unicode)
    .filter((text) => typeof text === "string")
    .join("");

/** By how many degrees a text is turned on the page: rounded to quarters of a circle if it is near one. */
function turnOf([a = 1, b = 0]: Matrix): number {
  const degrees = (Math.atan2(b, a) * 180) / Math.PI;
  const quarters = Math.round(degrees / 90) * 90;
  return (Math.abs(degrees - quarters) < 10 ? quarters : Math.round(degrees)) % 360;
}

function turnedBack(degrees: number): Matrix {
  const angle = (-degrees * Math.PI) / 180;
  return [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0];
}

function pieceOf({ str, dir, width, transform }: TextItem, view: Matrix): PrintedPiece {
  const [, , c = 0, d = 0, x0 = 0, y = 0] = product(view, transform);
  return { str, dir, x0, x1: x0 + width, y, size: Math.hypot(c, d) || 1 };
}

function boxOf([left = 0, bottom = 0, right = 0, top = 0]: number[], view: Matrix) {
  const [, , , , ax = 0, ay = 0] = product(view, [1, 0, 0, 1, left, bottom]);
  const [, , , , bx = 0, by = 0] = product(view, [1, 0, 0, 1, right, top]);
  return { x0: Math.min(ax, bx), y0: Math.min(ay, by), x1: Math.max(ax, bx), y1: Math.max(ay, by) };
}

/** The transformation by `second`, then by the first matrix, as PDF multiplies matrices. */
function product([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix, second: Matrix): Matrix {
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = second;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** Opens a PDF with pdf.js, in this thread. Rejects with its errors. */
export async function openPdf(bytes: Uint8Array) {
  const { getDocument } = await pdfJs();
  return getDocument({
    // A copy, because pdf.js takes the bytes over.
    data: new Uint8Array(bytes),
    verbosity: 0,
    // The characters of other scripts, and the decoders of what faxes and scanners write (CCITT, JBIG2, JPEG 2000).
    cMapUrl: `${folder("cmaps/LICENSE")}/`,
    wasmUrl: `${folder("wasm/jbig2.wasm")}/`,
    useSystemFonts: false,
    disableFontFace: true,
  }).promise;
}

const pdfJs = () => import("pdfjs-dist/legacy/build/pdf.mjs");

const folder = (file: string) => dirname(createRequire(import.meta.url).resolve(`pdfjs-dist/${file}`));

function refuse(error: Error): never {
  throw error.name === "PasswordException" ? withPassword() : damaged("un PDF");
}
