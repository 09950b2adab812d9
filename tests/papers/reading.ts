import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { joinHyphens } from "../../app/files/formats/hyphens.server.ts";
import { readText } from "../../app/files/formats/read.server.ts";
import { mediaTypeOf } from "../../app/files/media-type.server.ts";
import { scanPages } from "../../app/files/pictures/scan.server.ts";
import { isArchive } from "../../app/files/unpack.server.ts";
import { limits } from "../../app/process/limits.ts";

/** A question about a paper. `near`: text that stands on the line of the answer or beside it; `gap`: why it can't be answered yet. */
export type Question = { file: string; ask: string; answer: string; near: string | null; gap?: string };

const folder = join(import.meta.dirname, "set");
const json = (name: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8"));
export const questions = json("questions.json") as Question[];
/** Texts of papers that are hidden there, and are not read. */
export const hidden = json("absent.json") as Record<string, string[]>;

const names = new Set(readdirSync(folder));
/** Papers as offices have them. Beside each lies its right text. */
export const papers = [...names].filter((name) => names.has(`${name}.txt`)).sort();
export const rightText = (name: string) => readFileSync(join(folder, `${name}.txt`), "utf8");
/** Whether its text has to be recognised (OCR). */
export const isPicture = (name: string) =>
  /^(?:escaneo|foto|resolucion|justificacion-|correo-inspeccion)|\.(?:apng|avif|heic|tiff|bmp|png|jpg|webp|gif)$/.test(
    name,
  );

/** The text of a paper, as the product reads it but in this process; undefined for a ZIP, whose files are papers of their own. */
export async function readPaper(name: string): Promise<string | undefined> {
  const path = join(folder, name);
  if (await isArchive(path, name)) return undefined;
  const mediaType = await mediaTypeOf(path, name, statSync(path).size);
  if (mediaType.startsWith("image/")) return joinHyphens(await scanPages({ path, mediaType, pages: [1] })).join("\n");
  const read = await readText(readFileSync(path), mediaType, 2 * limits.fileText);
  if ("text" in read) {
    const held = isPicture(name) ? await scanPages({ path, mediaType, pages: [1] }) : [];
    return [read.text, ...held].join("\n\n");
  }
  const texts = isPicture(name) ? await scanPages({ path, mediaType, pages: read.pictured }) : [];
  return [...read.pages, ...joinHyphens(texts)].filter(Boolean).join("\n\n");
}

const plain = (text: string) => text.normalize("NFKC").replace(/\s+/g, " ").toLowerCase();

/** Whether a text answers a question. */
export function answers(text: string, { answer, near }: Question): boolean {
  const lines = text.split("\n").map(plain);
  const around = lines.map((_, at) => lines.slice(Math.max(0, at - 1), at + 3).join(" "));
  return near
    ? around.some((one) => one.includes(plain(answer)) && one.includes(plain(near)))
    : plain(text).includes(plain(answer));
}

export const says = (text: string, words: string) => plain(text).includes(plain(words));
