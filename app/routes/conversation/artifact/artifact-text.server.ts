import { parseBlocks } from "../../../markdown/blocks.server.ts";
import { renderedText } from "../../../markdown/rendered.server.ts";
import { tableRows } from "../../../process/text/table.ts";

type Written = {
  id: string;
  userId: string;
  title: string;
  kind: "text" | "table" | "code";
  language: string | null;
  text: string;
};
/** `light`: pictures become links. `drawingsAt`: address of the drawings, before their keys; absent: the one for the owner. */
type Rendered = Written & { version: number; light: boolean; drawingsAt?: string };

// In characters: a page of a long text. Rendering one page takes some 20 ms.
const pageLength = 30_000;
const rowsOnPage = 300;
const columnsAtMost = 60;
// Passages of a page; the last one goes on to the page's end.
const passagesAtMost = 150;
const printedRows = 5_000;

/** A page of a text: as HTML, or as rows of a table with the names of its columns; and how many pages there are. */
export type ShownText = { pages: number; page: number } & ({ html: string } | { columns: string[]; rows: string[][] });

/** The page `asked` of an artifact; the last one where there are fewer. */
export async function showText(artifact: Rendered, asked: number): Promise<ShownText> {
  const { id, userId, kind, text, version, light } = artifact;
  if (kind === "table") return tablePage(tableRows(text), asked, rowsOnPage);
  const all = pagesOf(kind === "text" ? withoutTitle(text, artifact.title) : text);
  const page = Math.min(Math.max(1, asked), all.length);
  const source = asMarkdown(artifact, all[page - 1] ?? "");
  const { drawingsAt = drawingsOf(id, version) } = artifact;
  const html = await renderedText(`${drawingsAt}:${page}`, source, { docId: id, drawingsAt, light }, userId);
  return { pages: all.length, page, html };
}

/** All pages of an artifact, for paper; a table is cut to as many rows as anybody prints. */
export async function showAll(artifact: Rendered): Promise<ShownText[]> {
  if (artifact.kind === "table") return [tablePage(tableRows(artifact.text), 1, printedRows)];
  const first = await showText(artifact, 1);
  const pages = [first];
  for (let n = 2; n <= first.pages; n++) pages.push(await showText(artifact, n));
  return pages;
}

/** Address of the drawings of a version, before their keys. */
export const drawingsOf = (id: string, version: number): string => `/conversation/escrito/${id}/dibujo/${version}/`;

/** A text without a first heading that repeats its title, which stands above it. */
export function withoutTitle(text: string, title: string): string {
  const [first, heading = ""] = /^\s*#{1,2} +(.*)\n?/.exec(text) ?? [];
  return first &&
    heading
      .replace(/[*_`#]/g, "")
      .trim()
      .toLowerCase() === title.toLowerCase()
    ? text.slice(first.length)
    : text;
}

/** An artifact as Markdown: a program in a block of code, a table as a Markdown table. */
export function asMarkdown({ kind, language }: Pick<Written, "kind" | "language">, text: string): string {
  if (kind === "text") return text;
  if (kind === "table") {
    const [names = [], ...rows] = tableRows(text);
    const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    return [line(names), line(names.map(() => "---")), ...rows.map(line)].join("\n");
  }
  // Longer than any run of backticks in the text.
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language ?? ""}\n${text}\n${fence}`;
}

function tablePage([columns = [], ...rows]: string[][], asked: number, onPage: number): ShownText {
  const pages = Math.max(1, Math.ceil(rows.length / onPage));
  const page = Math.min(Math.max(1, asked), pages);
  const shown = rows.slice((page - 1) * onPage, page * onPage);
  return {
    ...{ pages, page, columns: columns.slice(0, columnsAtMost) },
    rows: shown.map((cells) => cells.slice(0, columnsAtMost)),
  };
}

/** A text in pages that end between paragraphs, and not within a block of code. */
export function pagesOf(text: string): string[] {
  const pages: string[] = [];
  let from = 0;
  let fence = "";
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const next = end < 0 ? text.length : end + 1;
    const line = text.slice(at, next).trim();
    const [mark = ""] = /^(?:`{3,}|~{3,})/.exec(line) ?? [];
    if (mark && !fence) fence = mark;
    else if (mark.startsWith(fence) && line === mark) fence = "";
    const isLong = next - from >= pageLength;
    // A block of code that never ends must not make a page of everything.
    if ((isLong && !line && !fence) || next - from >= 2 * pageLength) {
      pages.push(text.slice(from, next));
      from = next;
    }
    at = next;
  }
  if (from < text.length || pages.length === 0) pages.push(text.slice(from));
  return pages;
}

/** `begins`: first words of the passage. */
export type ShownPassage = { n: number; begins: string; html: string };

/** The passages of a page of a text, each by itself: paragraphs, headings, lists. A page of a program or a table is one passage. */
export async function passagesOf(artifact: Rendered, asked: number): Promise<ShownPassage[]> {
  const { id, userId, version } = artifact;
  const sources = passageSources(artifact, asked);
  return Promise.all(
    sources.map(async (source, n) => ({
      n,
      begins: source
        .slice(0, 60)
        .replace(/[#*_>|`-]/g, " ")
        .replace(/\s+/g, " ")
        .trim(),
      html: await renderedText(`${id}:${version}:${asked}:${n}`, asMarkdown(artifact, source), {}, userId),
    })),
  );
}

/** The passages of a page, as written. */
export function passageSources({ kind, text }: Pick<Written, "kind" | "text">, asked: number): string[] {
  const all = pagesOf(text);
  const source = all[Math.min(Math.max(1, asked), all.length) - 1] ?? "";
  if (kind !== "text") return [source];
  const blocks = parseBlocks(source);
  // A heading belongs to what stands below it.
  const starts = blocks
    .filter((_, n) => blocks[n - 1]?.type !== "heading")
    .map(({ start }) => start)
    .slice(0, passagesAtMost);
  return starts.map((start, n) => source.slice(start, starts[n + 1]).trimEnd()).filter((passage) => passage !== "");
}
