import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { createWorker, type Line, PSM, type RecognizeOptions, type Worker, type WorkerParams } from "tesseract.js";
import { answerJob } from "../../process/child-process-entry.ts";
import { limits } from "../../process/limits.ts";
import { picturesHeld } from "../formats/held-pictures.server.ts";
import { layoutText } from "../formats/pdf/layout.server.ts";
import { picturesOn } from "../formats/pdf/pictures.server.ts";
import type { PrintedPiece } from "../formats/pdf/printed-line.server.ts";
import { Unreadable } from "../formats/unreadable.server.ts";
import { backgroundOf, white } from "./background.server.ts";
import { decodePicture, isDecodedHere } from "./decode-picture.server.ts";
import { evenLight } from "./light.server.ts";
import { whitenRules } from "./rules.server.ts";
import type { ScanAnswer, ScanJob } from "./scan.server.ts";

// Niceness: all other work on this machine goes first.
const behindOthers = 10;
// In pixels: an A4 page at 250 dots an inch. More makes it slower, not better.
const longestSide = 2_900;
// In pixels: room for some lines, enough to tell which way up a page is.
const glanceSide = 600;
// Places in each direction at which a glance may be, each pixel that is looked at there, and the brightness of ink out of 255.
const glances = 7;
const looked = 4;
const dark = 140;
// Pictures of one page; a picture much smaller than the largest one is a stamp or a letterhead.
const picturesAtMost = 6;
const leastOfLargest = 0.1;
// Pages of one image.
const pagesAtMost = 20;
// Confidence of a text, out of 100. Below, the «letters» are leaves and windows of a picture; letters that lie on their side are misread
// with some 55, and read with 95.
const surely = 60;
// Confidence of a word: a word below it is a speck or a line.
const guessed = 25;
// Confidence of a sign between words.
const sign = 80;
const upright = 75;
// In pixels: height of a line with its descenders below which letters are misread, as on a screen; and how much larger it is read again.
const small = 24;
const largestScale = 4;
// A copy that is hardly larger shows nothing new.
const leastScale = 1.25;
// In radians, one degree: lines of tables that are more slanted are not found, and read as letters.
const slanted = Math.PI / 180;
// Cells of a row, and rows, from which on a text is a table.
const cellsOfRow = 3;
const rowsOfTable = 3;
// Share of the type's size by which two pieces of a line may differ in height.
const sameLine = 0.4;
// Out of 255: mean brightness below which a picture may have light letters on a dark ground.
const darkest = 110;

/** A text as it was recognised. `turn`: 90, 180 or 270 degrees where its lines stand on their side or upside down. */
type Recognised = { text: string; pieces: PrintedPiece[]; confidence: number; turn: number };
/** An image to be recognised, and by how much it is still to be turned to be straight. */
type Page = { image: Buffer; rotateRadians: number };
/** A picture prepared for recognition, one byte for each pixel. */
type Prepared = { data: Buffer; width: number; height: number };

answerJob(async (job: ScanJob): Promise<ScanAnswer> => {
  setPriority(behindOthers);
  // Started with the first picture: a page may also be just empty.
  let recogniser: Promise<Worker> | undefined;
  const texts: string[] = [];
  for (const page of job.pages) {
    const pictures =
      job.mediaType === "application/pdf"
        ? await picturesOfPage(job.path, page)
        : job.mediaType.startsWith("image/")
          ? await picturesOf(job.path, job.mediaType)
          : await picturesIn(job);
    const found: string[] = [];
    for (const picture of pictures) {
      // A picture that can't be decoded has no text; the other pictures keep theirs.
      const waysOf = (scale: number) => preparedWays(picture, scale).catch(() => []);
      const ready = await waysOf(1);
      let best = await readBest(ready);
      if (isSmall(best, ready[0])) best = surerOf(best, await readBest(await waysOf(largestScale)));
      if (best.confidence >= surely) found.push(best.text);
    }
    texts.push(found.filter(Boolean).join("\n\n"));
  }
  return { texts };

  async function readBest(ways: Prepared[]): Promise<Recognised> {
    let best: Recognised = { text: "", pieces: [], confidence: 0, turn: 0 };
    for (const way of ways) best = surerOf(best, await readWayUp(way));
    return best;
  }

  /** The text of a picture that may be slanted, stand on its side or upside down. */
  async function readWayUp(picture: Prepared): Promise<Recognised> {
    const page = await straightened(picture);
    const asItIs = await recognise(page);
    // Letters that were misread stand on lines of their own in any direction.
    const angle = asItIs.confidence < upright ? await wayUp(picture) : asItIs.turn;
    if (!angle) return withLostNumbers(page, asItIs);
    const turned = await straightened(await rotated(picture, angle));
    return withLostNumbers(turned, await recognise(turned));
  }

  /** The page to be recognised: straight, and without the lines of tables, which are only found in a straight page. */
  async function straightened(picture: Prepared): Promise<Page> {
    const image = await withoutRules(picture);
    recogniser ??= startRecogniser(job.folder);
    const { data } = await (await recogniser).recognize(image, { rotateAuto: true }, { text: false });
    const slant = data.rotateRadians ?? 0;
    // The recogniser itself turns a page a little with less loss.
    if (Math.abs(slant) < slanted) return { image, rotateRadians: slant };
    return { image: await withoutRules(await rotated(picture, (slant * 180) / Math.PI)), rotateRadians: 0 };
  }

  /** Adds the numbers of a table that stand alone in their cells: the recogniser takes them for specks, but not in one block of text. */
  async function withLostNumbers(page: Page, found: Recognised): Promise<Recognised> {
    const filled = (line: string) => line.split("|").filter((cell) => cell.trim()).length;
    const rows = found.text
      .split("\n")
      .map(filled)
      .filter((cells) => cells >= cellsOfRow);
    // A table whose rows have as many cells each has lost none.
    if (rows.length < rowsOfTable || new Set(rows).size === 1) return found;
    const block = await recognise(page, { tessedit_pageseg_mode: PSM.SINGLE_BLOCK });
    // Beside the text there is but the edge of the paper.
    const [left, right] = [
      Math.min(...found.pieces.map(({ x0 }) => x0)),
      Math.max(...found.pieces.map(({ x1 }) => x1)),
    ];
    const lost = block.pieces.filter(
      (piece) =>
        /^[\d.,]+[€%]?\s*$/.test(piece.str) &&
        piece.x0 >= left - piece.size &&
        piece.x1 <= right + piece.size &&
        found.pieces.some((other) => Math.abs(other.y - piece.y) < sameLine * piece.size) &&
        !found.pieces.some((other) => areOver(piece, other)),
    );
    const pieces = [...found.pieces, ...lost];
    return lost.length > 0 ? { ...found, pieces, text: layoutText(pieces) } : found;
  }

  /** Degrees by which a picture has to be turned so that the text where most of it stands can be read; 0 if no angle is found. */
  async function wayUp({ data, width, height }: Prepared): Promise<number> {
    const glance = await sharp(data, { raw: { width, height, channels: 1 } })
      .extract(fullestPlace({ data, width, height }))
      .png()
      .toBuffer();
    for (const angle of [90, 270, 180]) {
      const image = await sharp(glance).rotate(angle).toBuffer();
      const { text, confidence, turn } = await recognise({ image, rotateRadians: 0 });
      if (text && confidence >= upright) return (angle + turn) % 360;
    }
    return 0;
  }

  async function recognise({ image, rotateRadians }: Page, settings: Partial<WorkerParams> = {}): Promise<Recognised> {
    recogniser ??= startRecogniser(job.folder);
    const options: Partial<RecognizeOptions> = { rotateRadians, ...settings };
    const { data } = await (await recogniser).recognize(image, options, { text: false, blocks: true });
    const lines = (data.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
    const pieces = lines.flatMap(piecesOf);
    return { text: layoutText(pieces), pieces, confidence: data.confidence, turn: turnOf(lines) };
  }
});

/** The part of a picture with most edges of letters, of the size of a glance: a page may have text at its top alone. */
function fullestPlace({ data, width, height }: Prepared) {
  const [across, down] = [Math.min(width, glanceSide), Math.min(height, glanceSide)];
  const isDark = (at: number) => (data[at] ?? 255) < dark;
  const placesOf = (whole: number, part: number) =>
    Array.from({ length: glances }, (_, n) => Math.floor(((whole - part) * n) / (glances - 1)));
  let best = { left: (width - across) >> 1, top: (height - down) >> 1, edges: -1 };
  for (const top of placesOf(height, down)) {
    for (const left of placesOf(width, across)) {
      let edges = 0;
      for (let y = top; y < top + down; y += looked)
        for (let x = left + looked; x < left + across; x += looked)
          if (isDark(y * width + x) !== isDark(y * width + x - looked)) edges++;
      if (edges > best.edges) best = { left, top, edges };
    }
  }
  return { left: best.left, top: best.top, width: across, height: down };
}

/** Whether two pieces stand over each other. */
const areOver = (one: PrintedPiece, other: PrintedPiece) =>
  one.x0 < other.x1 && other.x0 < one.x1 && Math.abs(one.y - other.y) < one.size;

/** Degrees by which a picture has to be turned for most of its lines to run from left to right: words are read in all directions. */
function turnOf(lines: Line[]): number {
  const votes = new Map<number, number>();
  for (const { words } of lines) {
    const [first, last] = [words[0]?.bbox, words.at(-1)?.bbox];
    if (!first || !last || words.length < 2) continue;
    const [across, down] = [last.x0 + last.x1 - first.x0 - first.x1, last.y0 + last.y1 - first.y0 - first.y1];
    const turn = Math.abs(across) >= Math.abs(down) ? (across < 0 ? 180 : 0) : down > 0 ? 270 : 90;
    votes.set(turn, (votes.get(turn) ?? 0) + words.length);
  }
  const [most = [0, 0]] = [...votes].sort(([, one], [, other]) => other - one);
  return most[0];
}

// Rest of a line of a table, or the edge of a paper.
const isRule = /^[\s|¦]*$/;

/** The words of a line with their positions, by which the page is read as a page of a PDF is. */
function piecesOf({ words, rowAttributes, bbox }: Line): PrintedPiece[] {
  // Height of the letters with descenders, and their baseline.
  const size = rowAttributes.rowHeight || bbox.y1 - bbox.y0;
  const base = bbox.y1 - Math.max(0, rowAttributes.descenders);
  return words
    .filter(
      ({ confidence, text }) => confidence >= (/[\p{L}\p{N}€%]/u.test(text) ? guessed : sign) && !isRule.test(text),
    )
    .map(({ text, bbox: { x0, x1 } }) => ({ str: `${text.trim()} `, dir: "ltr", x0, x1, y: base, size }));
}

/**
 * A picture prepared for recognition; one that is mostly dark, as of a screen with light letters, also as its negative. `scale`: how much
 * larger it may become.
 */
async function preparedWays(picture: Sharp, scale: number): Promise<Prepared[]> {
  const background = await backgroundOf(picture);
  const grey = picture.clone().flatten({ background }).greyscale();
  if (background !== white) return [await prepared(grey.negate(), scale)];
  const { data } = await grey
    .clone()
    .resize(glanceSide, glanceSide, { fit: "inside" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const mean = data.reduce((sum, light) => sum + light, 0) / data.length;
  const ways = mean < darkest ? [grey.clone(), grey.negate()] : [grey];
  return Promise.all(ways.map((way) => prepared(way, scale)));
}

/** Dark on white, without colours and shadows, and no larger than useful. */
async function prepared(grey: Sharp, scale: number): Promise<Prepared> {
  const { width = longestSide, height = longestSide } = await grey.metadata();
  const side = Math.min(longestSide, Math.round(Math.max(width, height) * scale));
  const { data, info } = await grey
    .resize({ width: side, height: side, fit: "inside" })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  await evenLight(data, info.width, info.height);
  return { data, width: info.width, height: info.height };
}

/** A picture turned by some degrees, on white. */
async function rotated({ data, width, height }: Prepared, degrees: number): Promise<Prepared> {
  const turned = await sharp(data, { raw: { width, height, channels: 1 } })
    .rotate(degrees, { background: white })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: turned.data, width: turned.info.width, height: turned.info.height };
}

/** The image to be recognised: without the lines of tables. */
function withoutRules({ data, width, height }: Prepared): Promise<Buffer> {
  const bare = Buffer.from(data);
  whitenRules(bare, width, height);
  return sharp(bare, { raw: { width, height, channels: 1 } })
    .png({ compressionLevel: 1 })
    .toBuffer();
}

/** How much of a text was recognised for sure. */
const lettersIn = ({ text, confidence }: Recognised) => text.length * confidence;

const surerOf = (one: Recognised, other: Recognised) => (lettersIn(other) > lettersIn(one) ? other : one);

/** Whether most letters are too small to be read well, and may become larger. */
function isSmall({ pieces }: Recognised, picture: Prepared | undefined): boolean {
  if (!picture || Math.max(picture.width, picture.height) * leastScale > longestSide) return false;
  const sizes = pieces.map(({ size }) => size).sort((one, other) => one - other);
  return (sizes[sizes.length >> 1] ?? small) < small;
}

function noneIfUnreadable(error: unknown): undefined {
  if (!(error instanceof Unreadable)) throw error;
}

/** An image, or all pages of one that has several, as scanners and faxes make them (TIFF). */
async function picturesOf(path: string, mediaType: string): Promise<Sharp[]> {
  if (isDecodedHere(mediaType)) {
    const decoded = await decodePicture(readFileSync(path), mediaType).catch(noneIfUnreadable);
    return decoded ? [sharp(decoded.data, { raw: { ...decoded, channels: 4 } })] : [];
  }
  const open = (page: number) => sharp(path, { limitInputPixels: limits.imagePixels, page }).autoOrient();
  const { pages = 1 } = mediaType === "image/tiff" ? await open(0).metadata() : {};
  return Array.from({ length: Math.min(pages, pagesAtMost) }, (_, page) => open(page));
}

/** The pictures that stand in a document, and those on pages of PDFs that are attached to an e-mail. */
async function picturesIn({ path, mediaType, folder }: ScanJob): Promise<Sharp[]> {
  const pictures: Sharp[] = [];
  for (const { bytes, pages } of await picturesHeld(readFileSync(path), mediaType)) {
    if (pages.length === 0) pictures.push(sharp(bytes, { limitInputPixels: limits.imagePixels }).autoOrient());
    const attached = join(folder, "adjunto.pdf");
    if (pages.length > 0) writeFileSync(attached, bytes);
    for (const page of pages) pictures.push(...(await picturesOfPage(attached, page)));
  }
  return pictures;
}

/** The pictures on a page of a PDF. A scan has the page itself as a picture, in one piece or in strips that are put together. */
async function picturesOfPage(path: string, number: number): Promise<Sharp[]> {
  const { pictures, rotate } = await picturesOn(path, number);
  const [first] = pictures;
  const isCut = pictures.every(({ width, channels }) => width === first?.width && channels === first.channels);
  const height = pictures.reduce((sum, picture) => sum + picture.height, 0);
  const whole =
    first && isCut && first.width * height <= limits.imagePixels
      ? [{ ...first, height, data: Buffer.concat(pictures.map(({ data }) => data)) }]
      : pictures;
  const largest = whole.reduce((most, { width, height }) => Math.max(most, width * height), 0);
  return whole
    .filter(({ width, height }) => width * height >= largest * leastOfLargest && width * height <= limits.imagePixels)
    .slice(0, picturesAtMost)
    .map(({ data, ...raw }) => sharp(data, { raw }).rotate(rotate));
}

/** Each language of the recogniser comes in its own package, and the recogniser needs all of them in one folder. */
async function startRecogniser(folder: string): Promise<Worker> {
  const { resolve } = createRequire(import.meta.url);
  for (const code of ["spa", "eng"]) {
    const file = `${code}.traineddata.gz`;
    copyFileSync(resolve(`@tesseract.js-data/${code}/4.0.0_best_int/${file}`), join(folder, file));
  }
  const worker = await createWorker(["spa", "eng"], 1, { langPath: folder, cacheMethod: "none" });
  await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO });
  return worker;
}
