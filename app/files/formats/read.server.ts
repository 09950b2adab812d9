import { extname } from "node:path";
import { declaredText } from "../../process/text/decoding/plain.server.ts";
import { tableText } from "../../process/text/table.ts";
import { bookText } from "./book.server.ts";
import { htmlText } from "./html.server.ts";
import { readMail } from "./mail.server.ts";
import { openDocumentPages } from "./office/open-document.server.ts";
import { sheetsText } from "./office/sheets.server.ts";
import { slideTexts } from "./office/slides.server.ts";
import { oldSlideTexts } from "./office/slides-97.server.ts";
import { wordText } from "./office/word.server.ts";
import { oldWordText } from "./office/word-97.server.ts";
import { pdfPages } from "./pdf/pdf.server.ts";
import { rtfText } from "./rtf.server.ts";
import { type DocumentType, documentTypes, isDocumentType, readAs, textTypes } from "./types.server.ts";
import { confused, Unreadable } from "./unreadable.server.ts";

/** A document as text: `pages` if it has any that can be cited by their number, `count`: how many there are in all. */
export type ReadText = { text: string } | { pages: string[]; count: number };
type ReadBytes = (bytes: Buffer, room: number) => ReadText | Promise<ReadText>;

const asPages = (pages: string[]) => ({ pages, count: pages.length });

const readers: Record<DocumentType, ReadBytes> = {
  [documentTypes.pdf]: pdfPages,
  [documentTypes.docx]: async (bytes) => ({ text: await wordText(bytes) }),
  [documentTypes.xlsx]: async (bytes, room) => ({ text: await sheetsText(bytes, room) }),
  [documentTypes.pptx]: (bytes) => asPages(slideTexts(bytes)),
  [documentTypes.odt]: (bytes) => ({ text: openDocumentPages(bytes, "un ODT").join("\n\n") }),
  [documentTypes.ods]: async (bytes, room) => ({ text: await sheetsText(bytes, room) }),
  [documentTypes.odp]: (bytes) => asPages(openDocumentPages(bytes, "un ODP")),
  [documentTypes.xls]: async (bytes, room) => ({ text: await sheetsText(bytes, room) }),
  [documentTypes.doc]: async (bytes) => ({ text: await oldWordText(bytes) }),
  [documentTypes.ppt]: async (bytes) => asPages(await oldSlideTexts(bytes)),
  [documentTypes.epub]: (bytes) => ({ text: bookText(bytes) }),
  [documentTypes.rtf]: (bytes) => ({ text: rtfText(bytes) }),
  [documentTypes.html]: (bytes) => ({ text: htmlText(declaredText(bytes)) }),
  [documentTypes.eml]: async (bytes, room) => ({ text: await mailText(bytes, room) }),
};

/**
 * The text of a document of this type, of which `room` characters are wanted. Throws Unreadable; if a reader fails
 * on the file in an unforeseen way, its error is the cause.
 */
export async function readText(bytes: Buffer, mediaType: string, room: number): Promise<ReadText> {
  try {
    return await read(bytes, mediaType, room);
  } catch (error) {
    throw error instanceof Unreadable ? error : confused(error);
  }
}

async function read(bytes: Buffer, mediaType: string, room: number): Promise<ReadText> {
  if (isDocumentType(mediaType)) return readers[mediaType](bytes, room);
  const text = declaredText(bytes);
  return { text: mediaType === "text/csv" ? tableText(text.slice(0, room)) : text };
}

/** An e-mail and its attached documents; an attachment that can't be read is only named. An e-mail within it is not opened. */
async function mailText(bytes: Buffer, room: number): Promise<string> {
  const mail = await readMail(bytes);
  const parts = [mail.text];
  for (const { name, mediaType, bytes: content } of mail.attachments) {
    // Many programs declare a file of an unknown type as plain bytes.
    const said = readAs(mediaType);
    const type = isDocumentType(said) ? said : (typeNamed(extname(name).slice(1).toLowerCase()) ?? said);
    const isRead =
      type !== documentTypes.eml &&
      (isDocumentType(type) || /^text\/|^application\/(?:json|xml|[\w.-]{1,80}\+xml)$/.test(type));
    parts.push(`# Adjunto: ${name}`);
    parts.push(isRead ? await attachmentText(content, type, room) : "(no se lee)");
  }
  return parts.join("\n\n");
}

/** The type by a name's ending; a document with macros has the ending of the document with another last letter. */
const typeNamed = (ending: string): string | undefined =>
  textTypes.get(ending) ??
  new Map<string, string>(Object.entries(documentTypes)).get(ending.replace(/^(doc|xls|ppt)m$/, "$1x"));

async function attachmentText(bytes: Buffer, mediaType: string, room: number): Promise<string> {
  try {
    const read = await readText(bytes, mediaType, room);
    return "text" in read ? read.text : read.pages.join("\n\n");
  } catch (error) {
    if (error instanceof Unreadable) return `(no se ha podido leer: ${error.message})`;
    throw error;
  }
}
