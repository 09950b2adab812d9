import pLimit from "p-limit";
import type { Sharp } from "sharp";
import { limits } from "../limits.ts";
import { FileRefused } from "./refused.server.ts";

export type Image = { width: number; height: number; image: Buffer; preview: Buffer };

// What models look at is never larger (Anthropic's and OpenAI's guides); what a page shows is smaller.
const modelSide = 1568;
const previewSide = 480;
const seconds = 15;

/**
 * Makes an image anew, without whatever else its file holds: once for models, once for pages. `source`: a path, or the bytes.
 * Sizes in pixels, as it is seen. Throws FileRefused.
 */
export function remakeImage(source: string | Uint8Array): Promise<Image> {
  return atOnce(() => remake(source));
}

// The other threads are everybody's, for files, passwords and names.
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

/** JPEG, because every model server takes it; what was transparent becomes white. */
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
