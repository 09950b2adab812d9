import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { parse, serialize } from "parse5";
import { answerJob } from "../../process/child-process-entry.ts";
import { textOf } from "../../process/text/decoding/plain.server.ts";

/** `url`: the address of the page. `charset`: the encoding that the server names. */
export type PageJob = { url: string; bytes: Uint8Array; charset: string | undefined };
/** A place that a page links to, and the words of the link. */
type PageLink = { words: string; url: string };
export type PageAnswer = { title: string; text: string; html: string; links: PageLink[] };

const notText = "script,style,noscript,template,svg,iframe,nav,form";
// Elements that stand for a new line in the text of a page.
const blocks = "p,div,section,article,li,tr,h1,h2,h3,h4,h5,h6,br,blockquote,pre,dt,dd,figcaption,option";
// Pages of ASP.NET stand in one form; a form with a smaller share of the text is one to fill in.
const mostlyForm = 0.3;
// In place of blanks that mean something.
const kept = "\u0001";
// On a page without an article, such as a list, the library may take a small part of the text for one.
const leastOfPage = 0.3;
const own = "main,article";
const notices = '[id*="cookie" i],[class*="cookie" i],[id*="consent" i],[class*="consent" i]';
const linksAtMost = 100;
// In characters.
const longestWords = 100;
const longestUrl = 500;

/** The title and the text of a page: its article, or its whole text if it has no article. */
answerJob(({ url, bytes, charset }: PageJob): PageAnswer => {
  // HTML may leave out tags, also those of the body; `parseHTML` needs all of them.
  const { document } = parseHTML(serialize(parse(textOf(bytes, charset))));
  const length = document.body?.textContent?.length ?? 0;
  for (const form of document.querySelectorAll("form")) {
    if ((form.textContent?.length ?? 0) > mostlyForm * length) form.replaceWith(...form.childNodes);
  }
  leaveOutNotices(document);
  const title = document.querySelector("title")?.textContent?.trim() ?? "";
  const base = URL.parse(document.querySelector("base[href]")?.getAttribute("href") ?? "", url)?.href ?? url;
  const whole = cleaned(document.body?.innerHTML ?? "");
  const article = new Readability(document as never, { maxElemsToParse: 50_000 }).parse();
  const part = cleaned(article?.content ?? "");
  const { html, text } = part.text.length < whole.text.length * leastOfPage ? whole : part;
  const links = linksIn(html, base, url);
  return { title: (article?.title || title).replace(/\s+/g, " ").slice(0, 300), text, html, links };
});

/** Takes out notices of cookies, which may be longer than a page's own text, where the page says which part that is. */
function leaveOutNotices(document: Document): void {
  if (!document.querySelector(own)) return;
  for (const notice of document.querySelectorAll(notices)) {
    if (!notice.closest(own) && !notice.querySelector(own)) notice.remove();
  }
}

function cleaned(content: string): { html: string; text: string } {
  const { document } = parseHTML(`<html><body>${content}</body></html>`);
  for (const gone of document.body.querySelectorAll(notText)) gone.remove();
  const html = document.body.innerHTML;
  for (const cell of document.body.querySelectorAll("td,th")) if (cell.nextElementSibling) cell.after(" | ");
  for (const code of document.body.querySelectorAll("pre")) {
    code.textContent = (code.textContent ?? "").replaceAll(" ", kept);
  }
  for (const block of document.body.querySelectorAll(blocks)) block.after("\n");
  const text = (document.body.textContent ?? "")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .replaceAll(kept, " ")
    .trim();
  return { html, text };
}

/** The links to other pages, each once, resolved against `base`; `own` is the address of the page itself. */
function linksIn(html: string, base: string, own: string): PageLink[] {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const links = new Map<string, PageLink>();
  const withoutPlace = (address: string) => address.split("#", 1)[0];
  for (const link of document.querySelectorAll("a[href]")) {
    const url = URL.parse(link.getAttribute("href") ?? "", base);
    const words = (link.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, longestWords);
    if (!url || !words || !/^https?:$/.test(url.protocol) || url.href.length > longestUrl) continue;
    if (withoutPlace(url.href) === withoutPlace(own) || links.has(url.href)) continue;
    links.set(url.href, { words, url: url.href });
    if (links.size === linksAtMost) break;
  }
  return [...links.values()];
}
