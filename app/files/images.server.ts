import pLimit from "p-limit";
import type { Sharp } from "sharp";
import { limits } from "../process/limits.ts";
import { FileRefused } from "./refused.server.ts";

export type Image = { width: number; height: number; image: Buffer; preview: Buffer };

// In pixels. Models scale larger images down (Anthropic's and OpenAI's guides); pages need less.
const modelSide = 1568;
const previewSide = 480;
const seconds = 15;

/**
 * Re-encodes an image without metadata, once for models and once for pages. `source` is a path or the bytes.
 * Returns the size in pixels after rotation. Throws FileRefused.
 */
export function remakeImage(source: string | Uint8Array): Promise<Image> {
  return atOnce(() => remake(source));
}

// The other threads of libuv's pool are left for files, passwords and DNS.
const atOnce = pLimit(2);

async function remake(source: string | Uint8Array): Promise<Image> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  sharp.concurrency(1);
  const read = () =>
    sharp(source, { limitInputPixels: limits.imagePixels, failOn: "error", pages: 1 }).timeout({ seconds });
  const meta = await read().metadata().catch(refuse);
  const { width, height } = meta.autoOrient;
  const most = meta.format === "heif" ? limits.avifPixels : limits.imagePixels;
  if (width * height > most) {
    throw new FileRefused(
      `mide ${width.toLocaleString("es")} × ${height.toLocaleString("es")} píxeles, más de lo que se admite. Redúcela.`,
    );
  }
  const image = await shrink(read(), modelSide).catch(refuse);
  const preview = await shrink(sharp(image), previewSide).catch(refuse);
  return { width, height, image, preview };
}

/** JPEG, because every model server accepts it; transparent parts become white. */
function shrink(image: Sharp, side: number): Promise<Buffer> {
  return image
    .autoOrient()
    .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
    .flatten({ background: "#ffffff" })
    .jpeg({ quality: 84 })
    .toBuffer();
}

function refuse(cause: Error): never {
  if (/pixel limit/i.test(cause.message)) throw new FileRefused("tiene más píxeles de los que se admiten. Redúcela.");
  throw new FileRefused("es una imagen dañada o incompleta: no se puede abrir.", { cause });
}
