import { copyFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { createWorker, type Line, PSM, type Worker } from "tesseract.js";
import { answerJob } from "../../process/child-process-entry.ts";
import { limits } from "../../process/limits.ts";
import { layoutText, type PrintedPiece } from "../formats/pdf/layout.server.ts";
import { picturesOn } from "../formats/pdf/pictures.server.ts";
import { Unreadable } from "../formats/unreadable.server.ts";
import { backgroundOf, white } from "./background.server.ts";
import { decodePicture, isDecodedHere } from "./decode-picture.server.ts";
import { withoutRules } from "./rules.server.ts";
import type { ScanAnswer, ScanJob } from "./scan.server.ts";

// Niceness: all other work on this machine goes first.
const behindOthers = 10;
// In pixels: an A4 page at 250 dots an inch. More makes it slower, not better.
const longestSide = 2_900;
// In pixels: room for some lines, enough to tell which way up a page is.
const glanceSide = 600;
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

answerJob(async (job: ScanJob): Promise<ScanAnswer> => {
  setPriority(behindOthers);
  // Started with the first picture: a page may also be just empty.
  let recogniser: Promise<Worker> | undefined;
  const texts: string[] = [];
  for (const page of job.pages) {
    const pictures =
      job.mediaType === "application/pdf"
        ? await picturesOfPage(job.path, page)
        : await picturesOf(job.path, job.mediaType);
    const found: string[] = [];
    for (const picture of pictures) {
      // A picture that can't be decoded has no text; the other pictures keep theirs.
      const ready = await prepared(picture).catch(() => undefined);
      if (ready) found.push(await textIn(ready));
    }
    texts.push(found.filter(Boolean).join("\n\n"));
  }
  return { texts };

  /** The text of a picture that may stand on its side or upside down. */
  async function textIn(picture: Buffer): Promise<string> {
    const asItIs = await recognise(picture);
    const angle = asItIs.confidence < upright ? await wayUp(picture) : 0;
    const { text, confidence } = angle ? await recognise(await sharp(picture).rotate(angle).toBuffer()) : asItIs;
    return confidence >= surely ? text : "";
  }

  /** Degrees by which a picture has to be turned so that the text in its middle can be read; 0 if no angle is found. */
  async function wayUp(picture: Buffer): Promise<number> {
    const { width, height } = await sharp(picture).metadata();
    const [across, down] = [Math.min(width, glanceSide), Math.min(height, glanceSide)];
    const middle = { left: (width - across) >> 1, top: (height - down) >> 1, width: across, height: down };
    const glance = await sharp(picture).extract(middle).toBuffer();
    for (const angle of [90, 270, 180]) {
      const { text, confidence } = await recognise(await sharp(glance).rotate(angle).toBuffer(), false);
      if (text && confidence >= upright) return angle;
    }
    return 0;
  }

  /** `rotateAuto`: a skewed image is straightened first. */
  async function recognise(image: Buffer, rotateAuto = true): Promise<{ text: string; confidence: number }> {
    recogniser ??= startRecogniser(job.folder);
    const { data } = await (await recogniser).recognize(image, { rotateAuto }, { text: false, blocks: true });
    const lines = (data.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
    return { text: layoutText(lines.flatMap(piecesOf)), confidence: data.confidence };
  }
});

/** The words of a line with their positions, by which the page is read as a page of a PDF is. */
function piecesOf({ words, rowAttributes, bbox }: Line): PrintedPiece[] {
  // Height of the letters with descenders, and their baseline.
  const size = rowAttributes.rowHeight || bbox.y1 - bbox.y0;
  const base = bbox.y1 - Math.max(0, rowAttributes.descenders);
  return words
    .filter(({ confidence, text }) => confidence >= (/[\p{L}\p{N}]/u.test(text) ? guessed : sign) && text.trim())
    .map(({ text, bbox: { x0, x1 } }) => ({ str: `${text.trim()} `, dir: "ltr", x0, x1, y: base, size }));
}

/** A picture prepared for recognition: dark on white, without colours and lines of tables, and no larger than useful. */
async function prepared(picture: Sharp): Promise<Buffer> {
  const background = await backgroundOf(picture);
  const grey = picture.flatten({ background }).greyscale();
  const { data, info } = await (background === white ? grey : grey.negate())
    .resize({ width: longestSide, height: longestSide, fit: "inside", withoutEnlargement: true })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (channels === 1) withoutRules(data, width, height);
  return sharp(data, { raw: { width, height, channels } }).png({ compressionLevel: 1 }).toBuffer();
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
