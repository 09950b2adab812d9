/** A sum of money as it is shown; the house's currency is not known. */
export const sumInWords = (sum: number): string => sum.toLocaleString("es", { maximumSignificantDigits: 3 });

/** Cost of some work so far, and the budget if it has one: «ha costado 1,2 de 5»; undefined if it has cost nothing. */
export const spentInWords = (cost: number, budget: number | null): string | undefined =>
  cost > 0 ? `ha costado ${sumInWords(cost)}${budget === null ? "" : ` de ${sumInWords(budget)}`}` : undefined;
