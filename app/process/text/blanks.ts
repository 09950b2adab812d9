const blank = /\{\{([^{}\n]{1,80})\}\}/g;
// Forms hold 100 fields; 20 blanks leave room for the others.
const blanksAtMost = 20;

/** The names of a template's blanks, in order, each once. */
export const blanksIn = (content: string): string[] =>
  [...new Set([...content.matchAll(blank)].map(([, name = ""]) => name.trim()))].filter(Boolean).slice(0, blanksAtMost);

/** A template with its blanks filled in; one that nobody has filled stays as it is. */
export const filledIn = (content: string, values: (name: string) => string | null): string =>
  content.replace(blank, (whole, name: string) => values(name.trim()) ?? whole);

/** The field of a blank in its form. */
export const blankField = (name: string) => `hueco.${name}`;
