import type { Sharp } from "sharp";
import { plainSvg, SvgRefused } from "../../process/svg/plain-svg.server.ts";
import { FileRefused } from "../refused.server.ts";
import { openImage } from "./images.server.ts";

export type BrandImage = { mediaType: "image/svg+xml" | "image/png"; bytes: Buffer };

// In pixels: a logo is some 32 high on pages, on the sharpest screens three times that.
const logoBox = { width: 640, height: 128 };
const iconSide = 64;
// In pixels. Android requires this side of an installed page's icon.
const largeIconSide = 512;
// Dots per inch: those at which an SVG has its own size, and the most that it is drawn at.
const svgDpi = 72;
const densest = 2_400;
// In bytes. The SVG is sent with every page.
const svgAtMost = 100_000;
const transparent = { r: 0, g: 0, b: 0, alpha: 0 };

/** The logo as pages show it: SVG with nothing but what is drawn, else PNG. Throws FileRefused. */
export async function makeLogo(bytes: Buffer): Promise<BrandImage> {
  if (isSvg(bytes)) {
    const svg = svgOf(bytes);
    // The SVG is drawn once here, so that a damaged or endless one is refused before browsers draw it.
    await (await drawing(svg, logoBox.height)).png().toBuffer().catch(refuse);
    return { mediaType: "image/svg+xml", bytes: svg };
  }
  const image = (await openImage(bytes)).autoOrient().resize({ ...logoBox, fit: "inside", withoutEnlargement: true });
  return { mediaType: "image/png", bytes: await image.png().toBuffer().catch(refuse) };
}

/** The icon of a tab, and the large one of a home screen. Throws FileRefused. */
export async function makeIcons(bytes: Buffer): Promise<{ icon: BrandImage; largeIcon: BrandImage }> {
  const source = isSvg(bytes) ? svgOf(bytes) : bytes;
  const drawn = async (side: number): Promise<BrandImage> => {
    const image = isSvg(source) ? await drawing(source, side) : await openImage(source);
    const resized = image.autoOrient().resize(side, side, { fit: "contain", background: transparent });
    return { mediaType: "image/png", bytes: await resized.png().toBuffer().catch(refuse) };
  };
  const icon = isSvg(source) ? { mediaType: "image/svg+xml" as const, bytes: source } : await drawn(iconSide);
  return { icon, largeIcon: await drawn(largeIconSide) };
}

/** A picture in SVG, to be drawn as large as it is needed: `side` pixels. */
const drawing = (svg: Buffer, side: number): Promise<Sharp> =>
  openImage(svg, { density: Math.min(densest, Math.max(1, (svgDpi * side) / sizeOf(svg.toString()))) });

/** Larger side of a picture in SVG, in its own units: of its width and height in pixels, else of its viewBox. */
function sizeOf(svg: string): number {
  const [open = ""] = /^<svg[^>]*>/.exec(svg) ?? [];
  const sides = [/ width="([\d.]+)(?:px)?"/, / height="([\d.]+)(?:px)?"/].map((side) => Number(side.exec(open)?.[1]));
  if (sides.every((side) => side > 0)) return Math.max(...sides);
  const [, , width = 0, height = 0] = (/ viewBox="([^"]*)"/.exec(open)?.[1] ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  return Math.max(width, height) || logoBox.width;
}

// trimStart also takes a byte order mark.
const isSvg = (bytes: Buffer) =>
  /^<(?:\?xml|!--|!DOCTYPE svg|svg)/i.test(bytes.subarray(0, 200).toString().trimStart());

function svgOf(bytes: Buffer): Buffer {
  const svg = Buffer.from(plain(bytes.toString()));
  if (svg.length > svgAtMost) {
    throw new FileRefused(
      `ocupa ${Math.ceil(svg.length / 1000)} kB, y va en cada página: 100 como mucho. Simplifícalo.`,
    );
  }
  return svg;
}

function plain(svg: string): string {
  try {
    return plainSvg(svg);
  } catch (error) {
    if (!(error instanceof SvgRefused)) throw error;
    throw new FileRefused(`${error.message}. Simplifícalo, o súbelo en PNG.`, { cause: error });
  }
}

function refuse(cause: Error): never {
  throw new FileRefused("no es una imagen que se pueda abrir. Vale SVG, PNG, JPEG o WebP.", { cause });
}
