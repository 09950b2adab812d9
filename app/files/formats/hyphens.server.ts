// First parts of Spanish words that keep their hyphen: «franco-alemán», «teórico-práctico».
const compound =
  /^(?:franco|hispano|anglo|luso|italo|ítalo|greco|germano|ruso|chino|afro|judeo|socio|político|económico|técnico|teórico|físico|químico|jurídico|médico|administrativo|histórico|artístico|científico|laboral|fiscal|social|público|privado|norte|sur|este|oeste|lingüístico|agrícola|industrial|docente|civil|penal|costo|coste|calidad|relación|hombre|madre|padre|hora|ex|no|vice|pre|post|pro|anti)$/iu;
// A word that ends a line with a hyphen, and its rest, or the second part of the compound, at the beginning of the next line.
const cut = /(?<![\p{L}-])((?:\p{L}{1,40}-){0,4}\p{L}{2,40})[-\u2010\u00ad]\n(\p{Ll}[\p{L}]*)([.,;:!?)»”]*)[ \n]?/gu;

/**
 * Joins the words that are divided at the ends of lines, at the end of the first line. A hyphen stays if the document has the word
 * with the hyphen elsewhere, or has both parts as words and not the joined word.
 */
export function joinHyphens(pages: string[]): string[] {
  if (!pages.some((page) => page.search(cut) >= 0)) return pages;
  const words = new Set<string>();
  for (const page of pages) {
    for (const [word] of page
      .replace(cut, " ")
      .toLowerCase()
      .matchAll(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu))
      words.add(word);
  }
  const isOwn = (first: string, rest: string) => {
    if (words.has(first + rest)) return false;
    if (words.has(`${first}-${rest}`)) return true;
    return (
      first.includes("-") ||
      compound.test(first) ||
      (first.length > 3 && rest.length > 3 && words.has(first) && words.has(rest))
    );
  };
  return pages.map((page) =>
    page.replace(cut, (all, first: string, rest: string, signs: string) => {
      const soft = all[first.length] === "\u00ad";
      const hyphen = !soft && isOwn(first.toLowerCase(), rest.toLowerCase()) ? "-" : "";
      return `${first}${hyphen}${rest}${signs}\n`;
    }),
  );
}
