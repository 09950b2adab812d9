/** Number of sources of a reply, as a receipt says it. */
export const sourcesInWords = (count: number): string =>
  count === 0 ? "sin fuentes" : count === 1 ? "con una fuente" : `con ${count} fuentes`;
