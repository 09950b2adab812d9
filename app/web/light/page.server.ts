import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { headerOf } from "../../http/header.server.ts";
import { accentStyle } from "../../process/text/accent.server.ts";
import { stylesOf } from "./styles.server.ts";

const stylesheet = /<link [^>]*rel="stylesheet"[^>]*>/g;
// The house's own style sheet, linked by `root.tsx`.
const accent = /<link [^>]*href="\/marca\/estilo\/([0-9a-f]{6})"/;
const preload = /<link rel="modulepreload"[^>]*>/g;
// Drawn by `ui/light/page-foot.tsx`; text of people and models can't contain a tag.
const weight = /<p data-weight="">[^<]*<\/p>/;

/**
 * A rendered page that contains the styles it uses, so that it can be read after one round trip, and says its weight in its foot. `growing`
 * is HTML like the HTML that is inserted into the page later; such a page is not weighed, because its end is not known yet.
 */
export async function lightPage(
  html: string,
  request: Request,
  { nonce, growing, timeZone }: { nonce: string; growing: string | undefined; timeZone(): Promise<string> },
): Promise<string> {
  const color = accent.exec(html)?.[1];
  const styles = stylesOf(html + (growing ?? "")) + (color ? accentStyle(`#${color}`) : "");
  const style = `<style nonce="${nonce}">${styles}</style>`;
  const page = html
    .replace(preload, "")
    .replace(stylesheet, "")
    .replace("</head>", () => `${style}</head>`);
  if (growing !== undefined) return page.replace(weight, "");
  if (request.headers.has("Make-Copy")) {
    const words = copied(await timeZone());
    return page.replace(weight, () => `<p>${words}</p>`);
  }
  const bytes = await compressedSize(page, headerOf(request, "Accept-Encoding"));
  return page.replace(weight, `<p>Esta página ha pesado ${kilobytes.format(bytes / 1000)} kB.</p>`);
}

/** The words in the foot of a copy, in place of the weight (`public/sw.js`): nothing else tells that the page is a copy. */
function copied(timeZone: string): string {
  const when = { timeZone, dateStyle: "long", timeStyle: "short" } as const;
  return `Copia del ${new Intl.DateTimeFormat("es", when).format(Date.now())}, por si se lee sin conexión.`;
}

const kilobytes = new Intl.NumberFormat("es", { maximumFractionDigits: 1 });
const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/** In bytes, compressed as the handler compresses pages, in a thread. */
async function compressedSize(page: string, accepted: string): Promise<number> {
  if (accepted.includes("br")) {
    return (await brotli(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })).length;
  }
  return accepted.includes("gzip") ? (await gzipped(page)).length : Buffer.byteLength(page);
}
