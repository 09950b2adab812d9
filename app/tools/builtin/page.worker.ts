import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { parse, serialize } from "parse5";
import { answerJob } from "../../process/child-process-entry.ts";

/** `charset`: the encoding that the server names. */
export type PageJob = { bytes: Uint8Array; charset: string | undefined };
export type PageAnswer = { title: string; text: string; html: string };

const notText = "script,style,noscript,template,svg,iframe,nav,form";
// Elements that stand for a new line in the text of a page.
const blocks = "p,div,section,article,li,tr,h1,h2,h3,h4,h5,h6,br,blockquote,pre,dt,dd,figcaption";
// On a page without an article, such as a list, the library may take a small part of the text for one.
const leastOfPage = 0.3;

/** The title and the text of a page: its article, or its whole text if it has no article. */
answerJob(({ bytes, charset }: PageJob): PageAnswer => {
  // HTML may leave out tags, also those of the body; `parseHTML` needs all of them.
  const { document } = parseHTML(serialize(parse(decoded(bytes, charset))));
  const title = document.querySelector("title")?.textContent?.trim() ?? "";
  const whole = cleaned(document.body?.innerHTML ?? "");
  const article = new Readability(document as never, { maxElemsToParse: 50_000 }).parse();
  const part = cleaned(article?.content ?? "");
  const { html, text } = part.text.length < whole.text.length * leastOfPage ? whole : part;
  return { title: (article?.title || title).replace(/\s+/g, " ").slice(0, 300), text, html };
});

function cleaned(content: string): { html: string; text: string } {
  const { document } = parseHTML(`<html><body>${content}</body></html>`);
  for (const gone of document.body.querySelectorAll(notText)) gone.remove();
  const html = document.body.innerHTML;
  for (const block of document.body.querySelectorAll(blocks)) block.after("\n");
  const text = (document.body.textContent ?? "")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return { html, text };
}

/** Decodes by the byte order mark, else the encoding that the server or page names, else as UTF-8: the HTML standard's order. */
function decoded(bytes: Uint8Array, charset: string | undefined): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 2_000)).toString("latin1");
  const marked = head.startsWith("\xef\xbb\xbf") ? "utf-8" : head.startsWith("\xff\xfe") ? "utf-16le" : undefined;
  const said = marked ?? charset ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(said).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
