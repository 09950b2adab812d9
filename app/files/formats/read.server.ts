import { extname } from "node:path";
import { declaredText, plainText } from "../../process/text/decoding/plain.server.ts";
import { tableText } from "../../process/text/table.ts";
import { calendarText } from "./agenda/calendar.server.ts";
import { contactsText } from "./agenda/contacts.server.ts";
import { bookText } from "./book.server.ts";
import { electronicInvoiceText, isElectronicInvoice } from "./electronic-invoice.server.ts";
import { htmlText } from "./html.server.ts";
import { type ReadMail, readMail } from "./mail.server.ts";
import { isNotebook, notebookText } from "./notebook.server.ts";
import { readOutlookMail } from "./office/old/outlook.server.ts";
import { oldSlideTexts } from "./office/old/slides.server.ts";
import { oldWordText } from "./office/old/word.server.ts";
import { openDocumentPages } from "./office/open-document.server.ts";
import { sheetsText } from "./office/sheets.server.ts";
import { slideTexts } from "./office/slides.server.ts";
import { wordText } from "./office/word.server.ts";
import { pdfPages } from "./pdf/pdf.server.ts";
import { rtfText } from "./rtf.server.ts";
import { type DocumentType, documentTypes, isDocumentType, readAs, textTypes } from "./types.server.ts";
import { confused, Unreadable } from "./unreadable.server.ts";

/**
 * A document as text: `pages` if it has any that can be cited by their number, `count`: how many there are in all; `pictured`: the numbers
 * of those whose text has to be recognised.
 */
export type ReadText = { text: string } | { pages: string[]; count: number; pictured: number[] };
type ReadBytes = (bytes: Buffer, room: number) => ReadText | Promise<ReadText>;

// E-mails within an e-mail that are read, in depth.
const mailsWithin = 3;
const isPlain = /^text\/|^application\/(?:json|xml|[\w.-]{1,80}\+xml)$/;

const asPages = (pages: string[]) => ({ pages, count: pages.length, pictured: [] });

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
  [documentTypes.eml]: async (bytes, room) => ({ text: await mailText(await readMail(bytes), room) }),
  [documentTypes.msg]: async (bytes, room) => ({ text: await mailText(await readOutlookMail(bytes), room) }),
  [documentTypes.ics]: (bytes) => ({ text: calendarText(plainText(bytes)) }),
  [documentTypes.vcf]: (bytes) => ({ text: contactsText(plainText(bytes)) }),
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
  const invoice = isElectronicInvoice(text) ? electronicInvoiceText(text) : "";
  if (invoice) return { text: invoice };
  const notebook = isNotebook(text) ? notebookText(text) : "";
  if (notebook) return { text: notebook };
  return { text: mediaType === "text/csv" ? tableText(text.slice(0, room)) : text };
}

/** An e-mail and its attached documents and e-mails; an attachment that can't be read is only named. */
async function mailText({ text, attachments }: ReadMail, room: number, depth = 0): Promise<string> {
  const parts = [text];
  for (const { name, mediaType, bytes } of attachments) {
    // Many programs declare a file of an unknown type as plain bytes.
    const said = readAs(mediaType);
    const type = isDocumentType(said) ? said : (typeNamed(extname(name).slice(1).toLowerCase()) ?? said);
    parts.push(`# Adjunto: ${name}`, await attachmentText(bytes, type, room, depth));
  }
  return parts.join("\n\n");
}

/** The type by a name's ending; a document with macros has the ending of the document with another last letter. */
const typeNamed = (ending: string): string | undefined =>
  textTypes.get(ending) ??
  new Map<string, string>(Object.entries(documentTypes)).get(ending.replace(/^(doc|xls|ppt)m$/, "$1x"));

async function attachmentText(bytes: Buffer, type: string, room: number, depth: number): Promise<string> {
  const isMail = type === documentTypes.eml || type === documentTypes.msg;
  if (type.startsWith("image/")) return "(imagen)";
  if (isMail ? depth >= mailsWithin : !isDocumentType(type) && !isPlain.test(type)) return "(no se lee)";
  try {
    if (type === documentTypes.eml) return await mailText(await readMail(bytes), room, depth + 1);
    if (type === documentTypes.msg) return await mailText(await readOutlookMail(bytes), room, depth + 1);
    const read = await readText(bytes, type, room);
    if ("text" in read) return read.text;
    return [...read.pages, ...(read.pictured.length > 0 ? ["(escaneado)"] : [])].join("\n\n").trim();
  } catch (error) {
    if (error instanceof Unreadable) return `(no se ha podido leer: ${error.message})`;
    throw error;
  }
}
