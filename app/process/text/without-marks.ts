/** A Markdown text as one plain line, without its marks and the addresses of its links. */
export const withoutMarks = (text: string): string =>
  text
    // Rules, and the line below the head of a table.
    .replace(/^[ \t|:-]+$/gm, "")
    .replace(/^[ \t]*(?:[#>]+|[-+*]|```\w*)[ \t]*/gm, "")
    .replace(/\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replace(/[*_`~|]+|\[(\d{1,2})\]/g, "")
    .replace(/\s+/g, " ")
    .toWellFormed()
    .trim();
