// These patterns read HTML of our own renderer only: well-formed, its attributes without angle brackets.
const tag = /<(\/?)([a-z][a-z0-9]*)[^>]*>/g;
const piece = /<(\/?)([a-z][a-z0-9]*)[^>]*>|&[#\w]+;|\s+|[^\s<&]/g;
const empty = new Set(["br", "hr"]);

/** The tags that are open at the end of some HTML, outermost first. */
function openTags(html: string): string[] {
  const open: string[] = [];
  for (const [whole, slash, name = ""] of html.matchAll(tag)) {
    if (slash) open.pop();
    else if (!empty.has(name)) open.push(whole);
  }
  return open;
}

const close = (tags: string[]) =>
  tags
    .toReversed()
    .map((open) => `</${/^<([a-z0-9]+)/.exec(open)?.[1]}>`)
    .join("");

/** The tags that close what is open at the end of some HTML. */
export const closingTags = (html: string): string => close(openTags(html));

const closing = /^<\/(?:p|li|ul|ol|table|thead|tbody|section|blockquote)>$/;
const closingCode = /^<\/(?:span|code|pre|figure)>$/;

/** HTML of blocks with the tags at its end left open; in code the line break before them is text. */
export function withoutClosingTags(html: string): string {
  let rest = html.trimEnd();
  const isCode = rest.endsWith("</figure>");
  for (let isOpen = false; ; isOpen = true) {
    const last = rest.lastIndexOf("</");
    if (last < 0 || !(isCode ? closingCode : closing).test(rest.slice(last))) return isOpen ? rest : html;
    rest = isCode ? rest.slice(0, last) : rest.slice(0, last).trimEnd();
  }
}

/**
 * HTML to write after `given`, whose last tags may be open, so that the document shows what `html` shows. If `html` starts with `given`,
 * that is the rest. If only the tags differ, the rest is preceded by the closing and opening tags that lead there. Returns undefined if the
 * text itself differs.
 */
export function continuation(given: string, html: string): string | undefined {
  if (html.startsWith(given)) return html.slice(given.length);
  const shown = given.replace(/<[^>]*>|\s+/g, "");
  const open: string[] = [];
  let read = 0;
  let at = 0;
  for (const { 0: text, 1: slash, 2: name = "", index } of html.matchAll(piece)) {
    if (read >= shown.length && !slash && text.trim()) break;
    at = index + text.length;
    if (slash) open.pop();
    else if (name) {
      if (!empty.has(name)) open.push(text);
    } else if (text.trim()) {
      if (!shown.startsWith(text, read)) return undefined;
      read += text.length;
    }
  }
  if (read < shown.length) return undefined;
  return closingTags(given) + open.join("") + html.slice(at);
}
