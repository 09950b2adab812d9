// Out of 255: a darker pixel is ink.
const ink = 140;
// In pixels of a page at 250 dots an inch: longer than the strokes of letters, also of titles.
const ruleLength = 110;
// In pixels: thicker than lines of tables.
const thickest = 15;
// Places of a run at which its thickness is measured: other lines may cross it.
const looks = [0.15, 0.3, 0.45, 0.6, 0.8];
// In pixels: width of the blurred edge of a rule.
const edge = 1;
const white = 255;

/** Whitens long straight lines, as between cells of a table, which would be read as letters. `pixels`: one byte each, row by row. */
export function whitenRules(pixels: Uint8Array, width: number, height: number): void {
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
      const run = { from: line * aside + begun * step, length: at - begun, step, aside };
      if (run.length >= ruleLength && isThin(pixels, run)) runs.push(run);
      begun = at + 1;
    }
  }
  return runs;
}

/** Whether a run is part of a line, and not of a dark table under a paper: at one of some places it is no thicker than a line. */
function isThin(pixels: Uint8Array, { from, length, step, aside }: Run): boolean {
  return looks.some((share) => {
    const at = from + Math.round(length * share) * step;
    let thick = 1;
    for (const way of [aside, -aside])
      for (let n = 1; n < thickest && (pixels[at + n * way] ?? white) < ink; n++) thick++;
    return thick < thickest;
  });
}
