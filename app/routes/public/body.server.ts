import { renderedText } from "../../markdown/rendered.server.ts";

/** A page's Markdown as safe HTML: what stands before its first heading, then one section for each heading. */
export async function renderBody(slug: string, body: string) {
  const [lead = "", ...parts] = (await renderedText(`page:${slug}`, body, { page: true }, "pages")).split(/(?=<h2>)/);
  const sections = parts.map((part) => {
    const [, title = "", html = ""] = /^<h2>([\s\S]*?)<\/h2>([\s\S]*)$/.exec(part) ?? [];
    return { title, html: withButtons(html) };
  });
  return { lead: withButtons(lead), sections };
}

// A paragraph with nothing but links is shown as buttons; the first one is the primary button.
const onlyLinks = /<p>((?:<a [^>]*>[^<]*<\/a>\s*)+)<\/p>/g;

const withButtons = (html: string) =>
  html.replace(
    onlyLinks,
    (_, links: string) => `<p class="buttons">${links.replace("<a ", '<a class="button primary" ')}</p>`,
  );
