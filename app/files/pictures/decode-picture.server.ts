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
  if (bytes.length < 54) throw damaged();
  // Its header has them (BITMAPINFOHEADER); a negative height begins at the top.
  refuseLarge(Math.abs(bytes.readInt32LE(18)), Math.abs(bytes.readInt32LE(22)));
  try {
    const { data, width, height } = decode(bytes);
    return { data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), width, height };
  } catch {
    throw damaged();
  }
}
