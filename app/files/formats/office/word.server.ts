import { openArchive } from "../archive.server.ts";
import { htmlText } from "../html.server.ts";
import { damaged } from "../unreadable.server.ts";

const what = "un DOCX";

/** The text of a DOCX with its headings, lists and tables. Throws Unreadable. */
export async function wordText(bytes: Buffer): Promise<string> {
  openArchive(bytes, what);
  const { default: mammoth } = await import("mammoth");
  const withoutImages = { convertImage: mammoth.images.imgElement(async () => ({ src: "" })) };
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, withoutImages).catch(() => {
    throw damaged(what);
  });
  return htmlText(value);
}
