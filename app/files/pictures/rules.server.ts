// Out of 255: a darker pixel is ink.
const ink = 140;
// In pixels of a page at 250 dots an inch: longer than the strokes of letters, also of titles.
const ruleLength = 110;
// In pixels: width of the blurred edge of a rule.
const edge = 1;
const white = 255;

/** Whitens long straight lines, as between cells of a table, which would be read as letters. `pixels`: one byte each, row by row. */
export function withoutRules(pixels: Uint8Array, width: number, height: number): void {
  const across = runsAlong(pixels, height, width, width, 1);
  const down = runsAlong(pixels, width, height, 1, width);
  for (const { from, length, step, aside } of [...across, ...down]) {
    for (let n = 0; n < length; n++) {
      for (let near = -edge; near <= edge; near++) {
        const at = from + n * step + near * aside;
        if (at >= 0 && at < pixels.length) pixels[at] = white;
      }
    }
  }
}

type Run = { from: number; length: number; step: number; aside: number };

/** Runs of ink in lines of pixels that lie `aside` bytes from each other; within one, pixels lie `step` bytes apart. */
function runsAlong(pixels: Uint8Array, lines: number, length: number, aside: number, step: number): Run[] {
  const runs: Run[] = [];
  for (let line = 0; line < lines; line++) {
    let begun = 0;
    for (let at = 0; at <= length; at++) {
      if (at < length && (pixels[line * aside + at * step] ?? white) < ink) continue;
      if (at - begun >= ruleLength) runs.push({ from: line * aside + begun * step, length: at - begun, step, aside });
      begun = at + 1;
    }
  }
  return runs;
}
