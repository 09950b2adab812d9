import type { Term } from "./terms.server.ts";

// Okapi BM25's usual constants; passages are of about the same length, so that length says little.
const saturation = 1.2;
const lengthMatters = 0.4;

/** How well a passage answers: `score` to sort by, `covered`: how many of the terms it has, in some form. */
export type Rank = { score: number; covered: number };

/**
 * Ranks passages by BM25 over terms that may each be said in several words: the best of them counts. A passage with more of the terms that
 * matter goes before one that repeats a term. `passages`: the indexed words of each; `total`: how many passages there are to choose from.
 */
export function rank(passages: string[][], terms: Term[], total: number): Rank[] {
  const average = passages.reduce((sum, words) => sum + words.length, 0) / Math.max(1, passages.length);
  const weights = terms.map((term) => Math.max(0, ...term.map(({ found }) => rarity(found, total))));
  const all = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  return passages.map((words) => {
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    const length = 1 - lengthMatters + (lengthMatters * words.length) / average;
    let sum = 0;
    let coverage = 0;
    let covered = 0;
    for (const [index, term] of terms.entries()) {
      let best = 0;
      let share = 0;
      for (const { word, weight, found } of term) {
        const count = counts.get(word) ?? 0;
        const score = (weight * rarity(found, total) * count * (saturation + 1)) / (count + saturation * length);
        best = Math.max(best, score);
        if (count > 0) share = Math.max(share, weight);
      }
      sum += best;
      coverage += share * (weights[index] ?? 0);
      if (best > 0) covered++;
    }
    return { score: sum * (0.4 + coverage / all), covered };
  });
}

/** BM25's inverse document frequency: the rarer a word, the more it counts. */
const rarity = (found: number, total: number) => Math.log(1 + (Math.max(total, found) - found + 0.5) / (found + 0.5));
