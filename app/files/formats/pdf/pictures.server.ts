import { readFileSync } from "node:fs";
import { OPS } from "pdfjs-dist/legacy/build/pdf.mjs";
import { openPdf } from "./pdf.server.ts";

/** A picture as its pixels: `channels` bytes for each, row by row. */
export type Raster = { data: Uint8Array; width: number; height: number; channels: 1 | 3 | 4 };
// An image of pdf.js: packed as `kind` says; `data` is a key if the bytes are kept elsewhere.
type Painted = { data: Uint8Array | Uint8ClampedArray | string; width: number; height: number; kind?: number };

// The kinds of pdf.js (ImageKind): one bit a pixel, RGB, RGBA. Masks have no kind and one bit.
const channelsOf: Record<number, 1 | 3 | 4> = { 1: 1, 2: 3, 3: 4 };
const oneBit = 1;

/** The pictures that are painted on a page of a PDF, in that order, and by how many degrees the page is turned. */
export async function picturesOn(path: string, number: number): Promise<{ pictures: Raster[]; rotate: number }> {
  const pdf = await openPdf(readFileSync(path));
  const page = await pdf.getPage(number);
  const { fnArray, argsArray } = await page.getOperatorList();
  const kept = (key: string) =>
    new Promise<Painted | null>((resolve) => (key.startsWith("g_") ? page.commonObjs : page.objs).get(key, resolve));
  const pictures: Raster[] = [];
  for (const [at, operation] of fnArray.entries()) {
    const isMask = operation === OPS.paintImageMaskXObject;
    if (operation !== OPS.paintImageXObject && !isMask) continue;
    const [given] = argsArray[at] as [string | Painted];
    let painted = typeof given === "string" ? await kept(given) : given;
    if (typeof painted?.data === "string") painted = { ...painted, ...(await kept(painted.data)) };
    const picture = painted && unpacked(painted, isMask);
    if (picture) pictures.push(picture);
  }
  return { pictures, rotate: page.rotate };
}

function unpacked({ data, width, height, kind = oneBit }: Painted, isMask: boolean): Raster | undefined {
  const channels = channelsOf[isMask ? oneBit : kind];
  if (typeof data === "string" || !data || !width || !height || !channels) return undefined;
  if (channels > 1)
    return { data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), width, height, channels };
  const row = Math.ceil(width / 8);
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const byte = data[y * row + (x >> 3)] ?? 0;
      pixels[y * width + x] = byte & (0x80 >> (x & 7)) ? 255 : 0;
    }
  }
  return { data: pixels, width, height, channels };
}
