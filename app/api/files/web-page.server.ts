import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { documentTypes } from "../../files/formats/types.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { limits } from "../../process/limits.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { unescaped } from "../../process/text/unescaped.ts";
import { FairQueue } from "../../process/work/fair-queue.server.ts";
import { isPage, readPage } from "../../tools/builtin/page.server.ts";
import { type Fetched, fetchPublic } from "../../tools/builtin/public-request.server.ts";
import { ToolRefused } from "../../tools/tool.server.ts";

/** The page that was found at an address, on disk until `discard`. */
export type TakenPage = { path: string; name: string; size: number; address: string; discard(): Promise<void> };

// In ms, for all redirects and the whole answer.
const patience = 20_000;
// Pages taken at once: each may hold a document in memory.
const atOnce = 4;
const taking = new FairQueue(atOnce);
const endings = Object.fromEntries(Object.entries(documentTypes).map(([ending, type]) => [type, ending]));

/**
 * Takes the content of a public web address: for a page its article as HTML, for any other content its bytes. `address` may lack its
 * scheme. Throws FileRefused.
 */
export async function takePage(address: string, userId: string): Promise<TakenPage> {
  if (address.length > limits.address) throw new FileRefused("no se puede guardar: su dirección es demasiado larga.");
  const url = /^[a-z][a-z\d+.-]*:/i.test(address) ? address : `https://${address}`;
  try {
    return await taking.run(userId, async () => {
      const signal = AbortSignal.timeout(patience);
      const fetched = await fetchPublic(url, { signal, most: () => limits.document + 1 });
      return store(fetched.url, isPage(fetched) ? await article(fetched, userId) : asItIs(fetched));
    });
  } catch (error) {
    throw refusal(error) ?? error;
  }
}

type Content = { name: string; bytes: Buffer | string };

async function article(fetched: Fetched, userId: string): Promise<Content> {
  const { title, text, html } = await readPage(fetched, userId);
  if (!text) throw new FileRefused("no tiene texto que leer: puede que esa página solo funcione con un script.");
  const called = title || new URL(fetched.url).hostname;
  const head = `<!doctype html>\n<meta charset="utf-8">\n<title>${escaped(called)}</title>\n`;
  return { name: fileName(called, "html"), bytes: `${head}<h1>${escaped(called)}</h1>\n${html}\n` };
}

/** Content that is no page, as it is. Its name is the end of the address, perhaps without the usual ending. */
function asItIs({ url, mediaType, bytes }: Fetched): Content {
  const { hostname, pathname } = new URL(url);
  const last = unescaped(basename(pathname)) || hostname;
  const ending = endings[mediaType] ?? (mediaType === "text/plain" ? "txt" : extname(last).slice(1));
  const stem = last.toLowerCase().endsWith(`.${ending}`) ? last.slice(0, -ending.length - 1) : last;
  return { name: fileName(stem, ending), bytes };
}

async function store(address: string, { name, bytes }: Content): Promise<TakenPage> {
  const folder = await mkdtemp(join(tmpdir(), "tertulia-recibido-"));
  const path = join(folder, "pagina");
  await writeFile(path, bytes);
  return {
    path,
    name,
    size: Buffer.byteLength(bytes),
    address: address.slice(0, limits.address),
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}

function refusal(error: unknown): FileRefused | undefined {
  const cause = error instanceof Error ? error : undefined;
  if (error instanceof ToolRefused) return new FileRefused(`no se puede guardar: ${lowered(error.message)}`, { cause });
  if (cause?.name === "TimeoutError")
    return new FileRefused("no se puede guardar: ese sitio tarda demasiado.", { cause });
  return undefined;
}

const lowered = (sentence: string) => sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A file name without forbidden characters, cut to the longest allowed length. */
function fileName(stem: string, ending: string): string {
  const plain = stem
    .replace(/[/\\:*?"<>|\p{Cc}]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  const end = ending && `.${ending}`;
  return `${cutText(plain, limits.fileName - end.length)}${end}`;
}
