import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { parse, serialize } from "parse5";
import { answerJob } from "../../process/child-process-entry.ts";

export type PageJob = { url: string; bytes: Uint8Array };
export type PageAnswer = { title: string; text: string };

// What stands for a new line in the text of a page.
const blocks = "p,div,section,article,li,tr,h1,h2,h3,h4,h5,h6,br,blockquote,pre,dt,dd,figcaption";

/** The title and the text of a page: the article in it, or all that it says where it is no article. */
answerJob(({ bytes }: PageJob): PageAnswer => {
  // HTML may leave out tags, also those of the body; what is made of it here needs all of them.
  const { document } = parseHTML(serialize(parse(decoded(bytes))));
  const title = document.querySelector("title")?.textContent?.trim() ?? "";
  const body = document.body?.cloneNode(true) as typeof document.body | null;
  const article = new Readability(document as never, { maxElemsToParse: 50_000 }).parse();
  const { document: read } = parseHTML(`<html><body>${article?.content ?? ""}</body></html>`);
  const text = textIn(read.body);
  return { title: (article?.title || title).slice(0, 300), text: text || (body ? textIn(body) : "") };
});

function textIn(body: HTMLElement): string {
  for (const gone of body.querySelectorAll("script,style,noscript,template,svg,iframe,nav,form")) gone.remove();
  for (const block of body.querySelectorAll(blocks)) block.after("\n");
  const text = body.textContent ?? "";
  return text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** By what the page says of its characters, or as UTF-8. */
function decoded(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 2_000)).toString("latin1");
  const [, said = "utf-8"] = /<meta[^>]+charset=["']?([\w-]+)/i.exec(head) ?? [];
  try {
    return new TextDecoder(said).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
