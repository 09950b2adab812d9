import { renderMarkdown } from "../../markdown/render.server.ts";

/** A page's Markdown as safe HTML: what stands before its first heading, then one section for each heading. */
export function renderBody(body: string): { lead: string; sections: { title: string; html: string }[] } {
  const [lead = "", ...parts] = renderMarkdown(body, { page: true }).split(/(?=<h2>)/);
  const sections = parts.map((part) => {
    const [, title = "", html = ""] = /^<h2>([\s\S]*?)<\/h2>([\s\S]*)$/.exec(part) ?? [];
    return { title, html: withButtons(html) };
  });
  return { lead: withButtons(lead), sections };
}

// A paragraph of links alone is what to do next: the first link is the one that matters.
const onlyLinks = /<p>((?:<a [^>]*>[^<]*<\/a>\s*)+)<\/p>/g;

const withButtons = (html: string) =>
  html.replace(
    onlyLinks,
    (_, links: string) => `<p class="buttons">${links.replace("<a ", '<a class="button primary" ')}</p>`,
  );
