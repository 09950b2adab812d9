import { readFileSync } from "node:fs";
import { cutPassages, documentIndexer } from "../db/search/passages.server.ts";
import { answerJob } from "../process/child-process-entry.ts";
import { limits } from "../process/limits.ts";
import { cutHere } from "./cut-here.server.ts";
import { picturesHeld } from "./formats/held-pictures.server.ts";
import { joinHyphens } from "./formats/hyphens.server.ts";
import { readText } from "./formats/read.server.ts";
import { Unreadable } from "./formats/unreadable.server.ts";
import type { DocumentText, ReadingAnswer, ReadingJob } from "./read-document.server.ts";

answerJob(answer);

async function answer(job: ReadingJob): Promise<ReadingAnswer> {
  try {
    return { reading: await read(job) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { refused: error.message, ...(error.cause instanceof Error && { fault: error.cause.stack }) };
  }
}

async function read({ path, mediaType, scanned }: ReadingJob): Promise<DocumentText> {
  const bytes = mediaType.startsWith("image/") ? undefined : readFileSync(path);
  const found = bytes
    ? await readText(bytes, mediaType, 2 * limits.fileText)
    : { text: joinHyphens([scanned?.get(1) ?? ""])[0] ?? "" };
  const isPaged = "pages" in found;
  const texts = cut(
    (isPaged
      ? joinHyphens(found.pages.map((page, index) => [page, scanned?.get(index + 1)].filter(Boolean).join("\n\n")))
      : [withScanned(found.text.slice(0, 2 * limits.fileText), bytes && scanned?.get(1))]
    ).map(tidy),
    isPaged,
  );
  return {
    text: texts.join("\f"),
    pages: isPaged ? found.count : null,
    passages: passagesOf(texts, isPaged),
    pictured: isPaged ? found.pictured : bytes && !scanned ? await picturedPart(bytes, mediaType) : [],
  };
}

/** A document without pages is its own page 1, which is pictured if there are pictures in it. */
const picturedPart = async (bytes: Buffer, mediaType: string): Promise<number[]> =>
  (await picturesHeld(bytes, mediaType)).length > 0 ? [1] : [];

/** The text of a document with what was recognised in its pictures, which stands after it. */
const withScanned = (text: string, scanned: string | undefined): string =>
  scanned ? `${text}\n\n# En las imágenes\n\n${scanned}` : text;

/** The texts up to the limit, and a note at the cut: on a page of its own if the document has pages. */
function cut(texts: string[], isPaged: boolean): string[] {
  const kept: string[] = [];
  let room: number = limits.fileText;
  for (const text of texts) {
    if (text.length <= room) kept.push(text.toWellFormed());
    else {
      const part = text.slice(0, room).toWellFormed();
      return isPaged ? [...kept, part, cutHere] : [...kept, `${part}\n\n${cutHere}`];
    }
    room -= text.length;
  }
  return kept;
}

// PostgreSQL can't store NUL, and form feeds separate pages.
function tidy(text: string): string {
  return text
    .replaceAll("\0", "")
    .replaceAll("\f", "\n")
    .replace(/\r\n?/g, "\n")
    .replace(/(?<![ \t])[ \t]+\n/g, "\n")
    .trim();
}

function passagesOf(pages: string[], numbered: boolean) {
  const passages = pages.flatMap((text, index) =>
    cutPassages(text).map((passage) => ({ page: numbered ? index + 1 : null, text: passage })),
  );
  const indexer = documentIndexer();
  const words = passages.map(({ text }) => indexer(text));
  return passages.map((passage, position) => ({ ...passage, position, words: words[position] ?? "" }));
}
