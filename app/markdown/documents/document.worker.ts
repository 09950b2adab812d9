import { answerJob } from "../../process/child-process-entry.ts";
import { paper } from "../drawings/palette.server.ts";
import { docxOf } from "./docx.server.ts";
import { odtOf } from "./odt.server.ts";
import type { OfficeDocument, OfficeImages, OfficePictures, OfficeSheet } from "./office-document.server.ts";
import { xlsxOf } from "./xlsx.server.ts";

export type DocumentJob = (OfficeDocument | OfficeSheet) & { pictures: OfficePictures };

answerJob(async (job: DocumentJob) => {
  if (job.format === "xlsx") return xlsxOf(job);
  const images = await imagesOf(job.pictures);
  return job.format === "docx" ? docxOf(inXml(job), images) : odtOf(job, images);
});

/** A document without the two characters that XML 1.0 forbids and the library lets through: text from PDFs has them for hyphens. */
const inXml = ({ turns, ...more }: OfficeDocument): OfficeDocument => ({
  ...more,
  turns: turns.map((turn) => ({ ...turn, markdown: turn.markdown.replace(/[\ufffe\uffff]/g, "") })),
});

// Dots per inch: as many as paper shows, and those at which pictures have their own size. Then the most pixels of a side.
const dense = 192;
const plain = 72;
const sideAtMost = 3_000;
const seconds = 5;

async function imagesOf(pictures: OfficePictures): Promise<OfficeImages> {
  if (Object.keys(pictures).length === 0) return {};
  const { default: sharp } = await import("sharp");
  const images: OfficeImages = {};
  for (const [key, { svg, width, height, label }] of Object.entries(pictures)) {
    const density = Math.max(1, Math.min(dense, (sideAtMost / Math.max(width, height)) * plain));
    // A picture that can't be made stays code; the others are not affected.
    const png = await sharp(Buffer.from(svg), { density })
      .flatten({ background: paper })
      .timeout({ seconds })
      .png()
      .toBuffer()
      .catch(() => undefined);
    if (png) images[key] = { png, width, height, label };
  }
  return images;
}
