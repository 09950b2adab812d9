import { renderedText } from "../../markdown/rendered.server.ts";

/**
 * A page's Markdown as safe HTML: the part before its first heading, then one section for each heading. A link to sign up leads a person
 * who is signed in to their conversations; a new person goes on to the conversations after signing up.
 */
export async function renderBody(slug: string, body: string, signedIn: boolean) {
  const [lead = "", ...parts] = (await renderedText(`page:${slug}`, body, { page: true }, "pages")).split(/(?=<h2>)/);
  const sections = parts.map((part) => {
    const [, title = "", html = ""] = /^<h2>([\s\S]*?)<\/h2>([\s\S]*)$/.exec(part) ?? [];
    return { title, html: onward(withButtons(html), signedIn) };
  });
  return { lead: onward(withButtons(lead), signedIn), sections };
}

// A paragraph with nothing but links is shown as buttons; the first one is the primary button.
const onlyLinks = /<p>((?:<a [^>]*>[^<]*<\/a>\s*)+)<\/p>/g;

const withButtons = (html: string) =>
  html.replace(
    onlyLinks,
    (_, links: string) => `<p class="buttons">${links.replace("<a ", '<a class="button primary" ')}</p>`,
  );

const start = "/conversation/chat";
const signUp = /href="\/auth\/signup">[^<]{0,100}<\/a>/g;
const onward = (html: string, signedIn: boolean) =>
  signedIn
    ? html.replace(signUp, `href="${start}">Ir a las conversaciones</a>`)
    : html.replaceAll('href="/auth/signup"', `href="/auth/signup?volver=${start}"`);
