import { limits } from "../../process/limits.ts";
import { Unreadable } from "../formats/unreadable.server.ts";

/** Pixels of a picture, four bytes each: red, green, blue, and how opaque. */
export type Pixels = { data: Uint8Array; width: number; height: number };

export const heic = "image/heic";
export const bmp = "image/bmp";
/** Pictures that Sharp can't decode. */
export const isDecodedHere = (mediaType: string): boolean => mediaType === heic || mediaType === bmp;

/** The pixels of a HEIC (H.265, as phones take them) or a BMP. Blocks the thread: for child processes. Throws Unreadable. */
export const decodePicture = (bytes: Buffer, mediaType: string): Promise<Pixels> =>
  mediaType === heic ? decodeHeic(bytes) : decodeBmp(bytes);

const damaged = () => new Unreadable("es una imagen dañada o incompleta: no se puede abrir.");

function refuseLarge(width: number, height: number): void {
  if (width < 1 || height < 1) throw damaged();
  if (width * height > limits.imagePixels) {
    throw new Unreadable("tiene más píxeles de los que se admiten. Redúcela.");
  }
}

async function decodeHeic(bytes: Buffer): Promise<Pixels> {
  const { default: heif } = await import("libheif-js/wasm-bundle.js");
  const [image] = new heif.HeifDecoder().decode(bytes);
  if (!image) throw damaged();
  const [width, height] = [image.get_width(), image.get_height()];
  refuseLarge(width, height);
  const { promise, resolve, reject } = Promise.withResolvers<Pixels>();
  image.display({ data: new Uint8ClampedArray(width * height * 4), width, height }, (shown) => {
    if (shown) resolve({ data: new Uint8Array(shown.data.buffer), width, height });
    else reject(damaged());
  });
  return promise;
}

async function decodeBmp(bytes: Buffer): Promise<Pixels> {
  const { default: decode } = await import("decode-bmp");
  // The header with the size is BITMAPINFOHEADER; older headers are shorter, and no program writes them any more.
  if (bytes.length < 54 || bytes.readUInt32LE(14) < 40) throw damaged();
  const [across, down] = [bytes.readInt32LE(18), bytes.readInt32LE(22)];
  refuseLarge(Math.abs(across), Math.abs(down));
  const upright = Buffer.from(bytes);
  // A height below zero means that the first row is the topmost; the library does not know such heights.
  if (down < 0) upright.writeInt32LE(-down, 22);
  try {
    const { data, width, height } = decode(upright);
    const pixels = opaque(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return { data: down < 0 ? flipped(pixels, width * 4) : pixels, width, height };
  } catch {
    throw damaged();
  }
}

/** Most programs leave the fourth byte of a pixel at zero, without a meaning; if all these bytes are zero, the picture is opaque. */
function opaque(pixels: Uint8Array): Uint8Array {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) return pixels;
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = 255;
  return pixels;
}

function flipped(pixels: Uint8Array, rowLength: number): Uint8Array {
  const turned = new Uint8Array(pixels.length);
  for (let from = 0; from < pixels.length; from += rowLength) {
    turned.set(pixels.subarray(from, from + rowLength), pixels.length - from - rowLength);
  }
  return turned;
}
