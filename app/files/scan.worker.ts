import { copyFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { createWorker, type Worker } from "tesseract.js";
import { answerJob } from "../process/child-process-entry.ts";
import { limits } from "../process/limits.ts";
import type { ScanAnswer, ScanJob } from "./scan.server.ts";

// Whatever else is done on this machine goes before.
const behindOthers = 10;
// In pixels: an A4 page at 250 dots an inch. More makes it slower, not better.
const longestSide = 2_900;
// In pixels: some lines, enough to see which way a page lies.
const glanceSide = 600;
// On one page; what is much smaller than the largest is a stamp or a letterhead.
const picturesAtMost = 6;
const leastOfLargest = 0.1;
// Of a hundred. Below, it is a picture, and its «letters» are leaves and windows; letters that lie on their side are taken for others
// with some 55, and read with 95.
const surely = 60;
const upright = 75;

answerJob(async (job: ScanJob): Promise<ScanAnswer> => {
  setPriority(behindOthers);
  // Started with the first picture: a page may also be just empty.
  let recogniser: Promise<Worker> | undefined;
  const texts: string[] = [];
  for (const page of job.pages) {
    const pictures = job.mediaType === "application/pdf" ? await picturesOn(job.path, page) : [openImage(job.path)];
    const found: string[] = [];
    for (const picture of pictures) found.push(await textIn(await prepared(picture)));
    texts.push(found.filter(Boolean).join("\n\n"));
  }
  return { texts };

  /** The text of a picture that may stand on its side or upside down. */
  async function textIn(picture: Buffer): Promise<string> {
    const angle = await wayUp(picture);
    const { text, confidence } = await recognise(angle === 0 ? picture : await sharp(picture).rotate(angle).toBuffer());
    return confidence >= surely ? text : "";
  }

  /** By how much it has to be turned so that what stands in its middle can be read; 0 if that can't be told. */
  async function wayUp(picture: Buffer): Promise<number> {
    const { width, height } = await sharp(picture).metadata();
    const [across, down] = [Math.min(width, glanceSide), Math.min(height, glanceSide)];
    const middle = { left: (width - across) >> 1, top: (height - down) >> 1, width: across, height: down };
    const glance = await sharp(picture).extract(middle).toBuffer();
    for (const angle of [0, 90, 270, 180]) {
      const { text, confidence } = await recognise(await sharp(glance).rotate(angle).toBuffer());
      if (text && confidence >= upright) return angle;
    }
    return 0;
  }

  async function recognise(image: Buffer): Promise<{ text: string; confidence: number }> {
    recogniser ??= startRecogniser(job.folder);
    const { data } = await (await recogniser).recognize(image, { rotateAuto: true });
    return { text: data.text.trim(), confidence: data.confidence };
  }
});

/** As it is recognised best: dark on white, and no larger than it helps. */
const prepared = (picture: Sharp): Promise<Buffer> =>
  picture
    .flatten({ background: "#fff" })
    .greyscale()
    .resize({ width: longestSide, height: longestSide, fit: "inside", withoutEnlargement: true })
    .png({ compressionLevel: 1 })
    .toBuffer();

const openImage = (path: string) => sharp(path, { limitInputPixels: limits.imagePixels }).autoOrient();

/** The pictures on a page of a PDF, in their order: of a scan, the page itself, in one piece or in strips that are put together. */
async function picturesOn(path: string, number: number): Promise<Sharp[]> {
  const { extractImages, getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(readFileSync(path)), { verbosity: 0 });
  const images = await extractImages(pdf, number);
  const { rotate } = await pdf.getPage(number);
  const [first] = images;
  if (
    first &&
    images.length > 1 &&
    images.every(({ width, channels }) => width === first.width && channels === first.channels)
  ) {
    const { width, channels } = first;
    const height = images.reduce((sum, image) => sum + image.height, 0);
    const data = Buffer.concat(images.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
    if (width * height <= limits.imagePixels) return [sharp(data, { raw: { width, height, channels } }).rotate(rotate)];
  }
  const largest = Math.max(...images.map(({ width, height }) => width * height));
  return images
    .filter(({ width, height }) => width * height >= largest * leastOfLargest)
    .slice(0, picturesAtMost)
    .map(({ data, width, height, channels }) => sharp(data, { raw: { width, height, channels } }).rotate(rotate));
}

/** What the recogniser knows of languages comes in a package each, and it wants all in one folder. */
function startRecogniser(folder: string): Promise<Worker> {
  const { resolve } = createRequire(import.meta.url);
  for (const code of ["spa", "eng"]) {
    const file = `${code}.traineddata.gz`;
    copyFileSync(resolve(`@tesseract.js-data/${code}/4.0.0_best_int/${file}`), join(folder, file));
  }
  return createWorker(["spa", "eng"], 1, { langPath: folder, cacheMethod: "none" });
}
