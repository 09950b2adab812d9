import { extname } from "node:path";
import { openArchive } from "./archive.server.ts";
import { readMail } from "./mail.server.ts";
import { readOutlookMail } from "./office/old/outlook.server.ts";
import { pdfPages } from "./pdf/pdf.server.ts";
import { documentTypes } from "./types.server.ts";
import { Unreadable } from "./unreadable.server.ts";

/** A picture that stands in a document, or pages of an attached PDF that are pictures; `pages`: their numbers, empty for a picture. */
export type HeldPicture = { bytes: Buffer; pages: number[] };

// In bytes: a smaller picture is a logo or a drawing.
const leastPicture = 30_000;
// Recognising takes two or three seconds each.
const picturesAtMost = 4;
const inOffice = /^(?:word\/media|Pictures)\/[^/]+\.(?:png|jpe?g|tiff?|bmp|webp)$/i;

/** Pictures in a document or an e-mail that may have text: scans and screenshots that were pasted or attached; none where they can't be read. */
export async function picturesHeld(bytes: Buffer, mediaType: string): Promise<HeldPicture[]> {
  try {
    return await picturesIn(bytes, mediaType);
  } catch (error) {
    if (error instanceof Unreadable) return [];
    throw error;
  }
}

async function picturesIn(bytes: Buffer, mediaType: string): Promise<HeldPicture[]> {
  if (mediaType === documentTypes.docx || mediaType === documentTypes.odt) return inArchive(bytes);
  if (mediaType === documentTypes.eml) return attached((await readMail(bytes)).attachments);
  if (mediaType === documentTypes.msg) return attached((await readOutlookMail(bytes)).attachments);
  return [];
}

function inArchive(bytes: Buffer): HeldPicture[] {
  const archive = openArchive(bytes, "un documento");
  return archive.names
    .filter((name) => inOffice.test(name))
    .map((name) => Buffer.from(archive.read(name) ?? []))
    .filter(({ length }) => length >= leastPicture)
    .sort((one, other) => other.length - one.length)
    .slice(0, picturesAtMost)
    .map((picture) => ({ bytes: picture, pages: [] }));
}

async function attached(attachments: { name: string; mediaType: string; bytes: Buffer }[]): Promise<HeldPicture[]> {
  const held: HeldPicture[] = [];
  for (const { name, mediaType, bytes } of attachments) {
    if (held.length >= picturesAtMost) break;
    const isPdf = mediaType === documentTypes.pdf || extname(name).toLowerCase() === ".pdf";
    const pages = isPdf ? await picturedPages(bytes) : [];
    if (pages.length > 0 || (mediaType.startsWith("image/") && bytes.length >= leastPicture))
      held.push({ bytes, pages });
  }
  return held;
}

/** Pages that are pictures; none of a PDF that can't be read. */
async function picturedPages(bytes: Buffer): Promise<number[]> {
  try {
    return (await pdfPages(bytes, Number.POSITIVE_INFINITY)).pictured.slice(0, picturesAtMost);
  } catch (error) {
    if (error instanceof Unreadable) return [];
    throw error;
  }
}
