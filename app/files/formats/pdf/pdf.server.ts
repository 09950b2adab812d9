import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { TextItem } from "pdfjs-dist/types/src/display/api.js";
import { listOf, recordOf } from "../../../process/text/json.ts";
import { joinHyphens } from "../hyphens.server.ts";
import { dingbatSigns, drawnSign } from "../symbol-font.server.ts";
import { damaged, Unreadable, withPassword } from "../unreadable.server.ts";
import { type Annotation, annotationPieces } from "./annotations.server.ts";
import { layoutText } from "./layout.server.ts";
import { type Matrix, product } from "./matrix.server.ts";
import type { PrintedPiece } from "./printed-line.server.ts";
import { hasParts, withRuledRows } from "./ruled-tables.server.ts";
import { rulesIn } from "./rules.server.ts";
import { linesOfXfa } from "./xfa.server.ts";

const pagesAtMost = 5_000;
// In characters: a page may have a shorter answer by chance.
const shortAnswer = 4;

// In characters: text in the middle of a page, without the margins where a scan is stamped. A scan whose text was recognised before, and a slide
// on a picture, have more.
const stampAtMost = 60;
// Share of a page at each side.
const margin = 0.15;
// Ticks stand alone: a font with longer texts is one of letters.
const signsAtOnce = 2;
// Signs that mark a choice, alone; in sizes of their type, how far right of them its text begins.
const isTick = /^\s*[\u2701-\u27be■●☐☑☒]\s*$/;
const tickReach = 4;
// Forms have some hundred pieces; each tick is compared with all others.
const piecesWithTicks = 5_000;
// Share of a page.
const mostOfPage = 0.6;

type PagedText = { pages: string[]; count: number; pictured: number[] };
type Pdf = Awaited<ReturnType<typeof openPdf>>;
type Page = Awaited<ReturnType<Pdf["getPage"]>>;

/**
 * The text of each page of a PDF, up to `room` characters, how many pages it has, and the numbers of those that are pictures, without text or
 * with little, such as the stamp of a register. Throws Unreadable.
 */
export async function pdfPages(bytes: Uint8Array, room: number): Promise<PagedText> {
  const pdf = await openPdf(bytes).catch(refuse);
  if (pdf.numPages > pagesAtMost) {
    throw new Unreadable(`tiene más de ${pagesAtMost.toLocaleString("es")} páginas. Pártelo en varios.`);
  }
  const pages: string[] = [];
  const pictured: number[] = [];
  let left = room;
  for (let number = 1; number <= pdf.numPages && left > 0; number++) {
    const page = await pdf.getPage(number).catch(refuse);
    const { text, inMiddle } = await pageText(page);
    if (!text.trim() || (inMiddle < stampAtMost && (await isMostlyPicture(page)))) pictured.push(number);
    page.cleanup();
    pages.push(text);
    left -= text.length;
  }
  const [first = ""] = pages;
  const unshown = await unshownLines(bytes, pdf, first);
  if (unshown.length > 0) pages[0] = [first, ...unshown].join("\n");
  return { pages: joinHyphens(pages), count: pdf.numPages, pictured };
}

/** Whether one picture, or its strips together, cover most of a page. */
async function isMostlyPicture(page: Page): Promise<boolean> {
  const { OPS } = await pdfJs();
  const { fnArray, argsArray } = await page.getOperatorList().catch(refuse);
  const open: Matrix[] = [];
  let at: Matrix = [1, 0, 0, 1, 0, 0];
  let covered = 0;
  for (const [index, operator] of fnArray.entries()) {
    if (operator === OPS.save) open.push(at);
    else if (operator === OPS.restore) at = open.pop() ?? at;
    else if (operator === OPS.transform) at = product(at, argsArray[index]);
    else if (operator === OPS.paintImageXObject || operator === OPS.paintImageMaskXObject) {
      // A picture fills the square between (0, 0) and (1, 1).
      const [a = 0, b = 0, c = 0, d = 0] = at;
      covered += Math.abs(a * d - b * c);
    }
  }
  const [left = 0, bottom = 0, right = 0, top = 0] = page.view;
  return covered > mostOfPage * (right - left) * (top - bottom);
}

/**
 * Text and answers of an XFA form that its pages do not show. A form that only Adobe's programs can draw has one page, which says so; a printed form
 * of one page has the same answers in its fields.
 */
async function unshownLines(bytes: Uint8Array, pdf: Pdf, shown: string): Promise<string[]> {
  if (pdf.numPages !== 1) return [];
  const { info } = await pdf.getMetadata().catch(refuse);
  if (recordOf(info)?.IsXFAPresent !== true) return [];
  const shownSigns = withoutBlanks(shown);
  return linesOfXfa(bytes)
    .filter(({ text }) => text.length < shortAnswer || !shownSigns.includes(withoutBlanks(text)))
    .map(({ label, text }) => (label ? `${label}: ${text}` : text));
}

const withoutBlanks = (text: string) => text.replace(/\s+/g, "");

/**
 * Text of a page with the answers of its form and its notes: straight text first, then turned text. `inMiddle`: how many characters do not
 * stand in a margin.
 */
async function pageText(page: Page): Promise<{ text: string; inMiddle: number }> {
  const view = page.getViewport({ scale: 1 }).transform;
  const { items } = await page.getTextContent().catch(refuse);
  const shown = items.flatMap((item) => ("str" in item && item.str.trim() ? [item] : []));
  const byTurn = Map.groupBy(await withDingbats(page, shown), ({ transform }) => turnOf(product(view, transform)));
  const printed = withMarks((byTurn.get(0) ?? []).map((item) => pieceOf(item, view)));
  const annotations = await withSignatures(page, await page.getAnnotations().catch(refuse));
  const answered = annotationPieces(annotations, printed, (rect) => boxOf(rect, view));
  const turned = [...byTurn]
    .filter(([turn]) => turn !== 0)
    .map(([turn, those]) => layoutText(those.map((item) => pieceOf(item, product(turnedBack(turn), view)))));
  const pieces = [...printed, ...answered];
  const rules = hasParts(pieces) ? rulesIn(await page.getOperatorList().catch(refuse), view) : [];
  const upright = withRuledRows(pieces, rules);
  const text = [layoutText(upright), ...turned].filter(Boolean).join("\n\n");
  const central = shown.filter((item) => isInMiddle(item, page.view));
  return { text, inMiddle: central.reduce((sum, { str }) => sum + str.trim().length, 0) };
}

function isInMiddle({ transform, width }: TextItem, [left = 0, bottom = 0, right = 0, top = 0]: number[]): boolean {
  const [a = 1, b = 0, , , x = 0, y = 0]: number[] = transform;
  const along = width / 2 / (Math.hypot(a, b) || 1);
  const across = (x + along * a - left) / (right - left);
  const up = (y + along * b - bottom) / (top - bottom);
  return [across, up].every((share) => share > margin && share < 1 - margin);
}

/** Texts with the signs of the font ZapfDingbats, whose letters are ticks and crosses in forms that were printed into a PDF. */
async function withDingbats(page: Page, items: TextItem[]): Promise<TextItem[]> {
  const byFont = Map.groupBy(items, ({ fontName }) => fontName);
  const suspects = [...byFont].filter(([, those]) => those.every(({ str }) => str.trim().length <= signsAtOnce));
  if (suspects.length === 0) return items;
  // Only now are the fonts of the page loaded.
  await page.getOperatorList().catch(refuse);
  const isDingbats = (name: string) =>
    page.commonObjs.has(name) && recordOf(page.commonObjs.get(name))?.loadedName === "ZapfDingbats";
  const names = new Set(suspects.map(([name]) => name).filter(isDingbats));
  return items.map((item) => (names.has(item.fontName) ? { ...item, str: dingbatSigns(item.str) } : item));
}

/** Pieces, of which ticks reach to the text right of them, as the mark of a line does and a cell does not. */
function withMarks(pieces: PrintedPiece[]): PrintedPiece[] {
  if (pieces.length > piecesWithTicks) return pieces;
  return pieces.map((piece) => {
    if (!isTick.test(piece.str)) return piece;
    const right = pieces.filter(({ x0, y }) => x0 > piece.x0 && Math.abs(y - piece.y) < piece.size);
    const next = Math.min(...right.map(({ x0 }) => x0));
    const isNear = next - piece.x1 < tickReach * piece.size;
    return isNear ? { ...piece, str: `${piece.str.trim()} `, x1: Math.max(piece.x1, next) } : piece;
  });
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
  // Letters of Wingdings, without a letter of Unicode for them.
  const read = str.replace(/[\uf020-\uf0ff]/g, (sign) => drawnSign(sign.charCodeAt(0), undefined) || sign);
  return { str: read, dir, x0, x1: x0 + width, y, size: Math.hypot(c, d) || 1 };
}

function boxOf([left = 0, bottom = 0, right = 0, top = 0]: number[], view: Matrix) {
  const [, , , , ax = 0, ay = 0] = product(view, [1, 0, 0, 1, left, bottom]);
  const [, , , , bx = 0, by = 0] = product(view, [1, 0, 0, 1, right, top]);
  return { x0: Math.min(ax, bx), y0: Math.min(ay, by), x1: Math.max(ax, bx), y1: Math.max(ay, by) };
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
