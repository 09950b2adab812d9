/**
 * A model's vector of a text, made small: `bits`, the sign of each number, eight to a byte, by which the nearest vectors are picked;
 * and `vector`, each number as a byte, by which the picked vectors are put in order.
 */
export type Quantised = { bits: Uint8Array; vector: Int8Array };

/** Makes a vector of any magnitude small. The magnitude does not matter, because only directions are compared. */
export function quantise(numbers: number[]): Quantised {
  const largest = numbers.reduce((most, one) => Math.max(most, Math.abs(one)), 0) || 1;
  const vector = Int8Array.from(numbers, (one) => Math.round((one / largest) * 127));
  const bits = new Uint8Array(Math.ceil(numbers.length / 8));
  for (const [index, one] of numbers.entries())
    if (one > 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  return { bits, vector };
}

/** The cosine of the angle between two vectors, from -1 to 1. */
export function similarity(a: Int8Array, b: Int8Array): number {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (const [index, one] of a.entries()) {
    const other = b[index] ?? 0;
    dot += one * other;
    lengthA += one * one;
    lengthB += other * other;
  }
  return dot / (Math.sqrt(lengthA * lengthB) || 1);
}
