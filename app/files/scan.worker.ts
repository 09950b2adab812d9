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
// Of a hundred. Below, it is a picture, and its «letters» are leaves and windows.
const surely = 50;

answerJob(async (job: ScanJob): Promise<ScanAnswer> => {
  setPriority(behindOthers);
  // Started with the first picture: a page may also be just empty.
  let recogniser: Promise<Worker> | undefined;
  const texts: string[] = [];
  for (const page of job.pages) {
    const picture = job.mediaType === "application/pdf" ? await pictureOf(job.path, page) : openImage(job.path);
    texts.push(picture ? await textIn(picture) : "");
  }
  return { texts };

  async function textIn(picture: Sharp): Promise<string> {
    const image = await picture
      .flatten({ background: "#fff" })
      .greyscale()
      .resize({ width: longestSide, height: longestSide, fit: "inside", withoutEnlargement: true })
      .png({ compressionLevel: 1 })
      .toBuffer();
    recogniser ??= startRecogniser(job.folder);
    const { data } = await (await recogniser).recognize(image, { rotateAuto: true });
    return data.confidence >= surely ? data.text.trim() : "";
  }
});

const openImage = (path: string) => sharp(path, { limitInputPixels: limits.imagePixels }).autoOrient();

/** The largest picture on a page of a PDF, as it stands there: of a scan, the page itself. */
async function pictureOf(path: string, number: number): Promise<Sharp | undefined> {
  const { extractImages, getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(readFileSync(path)), { verbosity: 0 });
  const images = await extractImages(pdf, number);
  const [largest] = images.toSorted((a, b) => b.width * b.height - a.width * a.height);
  if (!largest) return undefined;
  const { rotate } = await pdf.getPage(number);
  const { data, width, height, channels } = largest;
  return sharp(data, { raw: { width, height, channels } }).rotate(rotate);
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
