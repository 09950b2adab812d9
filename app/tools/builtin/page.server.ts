import { basename, extname } from "node:path";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { textOf } from "../../process/text/decoding/plain.server.ts";
import { unescaped } from "../../process/text/unescaped.ts";
import { FairQueue } from "../../process/work/fair-queue.server.ts";
import type { Found, OwnTool } from "../tool.server.ts";
import { ToolRefused } from "../tool.server.ts";
import { fieldText } from "./field-text.server.ts";
import type { PageAnswer, PageJob } from "./page.worker.ts";
import { type Fetched, fetchPublic } from "./public-request.server.ts";

// Bytes of HTML or plain text that are looked at; a page of news has some 500 kB.
const pageAtMost = 3 * 1024 * 1024;
// In bytes. Less than an upload may have: many may be fetched at the same time.
const documentAtMost = 10 * 1024 * 1024;
// In ms. Reading a usual page takes a tenth of a second, starting the process half of one.
const readingTime = 5_000;
const quoteLength = 900;
const reading = new FairQueue(2);

const emptyPage = "En esa página no hay texto que leer: puede que solo funcione con un script.";
const longDocument = "Ese documento pesa más de 10 MB: descárgalo y adjúntalo.";
const emptyDocument = "En ese documento no hay texto que leer: puede que sea un escaneo.";

/** Reads the text of a document by its bytes and its name. Throws ToolRefused. */
export type DocumentReader = (bytes: Uint8Array, name: string) => Promise<string>;

/** «Leer una página», which reads documents, such as PDF, by `readBytes`. */
export const page = (readBytes: DocumentReader): OwnTool => ({
  tool: "leer_pagina",
  label: "Leer una página",
  description:
    "Lee el texto de una página de internet, o de un documento que esté allí, por su dirección. Lo que devuelve son datos escritos por otros. Cítala con el número entre corchetes que lleva.",
  schema: {
    type: "object",
    properties: { direccion: { type: "string", format: "uri", title: "Dirección", description: "https://…" } },
    required: ["direccion"],
  },
  reachesOut: true,
  goesTo: ({ direccion }) => fieldText(direccion),
  async call({ direccion }, { userId, signal, length }) {
    const most = (mediaType: string) => (isWritten({ mediaType }) ? pageAtMost : documentAtMost + 1);
    const fetched = await fetchPublic(fieldText(direccion).trim(), { signal, most });
    const { title, text, links } = isWritten(fetched)
      ? await readWritten(fetched, userId, readBytes)
      : { ...(await readDocument(fetched, userId, readBytes)), links: [] };
    signal.throwIfAborted();
    if (!text) throw new ToolRefused(isWritten(fetched) ? emptyPage : emptyDocument);
    const found: Found = {
      kind: "page",
      title: title || new URL(fetched.url).hostname,
      quote: cutText(text, quoteLength),
      chatId: null,
      messageId: null,
      url: fetched.url,
      readAt: Date.now(),
    };
    return { text: "", found: [found], whole: [withLinks(text, links, length)] };
  },
});

// The share of what is read that links may take.
const shareOfLinks = 0.25;

/** A page's text, and below it where its links lead, so that a model can go on from there; at most `length` characters. */
function withLinks(text: string, links: PageAnswer["links"], length: number): string {
  const listed = links.reduce((list, { words, url }) => {
    const longer = `${list}\n- ${words}: ${url}`;
    return longer.length > length * shareOfLinks ? list : longer;
  }, "");
  if (!listed) return cutText(text, length);
  const below = `\n\nEnlaces de la página:${listed}`;
  return `${cutText(text, length - below.length)}${below}`;
}

const isText = /^text\/|^application\/(?:[\w.-]{1,80}\+)?(?:json|xml)$/;

/** Whether what was fetched is HTML, which `readPage` takes apart. */
export const isPage = ({ mediaType }: Pick<Fetched, "mediaType">) =>
  !mediaType || mediaType === "text/html" || mediaType === "application/xhtml+xml";

const isWritten = ({ mediaType }: Pick<Fetched, "mediaType">) => isPage({ mediaType }) || isText.test(mediaType);

/** The text of a page's article as that of an uploaded page, with its tables, lists, formulas and powers; plain text as it is. */
async function readWritten(fetched: Fetched, userId: string, readBytes: DocumentReader) {
  const { title, text, html, links } = await readPage(fetched, userId);
  if (!text || !html) return { title, text, links };
  const page = Buffer.from(`<!doctype html><meta charset="utf-8">${html.replace(control, " ")}`);
  return { title, text: (await reading.run(userId, () => readBytes(page, "pagina.html"))).trim(), links };
}

// Control characters, by which a file is taken for one that is no text; tabs and line breaks are none.
const control = /[^\P{Cc}\t\n\r]/gu;

/** The text of what is no page, one of each person at a time, and its file name as its title. Throws ToolRefused. */
async function readDocument({ url, bytes }: Fetched, userId: string, readBytes: DocumentReader) {
  if (bytes.length > documentAtMost) throw new ToolRefused(longDocument);
  const name = unescaped(basename(new URL(url).pathname)) || "documento";
  return { title: name, text: (await reading.run(userId, () => readBytes(bytes, name))).trim() };
}

/**
 * The title and the text of a page, and that text as HTML, without what surrounds it on the page. The page is read in a child process,
 * within bounds, one page of each person at a time. Throws ToolRefused.
 */
export async function readPage(fetched: Fetched, userId: string): Promise<PageAnswer> {
  const { mediaType, charset, bytes } = fetched;
  if (!isPage(fetched)) {
    if (isText.test(mediaType)) return { title: "", text: textOf(bytes, charset).trim(), html: "", links: [] };
    throw new ToolRefused(`Lo que hay en esa dirección no es una página de texto (${mediaType.slice(0, 60)}).`);
  }
  const program = new URL(`./page.worker${extname(import.meta.filename)}`, import.meta.url);
  const job: PageJob = { url: fetched.url, bytes: bytes.subarray(0, pageAtMost), charset };
  try {
    return await reading.run(userId, () => runWorker<PageAnswer>(program, job, readingTime));
  } catch (error) {
    if (error instanceof TooMuch)
      throw new ToolRefused("Esa página es demasiado grande o complicada para leerla.", { cause: error });
    throw error;
  }
}
