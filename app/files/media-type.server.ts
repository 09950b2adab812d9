import { open } from "node:fs/promises";
import { extname } from "node:path";
import { limits } from "../limits.ts";
import { FileRefused } from "./refused.server.ts";

const known = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/gif",
  "image/avif",
  "application/pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
]);
const texts: Record<string, string> = {
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  json: "application/json",
};

// What is no text whatever it holds: such a name on a text is a mistake or a trick.
const binary =
  /^(png|jpe?g|webp|gif|avif|heic|bmp|tiff?|ico|pdf|docx?|xlsx?|pptx?|od[tsp]|zip|gz|7z|rar|exe|mp[34]|mov|wav)$/;

export const isImage = (mediaType: string) => mediaType.startsWith("image/");

/** What a file is, as its bytes say; its name decides only between kinds of text. Throws FileRefused. */
export async function mediaTypeOf(path: string, name: string, size: number): Promise<string> {
  if (size === 0) throw new FileRefused("está vacío.");
  const { fileTypeFromFile } = await import("file-type");
  const found = (await fileTypeFromFile(path))?.mime;
  const isText = found === undefined || /^(text\/|application\/(xml|json)$|image\/svg)/.test(found);
  const mediaType = isText ? await textType(path, name) : found;
  const max = isImage(mediaType) ? limits.image : limits.document;
  if (!isText && !known.has(mediaType)) {
    throw new FileRefused(
      "no es de un tipo que se admita: imágenes PNG, JPEG, WebP, GIF o AVIF; documentos PDF o DOCX; texto y código.",
    );
  }
  if (size > max) throw new FileRefused(`pesa más de ${max / 1024 / 1024} MB, que es lo que se admite.`);
  return mediaType;
}

async function textType(path: string, name: string): Promise<string> {
  const ending = extname(name).slice(1).toLowerCase();
  const start = await firstBytes(path);
  const utf16 = /^(\xff\xfe|\xfe\xff)/.test(start.toString("latin1"));
  if (start.includes(0) && !utf16)
    throw new FileRefused("no se sabe qué es: no es texto, ni una imagen o un documento conocido.");
  if (
    ending === "svg" ||
    /^(<\?xml[^>]*>\s*)?(<!doctype svg[^>]*>\s*)?<svg[\s>]/i.test(withoutComments(start.toString()))
  ) {
    throw new FileRefused("es una imagen SVG, que puede llevar programas dentro. Conviértela a PNG.");
  }
  if (binary.test(ending)) throw new FileRefused(`su nombre acaba en .${ending}, pero por dentro es otra cosa.`);
  return texts[ending] ?? "text/plain";
}

/** Comments may stand anywhere before the first element. In a loop: one pattern for all of them would take exponential time. */
function withoutComments(text: string): string {
  return text
    .split("<!--")
    .map((part, index) =>
      index === 0 ? part : part.slice(part.indexOf("-->") < 0 ? part.length : part.indexOf("-->") + 3),
    )
    .join("")
    .trimStart();
}

async function firstBytes(path: string): Promise<Buffer> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
