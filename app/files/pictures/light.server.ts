import sharp from "sharp";

// The paper is looked at in squares of so many pixels, in which letters disappear.
const square = 16;
// In squares: larger than letters of a title, smaller than a shadow.
const median = 7;
const blur = 2;
// Out of 255: brightness that paper gets, and how much its brightness may differ on a page that lay flat in a scanner.
const paper = 240;
const evenWithin = 24;
// Part of the brightness of the lightest paper: darker is no shadow, but the table under the paper or a coloured heading.
const shadow = 0.45;
// Part of the edge that has to be dark for a paper to lie on a dark table.
const around = 0.6;

/**
 * Evens out the light of a photographed paper and whitens the table around it, for which columns of numbers are lost. Leaves pages alone
 * that lay flat in a scanner. `pixels`: one byte each, row by row.
 */
export async function evenLight(pixels: Buffer, width: number, height: number): Promise<void> {
  const raw = { width, height, channels: 1 } as const;
  const { data: ground, info } = await sharp(pixels, { raw })
    .resize({ width: Math.max(1, Math.round(width / square)) })
    .median(median)
    .blur(blur)
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const sorted = ground.toSorted();
  const least = shadow * (sorted[Math.floor(0.9 * sorted.length)] ?? paper);
  const onPaper = sorted.filter((light) => light >= least);
  const [low = paper, high = paper] = [0.05, 0.95].map((part) => onPaper[Math.floor(part * onPaper.length)]);
  if (high - low <= evenWithin) return;
  const table = darkFromEdge(ground, info.width, info.height, least);
  const grounds = await sharp(ground, { raw: { width: info.width, height: info.height, channels: 1 } })
    .resize(width, height, { fit: "fill" })
    .greyscale()
    .raw()
    .toBuffer();
  for (let y = 0; y < height; y++) {
    const row = Math.min(info.height - 1, Math.floor((y * info.height) / height)) * info.width;
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const light = grounds[at] ?? paper;
      if (table.has(row + Math.min(info.width - 1, Math.floor((x * info.width) / width)))) pixels[at] = paper;
      else if (light >= least) pixels[at] = Math.min(255, Math.round((paper * (pixels[at] ?? 0)) / light));
    }
  }
}

/**
 * The squares darker than `least` that are connected with the edge of the picture by such squares, and those beside them; none where the
 * edge is mostly light: a dark bar at the top of a screen or a letter has words of its own.
 */
function darkFromEdge(ground: Buffer, width: number, height: number, least: number): Set<number> {
  const found = new Set<number>();
  const isDark = (at: number) => (ground[at] ?? 255) < least;
  const edge = Array.from({ length: width * height }, (_, at) => at).filter(
    (at) => at % width === 0 || at % width === width - 1 || at < width || at >= width * (height - 1),
  );
  const open = edge.filter(isDark);
  if (open.length < around * edge.length) return found;
  const beside = (at: number) =>
    [at % width > 0 ? at - 1 : -1, at % width < width - 1 ? at + 1 : -1, at - width, at + width].filter(
      (one) => one >= 0 && one < width * height,
    );
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (found.has(at)) continue;
    found.add(at);
    open.push(...beside(at).filter(isDark));
  }
  return new Set([...found].flatMap((at) => [at, ...beside(at)]));
}
