import type { Sharp } from "sharp";

export const white = "#ffffff";
// Colour of a blackboard, on which white letters and drawings are visible.
const dark = "#2b2b2b";
const side = 64;
// Mean brightness, out of 255, above which a drawing counts as nearly white.
const bright = 200;

/** Colour behind the transparent parts of a picture: white, but dark where what is drawn is itself nearly white. */
export async function backgroundOf(image: Sharp): Promise<string> {
  const { hasAlpha } = await image.metadata();
  if (!hasAlpha) return white;
  const { data } = await image
    .clone()
    .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  let [light, opacity] = [0, 0];
  for (let at = 0; at + 3 < data.length; at += 4) {
    const alpha = data[at + 3] ?? 0;
    light += (alpha * ((data[at] ?? 0) + (data[at + 1] ?? 0) + (data[at + 2] ?? 0))) / 3;
    opacity += alpha;
  }
  const isOpaque = opacity === (255 * data.length) / 4;
  return !isOpaque && opacity > 0 && light / opacity > bright ? dark : white;
}
