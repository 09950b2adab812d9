import { readFileSync } from "node:fs";
import { cutPassages, indexedWords } from "../db/search/passages.server.ts";
import { answerJob } from "../process/child-process-entry.ts";
import { limits } from "../process/limits.ts";
import { cutHere } from "./cut-here.server.ts";
import type { Reading, ReadingAnswer, ReadingJob } from "./reading.server.ts";

// A Word file of a thousand pages has some 20 MB of XML; a zip bomb has gigabytes.
const archiveBytes = 150 * 1024 * 1024;
const pagesAtMost = 5_000;

const damagedDocx = "es un DOCX dañado o incompleto: no se puede abrir.";

/** The document can't be read. The message is the sentence for the person. */
class Unreadable extends Error {}

answerJob(answer);

async function answer(job: ReadingJob): Promise<ReadingAnswer> {
  try {
    return { reading: await read(job) };
  } catch (error) {
    if (error instanceof Unreadable) return { refused: error.message };
    throw error;
  }
}

async function read({ path, mediaType }: ReadingJob): Promise<Reading> {
  const bytes = readFileSync(path);
  if (mediaType === "application/pdf") {
    const pages = await pdfPages(bytes);
    return { text: pages.texts.join("\f"), pages: pages.count, passages: passagesOf(pages.texts, true) };
  }
  const whole = mediaType.endsWith("wordprocessingml.document") ? await docxText(bytes) : plainText(bytes);
  const tidied = tidy(whole.slice(0, 2 * limits.fileText));
  const cut = tidied.length > limits.fileText;
  const text = cut ? `${tidied.slice(0, limits.fileText).toWellFormed()}\n\n${cutHere}` : tidied.toWellFormed();
  return { text, pages: null, passages: passagesOf([text], false) };
}

async function pdfPages(bytes: Buffer): Promise<{ texts: string[]; count: number }> {
  const { getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 }).catch(refusePdf);
  if (pdf.numPages > pagesAtMost) {
    throw new Unreadable(`tiene más de ${pagesAtMost.toLocaleString("es")} páginas. Pártelo en varios.`);
  }
  const pages: string[] = [];
  let room = limits.fileText;
  for (let number = 1; number <= pdf.numPages && room > 0; number++) {
    const page = await pdf.getPage(number).catch(refusePdf);
    const { items } = await page.getTextContent().catch(refusePdf);
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    page.cleanup();
    pages.push(tidy(text).slice(0, room).toWellFormed());
    room -= text.length;
  }
  if (room <= 0) pages.push(cutHere);
  return { texts: pages, count: pdf.numPages };
}

function refusePdf(error: Error): never {
  if (error.name === "PasswordException") {
    throw new Unreadable("tiene contraseña. Quítasela y vuelve a subirlo.");
  }
  throw new Unreadable("es un PDF dañado o incompleto: no se puede abrir.");
}

async function docxText(bytes: Buffer): Promise<string> {
  await refuseBomb(bytes);
  const { default: mammoth } = await import("mammoth");
  const { value } = await mammoth.extractRawText({ buffer: bytes }).catch(() => {
    throw new Unreadable(damagedDocx);
  });
  return value;
}

/** Inflates the archive once without keeping it, because the sizes in its headers may be forged. */
async function refuseBomb(bytes: Buffer): Promise<void> {
  const { Unzip, UnzipInflate } = await import("fflate");
  let inflated = 0;
  let damaged = false;
  const unzip = new Unzip((file) => {
    file.ondata = (error, chunk) => {
      if (error) damaged = true;
      else inflated += chunk.length;
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  const step = 16 * 1024;
  for (let at = 0; at < bytes.length && !damaged; at += step) {
    try {
      unzip.push(bytes.subarray(at, at + step), at + step >= bytes.length);
    } catch {
      damaged = true;
    }
    if (inflated > archiveBytes) throw new Unreadable("se hincha al abrirlo hasta un tamaño que no se admite.");
  }
  if (damaged) throw new Unreadable(damagedDocx);
}

/** Decodes UTF-8, UTF-16 with a BOM, or Windows-1252, which Spanish spreadsheets still write. */
function plainText(bytes: Buffer): string {
  const mark = bytes.length > 1 ? bytes.readUInt16BE(0) : 0;
  const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

// PostgreSQL can't store NUL, and form feeds separate pages.
function tidy(text: string): string {
  return text
    .replaceAll("\0", "")
    .replaceAll("\f", "\n")
    .replace(/\r\n?/g, "\n")
    .replace(/(?<![ \t])[ \t]+\n/g, "\n")
    .trim();
}

function passagesOf(pages: string[], numbered: boolean) {
  const passages = pages.flatMap((text, index) =>
    cutPassages(text).map((passage) => ({ page: numbered ? index + 1 : null, text: passage })),
  );
  const words = indexedWords(passages.map(({ text }) => text));
  return passages.map((passage, position) => ({ ...passage, position, words: words[position] ?? "" }));
}
