// First parts of Spanish words that keep their hyphen: «franco-alemán», «teórico-práctico».
const compound =
  /^(?:franco|hispano|anglo|luso|italo|ítalo|greco|germano|ruso|chino|afro|judeo|socio|político|económico|contencioso|técnico|teórico|físico|químico|jurídico|médico|administrativo|histórico|artístico|científico|laboral|fiscal|social|público|privado|norte|sur|este|oeste|lingüístico|agrícola|industrial|docente|civil|penal|costo|coste|calidad|relación|hombre|madre|padre|hora|ex|no|vice|pre|post|pro|anti)$/iu;
// A word that ends a line with a hyphen; what is between, which at the end of a page may be the page's number; and the word's rest, or
// the second part of the compound, at the beginning of the next line.
const cut =
  /(?<![\p{L}-])((?:\p{L}{1,40}-){0,4}\p{L}{2,40})[-\u2010\u00ad](\n|(?:\n{1,2}(?:[Pp]ágina )?[\d /–—-]{1,12}(?:de \d{1,4})?)?\n?\f)(\p{Ll}[\p{L}]*)([.,;:!?)»”]*)[ \n]?/gu;

const headLines = 3;

/**
 * Joins the words that are divided at the ends of lines and pages, at the end of the first line. A hyphen stays if the document has
 * the word with the hyphen elsewhere, or has both parts as words and not the joined word.
 */
export function joinHyphens(pages: string[]): string[] {
  const heads = pages.map((page, number) => headOf(page, pages[number - 1]));
  const text = pages.map((page, number) => page.slice(heads[number]?.length).replaceAll("\f", "\n")).join("\f");
  if (text.search(cut) < 0) return pages;
  const words = new Set(
    text
      .replace(cut, " ")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu),
  );
  const isOwn = (first: string, rest: string) => {
    if (words.has(first + rest)) return false;
    if (words.has(`${first}-${rest}`)) return true;
    return (
      first.includes("-") ||
      compound.test(first) ||
      (first.length > 3 && rest.length > 3 && words.has(first) && words.has(rest))
    );
  };
  return text
    .replace(cut, (all, first: string, between: string, rest: string, signs: string) => {
      const soft = all[first.length] === "\u00ad";
      const hyphen = !soft && isOwn(first.toLowerCase(), rest.toLowerCase()) ? "-" : "";
      return `${first}${hyphen}${rest}${signs}${between}`;
    })
    .split("\f")
    .map((page, number) => `${heads[number]}${page}`);
}

/** First lines of a page that the page before it begins with too, other than by their digits. */
function headOf(page: string, before: string | undefined): string {
  const linesBefore = before?.split("\n", headLines) ?? [];
  const lines = page.split("\n", headLines);
  const differs = lines.findIndex((line, at) => withoutDigits(line) !== withoutDigits(linesBefore[at]));
  const shared = lines.slice(0, differs < 0 ? headLines : differs);
  return page.slice(
    0,
    shared.reduce((length, line) => length + line.length + 1, 0),
  );
}

const withoutDigits = (line: string | undefined) => line?.replace(/\d+/g, "0");
