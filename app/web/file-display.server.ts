import { extname } from "node:path";

type FileFacts = {
  name: string;
  mediaType: string;
  size: number | null;
  width: number | null;
  height: number | null;
  pages: number | null;
  hasText?: boolean;
  cut?: boolean;
  state?: "reading" | "ready" | "unread";
  problem?: string | null;
};
export type ShownFile = ReturnType<typeof showFile>;

const kinds: Record<string, string> = {
  "application/pdf": "PDF",
  "image/png": "imagen PNG",
  "image/jpeg": "imagen JPEG",
  "image/webp": "imagen WebP",
  "image/gif": "imagen GIF",
  "image/avif": "imagen AVIF",
  "image/heic": "imagen HEIC",
  "image/tiff": "imagen TIFF",
  "image/bmp": "imagen BMP",
};

/** A file as a page shows it: its name, and its kind and size in words. `id` is null once it is deleted. */
export function showFile(id: string | null, file: FileFacts) {
  const { name, mediaType, width, height } = file;
  const image = id !== null && mediaType.startsWith("image/");
  const { state = "ready", problem = null } = file;
  const unread = !image && state === "ready" && file.hasText === false;
  const detail = detailOf(id, file);
  return {
    id,
    name,
    detail,
    image,
    unread,
    cut: file.cut === true,
    reading: state === "reading",
    problem,
    width,
    height,
  };
}

// Words beside a file's kind and size, until the file is read.
const states = { reading: "leyéndose", unread: "sin leer", ready: "" };

function detailOf(
  id: string | null,
  { name, mediaType, size, pages, hasText, cut, state = "ready" }: FileFacts,
): string {
  if (id === null) return "eliminado";
  const text = states[state] || (hasText === false && !mediaType.startsWith("image/") ? "sin texto" : "");
  const kind = kinds[mediaType] ?? (extname(name).slice(1, 9).toUpperCase() || "texto");
  const count = pages === null ? "" : `${pages.toLocaleString("es")} ${pages === 1 ? "página" : "páginas"}`;
  return [kind, size !== null && sizeInWords(size), count, text, cut && "leído en parte"].filter(Boolean).join(", ");
}

/** Bytes as people say them: «412 kB», «6,4 MB», «1,2 GB». A kB is 1024 B, as in the limits, so that both can be compared. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [size, unit] = units.find(([above]) => bytes >= above) ?? [1024, "kB"];
  const value = bytes / size;
  return `${value.toLocaleString("es", { maximumFractionDigits: value < 10 ? 1 : 0 })} ${unit}`;
}

const units: [size: number, name: string][] = [
  [1024 ** 3, "GB"],
  [1024 ** 2, "MB"],
  [1024, "kB"],
];
