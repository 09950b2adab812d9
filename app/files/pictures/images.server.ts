import pLimit from "p-limit";
import type { Metadata, Sharp } from "sharp";
import { limits } from "../../process/limits.ts";
import { FileRefused } from "../refused.server.ts";
import { backgroundOf } from "./background.server.ts";
import { generatedXmp, xmpForCopy } from "./generated-mark.server.ts";

export type Image = { width: number; height: number; image: Buffer; preview: Buffer };

// In pixels. Models scale larger images down (Anthropic's and OpenAI's guides); pages need less.
const modelSide = 1568;
const previewSide = 480;
const seconds = 15;

/**
 * Re-encodes an image, once for models and once for pages, without metadata but the mark that a model has made it. Returns the size
 * in pixels after rotation. Throws FileRefused.
 */
export function remakeImage(bytes: Uint8Array): Promise<Image> {
  return atOnce(() => remake(Buffer.from(bytes)));
}

// The other threads of libuv's pool are left for files, passwords and DNS.
const atOnce = pLimit(2);

/** Marks an image as made by a model, in its own format. Throws FileRefused. */
export function markGenerated(bytes: Uint8Array): Promise<Uint8Array> {
  return atOnce(async () => {
    const { format } = await metadataOf(bytes);
    // `quality` would reduce the colours of a PNG; AVIF is read as HEIF.
    const options = format === "png" || format === "gif" ? {} : { quality: 95 };
    return (await openImage(bytes))
      .withXmp(generatedXmp)
      .toFormat(format === "heif" ? "avif" : format, options)
      .toBuffer()
      .catch(refuse);
  });
}

/** Opens a picture with bounds on its pixels and on the time of decoding. `density`: dots per inch at which SVG is drawn. */
export async function openImage(source: Uint8Array, options: { density?: number } = {}): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp(source, { ...options, limitInputPixels: limits.imagePixels, failOn: "error", pages: 1 }).timeout({
    seconds,
  });
}

async function remake(bytes: Buffer): Promise<Image> {
  const meta = await metadataOf(bytes);
  const { width, height } = meta.autoOrient;
  const xmp = xmpForCopy(bytes, meta.xmp);
  const image = await shrink(await openImage(bytes), modelSide, xmp).catch(refuse);
  const preview = await shrink(await openImage(image), previewSide, xmp).catch(refuse);
  return { width, height, image, preview };
}

/** The header of an image, read before any pixel. Throws FileRefused if the image is too large to be decoded. */
async function metadataOf(bytes: Uint8Array): Promise<Metadata> {
  const meta = await (await openImage(bytes)).metadata().catch(refuse);
  const { width, height } = meta.autoOrient;
  const most = meta.format === "heif" ? limits.avifPixels : limits.imagePixels;
  if (width * height <= most) return meta;
  throw new FileRefused(
    `mide ${width.toLocaleString("es")} × ${height.toLocaleString("es")} píxeles, más de lo que se admite. Redúcela.`,
  );
}

/** JPEG, because every model server accepts it; transparent parts get a background. */
async function shrink(image: Sharp, side: number, xmp: string | undefined): Promise<Buffer> {
  const background = await backgroundOf(image);
  const shrunk = image
    .autoOrient()
    .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
    .flatten({ background })
    .jpeg({ quality: 84 });
  return (xmp ? shrunk.withXmp(xmp) : shrunk).toBuffer();
}

function refuse(cause: Error): never {
  if (/pixel limit/i.test(cause.message)) throw new FileRefused("tiene más píxeles de los que se admiten. Redúcela.");
  throw new FileRefused("es una imagen dañada o incompleta: no se puede abrir.", { cause });
}
