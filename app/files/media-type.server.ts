import { open, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { limits } from "../process/limits.ts";
import { utf16Of } from "../process/text/decoding/plain.server.ts";
import { directoryOf } from "./formats/office/old/compound-file.server.ts";
import { documentTypes, isDocumentType, readAs, textTypes } from "./formats/types.server.ts";
import { FileRefused } from "./refused.server.ts";

const known = new Set(["png", "jpeg", "webp", "gif", "avif", "heic", "tiff", "bmp"].map((kind) => `image/${kind}`));
// Extensions that are never text: such a name on a text file is a mistake or a trick.
const binary =
  /^(png|jpe?g|webp|gif|avif|heic|bmp|tiff?|ico|pdf|docx?|xlsx?|pptx?|od[tsp]|zip|gz|7z|rar|exe|mp[34]|mov|wav)$/;

export const isImage = (mediaType: string) => mediaType.startsWith("image/");

/** Detects the type from the content; the name decides only between kinds of text. Throws FileRefused. */
export async function mediaTypeOf(path: string, name: string, size: number): Promise<string> {
  if (size === 0) throw new FileRefused("está vacío.");
  const found = await documentType(path, size);
  const isText = found === undefined || /^(text\/|application\/(xml|json)$|image\/svg)/.test(found);
  const mediaType = isText ? await textType(path, name, found) : found;
  const max = isImage(mediaType) ? limits.image : limits.document;
  if (!isText && !known.has(mediaType) && !isDocumentType(mediaType)) {
    throw new FileRefused(whyNot(mediaType, extname(name).slice(1).toLowerCase()));
  }
  if (size > max) throw tooLarge(max);
  return mediaType;
}

const tooLarge = (max: number) => new FileRefused(`pesa más de ${max / 1024 / 1024} MB, que es lo que se admite.`);

// Sound that phones and browsers record has, at times, the type of a film.
const filmed = /^video\/(webm|mp4|3gpp2?|ogg|quicktime)$/;

/** The type of a recording, by its bytes. Throws FileRefused where it is none. */
export async function recordingTypeOf(path: string): Promise<string> {
  // Without parameters, as in «audio/ogg; codecs=opus».
  const found = (await typeOf(path))?.split(";", 1)[0];
  if (found?.startsWith("audio/")) return found;
  // Recorders of phones write MP4 under the names of 3GPP and QuickTime.
  if (found && filmed.test(found)) return found.replace(/^video/, "audio").replace(/3gpp2?|quicktime/, "mp4");
  throw new FileRefused("no es de un tipo que se escuche aquí: MP3, M4A, OGG, WebM, WAV o FLAC.");
}

/** The type under which a file is read. All documents of the old Office have one type: the names of their parts tell them apart. */
async function documentType(path: string, size: number): Promise<string | undefined> {
  const found = await typeOf(path);
  if (found === "image/apng") return "image/png";
  if (found && !isWritten.test(found) && isWords((await firstBytes(path)).toString("latin1"))) return undefined;
  // Films and pictures share a container: its brands tell them apart.
  if (found && /^(?:video\/mp4|image\/hei[cf](?:-sequence)?)$/.test(found))
    return heldPicture(await firstBytes(path)) ?? found;
  if (found !== "application/x-cfb") return found && readAs(found);
  if (size > limits.document) throw tooLarge(limits.document);
  const directory = directoryOf(await readFile(path));
  const has = (part: string) => directory.includes(Buffer.from(part, "utf16le"));
  // A document of the new Office with a password is no ZIP any more.
  if (has("EncryptedPackage")) throw new FileRefused(passwordAsked);
  return oldOffice.find(([part]) => has(part))?.[1] ?? found;
}

// Formats that are texts themselves, but for the data in them.
const isWritten = /pdf|rtf|xml|json|svg|^text\//;

/** Whether bytes are words: the marks of some formats are letters with which a text may begin as well, as «BM», «ID3» and «MZ». */
const isWords = (start: string): boolean => !notInText.test(start) && /\S\s+\S/.test(start);

/** The kind of a picture in a container (ISO 14496-12), by the brands that it is compatible with; undefined if it is none. */
function heldPicture(start: Buffer): string | undefined {
  const brands = start.toString("latin1", 8, Math.min(start.readUInt32BE(0), 256));
  if (/avi[fs]/.test(brands)) return "image/avif";
  return /hei[cxms]|hev[cxms]|mif1/.test(brands) ? "image/heic" : undefined;
}

const passwordAsked = "tiene contraseña. Quítasela y vuelve a subirlo.";
const oldOffice = [
  ["WordDocument", documentTypes.doc],
  ["PowerPoint Document", documentTypes.ppt],
  ["Workbook", documentTypes.xls],
  ["Book", documentTypes.xls],
  ["__properties_version1.0", documentTypes.msg],
] as const;

// Sentences for types that are not accepted: what to convert them to, by extension or type.
const instead: [kind: RegExp, sentence: string][] = [
  [/^(doc|ppt|dot|pps)$|x-cfb/, "es de un Office antiguo de una clase que no se lee. Guárdalo como DOCX, PPTX o PDF."],
  [/^(pages|numbers|key)$/, "es de iWork. Expórtalo a PDF, DOCX, XLSX o PPTX."],
  [/^mobi$|x-mobipocket/, "es un libro electrónico de un tipo que no se admite. Conviértelo a EPUB o PDF."],
  [/^image\//, "es una imagen de un tipo que no se admite. Conviértela a PNG o JPEG."],
  [/^(audio|video)\//, "es una grabación, y aquí no se escuchan. Sube su transcripción."],
  [
    /gzip|x-7z|x-rar|x-tar|bzip2|x-xz|zstd/,
    "es un archivo comprimido que no se abre aquí. Comprímelo como ZIP, o sube lo que lleva dentro.",
  ],
];

/** The sentence that refuses a file of a known type and says what to do about it. */
function whyNot(mediaType: string, ending: string): string {
  // Office documents are archives; an archive whose content can't be listed is truncated.
  if (mediaType === "application/zip" && binary.test(ending)) return "está dañado o incompleto: no se puede abrir.";
  const found = instead.find(([kind]) => kind.test(mediaType) || kind.test(ending));
  return (
    found?.[1] ??
    "no es de un tipo que se admita: imágenes; PDF; documentos, hojas y presentaciones de Office o LibreOffice; EPUB, RTF, EML, MSG, ICS, VCF; páginas, texto y código."
  );
}

/** Detects the type from the first bytes. A file that ends within them counts as damaged. */
async function typeOf(path: string): Promise<string | undefined> {
  const { fileTypeFromFile } = await import("file-type");
  try {
    return (await fileTypeFromFile(path))?.mime ?? (isLatePdf(await firstBytes(path)) ? documentTypes.pdf : undefined);
  } catch (cause) {
    throw new FileRefused("está dañado o incompleto: acaba antes de tiempo.", { cause });
  }
}

/** Whether a PDF begins after other bytes, such as the head of a mail or of an answer; readers look for it in the first 1,024. */
const isLatePdf = (start: Buffer) => /%PDF-\d\.\d[\s\S]{0,200}\d+ \d+ obj\b/.test(start.toString("latin1", 0, 2_048));

// Control characters that do not occur in text; tabs, line breaks, form feeds and escapes do.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const notInText = /[\0-\x07\x0e-\x1a\x1c-\x1f]/;

/** `found`: the type by the first bytes, which the name overrules. */
async function textType(path: string, name: string, found: string | undefined): Promise<string> {
  const ending = extname(name).slice(1).toLowerCase();
  const start = await firstBytes(path);
  if (!utf16Of(start) && notInText.test(start.toString("latin1")))
    throw new FileRefused("no se sabe qué es: no es texto, ni una imagen o un documento conocido.");
  if (
    ending === "svg" ||
    /^(<\?xml[^>]*>\s*)?(<!doctype svg[^>]*>\s*)?<svg[\s>]/i.test(withoutComments(start.toString()))
  ) {
    throw new FileRefused("es una imagen SVG, que puede llevar programas dentro. Conviértela a PNG.");
  }
  if (ending === "xls" || ending === "doc") return textForOffice(start.toString("latin1"), ending);
  if (binary.test(ending)) throw new FileRefused(`su nombre acaba en .${ending}, pero por dentro es otra cosa.`);
  return textTypes.get(ending) ?? (found && isDocumentType(found) ? found : "text/plain");
}

/** The type of a text with a name of Office, which opens it: banks and programs write pages, saved pages and tables so. */
function textForOffice(start: string, ending: "xls" | "doc"): string {
  if (/^(?:MIME-Version|From|Content-Type|Subject):/i.test(start)) return documentTypes.eml;
  if (/<(?:!doctype html|html|body|table)\b/i.test(start)) return documentTypes.html;
  return ending === "xls" ? "text/csv" : "text/plain";
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
