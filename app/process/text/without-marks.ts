/** A Markdown text as one plain line, without its marks and the addresses of its links. */
export const withoutMarks = (text: string): string =>
  text
    // Rules, and the line below the head of a table.
    .replace(/^[ \t|:-]+$/gm, "")
    .replace(/^[ \t]*(?:[#>]+|[-+*]|```\w*)[ \t]*/gm, "")
    .replace(/\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replace(/`+|~~+|\|+|\[[1-9]\d?\]/g, "")
    // Within words, between blanks and before numbers they are signs of code: `user_id`, `5 * 3`, `x**2`.
    .replace(/(?<![\p{L}\p{N}_])_+|(?<!_)_+(?![\p{L}\p{N}_])/gu, "")
    .replace(/(?<![\p{L}\p{N}\s*])\*+|(?<!\*)\*+(?![\p{L}\p{N}\s*])|(?<=\s)\*+(?=[^\s*])|(?<=[^\s*])\*+(?=\s)/gu, "")
    .replace(/\s+/g, " ")
    .toWellFormed()
    .trim();
