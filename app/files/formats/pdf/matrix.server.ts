/** Six numbers of a transformation (ISO 32000-1, 8.3.3). */
export type Matrix = number[];

/** The transformation by `second`, then by the first matrix, as PDF multiplies matrices. */
export function product([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix, second: Matrix): Matrix {
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = second;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}
