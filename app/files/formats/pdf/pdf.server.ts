import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { TextItem, TextMarkedContent } from "pdfjs-dist/types/src/display/api.js";
import { damaged, Unreadable, withPassword } from "../unreadable.server.ts";
import { lineOf } from "./right-to-left.server.ts";

const pagesAtMost = 5_000;

/** The text of each page of a PDF, up to `room` characters, and how many pages it has. Throws Unreadable. */
export async function pdfPages(bytes: Uint8Array, room: number): Promise<{ pages: string[]; count: number }> {
  const pdf = await openPdf(bytes).catch(refuse);
  if (pdf.numPages > pagesAtMost) {
    throw new Unreadable(`tiene más de ${pagesAtMost.toLocaleString("es")} páginas. Pártelo en varios.`);
  }
  const pages: string[] = [];
  let left = room;
  for (let number = 1; number <= pdf.numPages && left > 0; number++) {
    const page = await pdf.getPage(number).catch(refuse);
    const { items } = await page.getTextContent().catch(refuse);
    const text = linesOf(items).map(lineOf).join("\n");
    page.cleanup();
    pages.push(text);
    left -= text.length;
  }
  return { pages, count: pdf.numPages };
}

/** The pieces of a page, line by line; marks of its structure are left out. */
function linesOf(items: (TextItem | TextMarkedContent)[]): TextItem[][] {
  const lines: TextItem[][] = [[]];
  for (const item of items) {
    if (!("str" in item)) continue;
    lines.at(-1)?.push(item);
    if (item.hasEOL) lines.push([]);
  }
  return lines;
}

/** Opens a PDF with pdf.js, in this thread. Rejects with its errors. */
export async function openPdf(bytes: Uint8Array) {
  const { getDocument } = await import("pdfjs-dist/legacy/build/pdf.mjs");
  return getDocument({
    // It takes the bytes for itself.
    data: new Uint8Array(bytes),
    verbosity: 0,
    // The characters of other scripts, and the decoders of what faxes and scanners write (CCITT, JBIG2, JPEG 2000).
    cMapUrl: `${folder("cmaps/LICENSE")}/`,
    wasmUrl: `${folder("wasm/jbig2.wasm")}/`,
    useSystemFonts: false,
    disableFontFace: true,
  }).promise;
}

const folder = (file: string) => dirname(createRequire(import.meta.url).resolve(`pdfjs-dist/${file}`));

function refuse(error: Error): never {
  throw error.name === "PasswordException" ? withPassword() : damaged("un PDF");
}
