import { open } from "node:fs/promises";
import { extname } from "node:path";
import { limits } from "../process/limits.ts";
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

// Extensions that are never text: such a name on a text file is a mistake or a trick.
const binary =
  /^(png|jpe?g|webp|gif|avif|heic|bmp|tiff?|ico|pdf|docx?|xlsx?|pptx?|od[tsp]|zip|gz|7z|rar|exe|mp[34]|mov|wav)$/;

export const isImage = (mediaType: string) => mediaType.startsWith("image/");

/** Detects the type from the content; the name decides only between kinds of text. Throws FileRefused. */
export async function mediaTypeOf(path: string, name: string, size: number): Promise<string> {
  if (size === 0) throw new FileRefused("está vacío.");
  const found = await typeOf(path);
  const isText = found === undefined || /^(text\/|application\/(xml|json)$|image\/svg)/.test(found);
  const mediaType = isText ? await textType(path, name) : found;
  const max = isImage(mediaType) ? limits.image : limits.document;
  if (!isText && !known.has(mediaType)) {
    throw new FileRefused(whyNot(mediaType, extname(name).slice(1).toLowerCase()));
  }
  if (size > max) throw new FileRefused(`pesa más de ${max / 1024 / 1024} MB, que es lo que se admite.`);
  return mediaType;
}

// For types that are not accepted: what to convert them to, by extension or type.
const instead: [kind: RegExp, sentence: string][] = [
  [/^(xlsx?|ods|numbers)$|spreadsheet|ms-excel/, "es una hoja de cálculo. Guárdala como CSV y sube eso."],
  [
    /^(docx?|odt|rtf|pages)$|opendocument\.text|rtf|msword/,
    "es un documento que no se sabe leer. Guárdalo como DOCX o PDF.",
  ],
  [/^(pptx?|odp|key)$|presentation|powerpoint/, "es una presentación. Expórtala a PDF."],
  [/^(epub|mobi)$|epub/, "es un libro electrónico. Conviértelo a PDF o a texto."],
  [/^image\//, "es una imagen de un tipo que no se admite. Conviértela a PNG o JPEG."],
  [/^(audio|video)\//, "es una grabación, y aquí no se escuchan. Sube su transcripción."],
  [/zip|gzip|x-7z|x-rar|x-tar|bzip2|x-xz|zstd/, "es un archivo comprimido. Descomprímelo y sube lo que lleva dentro."],
];

/** Refuses a file of a known type and says what to do about it. */
function whyNot(mediaType: string, ending: string): string {
  // Word documents are archives; one whose content can't be listed is truncated.
  if (mediaType === "application/zip" && ending === "docx") return "está dañado o incompleto: no se puede abrir.";
  const found = instead.find(([kind]) => kind.test(mediaType) || kind.test(ending));
  return (
    found?.[1] ??
    "no es de un tipo que se admita: imágenes PNG, JPEG, WebP, GIF o AVIF; documentos PDF o DOCX; texto y código."
  );
}

/** Detects the type from the first bytes. A file that ends within them counts as damaged. */
async function typeOf(path: string): Promise<string | undefined> {
  const { fileTypeFromFile } = await import("file-type");
  try {
    return (await fileTypeFromFile(path))?.mime;
  } catch (cause) {
    throw new FileRefused("está dañado o incompleto: acaba antes de tiempo.", { cause });
  }
}

// Control characters that do not occur in text; tabs, line breaks, form feeds and escapes do.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const notInText = /[\0-\x07\x0e-\x1a\x1c-\x1f]/;

async function textType(path: string, name: string): Promise<string> {
  const ending = extname(name).slice(1).toLowerCase();
  const start = await firstBytes(path);
  const utf16 = /^(\xff\xfe|\xfe\xff)/.test(start.toString("latin1"));
  if (!utf16 && notInText.test(start.toString("latin1")))
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

/** Skips comments before the first element, one by one: a single pattern for all of them would take exponential time. */
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
