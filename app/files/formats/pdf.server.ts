import { damaged, Unreadable, withPassword } from "./unreadable.server.ts";

const pagesAtMost = 5_000;

/** The text of each page of a PDF, up to `room` characters, and how many pages it has. Throws Unreadable. */
export async function pdfPages(bytes: Uint8Array, room: number): Promise<{ pages: string[]; count: number }> {
  const { getDocumentProxy } = await import("unpdf");
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 }).catch(refuse);
  if (pdf.numPages > pagesAtMost) {
    throw new Unreadable(`tiene más de ${pagesAtMost.toLocaleString("es")} páginas. Pártelo en varios.`);
  }
  const pages: string[] = [];
  let left = room;
  for (let number = 1; number <= pdf.numPages && left > 0; number++) {
    const page = await pdf.getPage(number).catch(refuse);
    const { items } = await page.getTextContent().catch(refuse);
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    page.cleanup();
    pages.push(text);
    left -= text.length;
  }
  return { pages, count: pdf.numPages };
}

function refuse(error: Error): never {
  throw error.name === "PasswordException" ? withPassword() : damaged("un PDF");
}
