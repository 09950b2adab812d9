import { makeDocument, officeTypes } from "../../../../markdown/documents/make-document.server.ts";
import type { OfficeDocument, OfficeSheet } from "../../../../markdown/documents/office-document.server.ts";
import { tableRows } from "../../../../process/text/table.ts";
import { asMarkdown, withoutTitle } from "../artifact-text.server.ts";

const plainTypes: Record<string, string> = { md: "text/markdown", csv: "text/csv", txt: "text/plain" };

/**
 * An artifact as a file: `md`, `csv` and `txt` as it is written, `docx`, `odt` and `xlsx` made of it. Throws 404 for another format, and
 * 413 if the artifact is too long for a document. `by`: the house, and the notice in a document; `owner`: as in `makeDocument`.
 */
export async function artifactFile(
  artifact: Artifact,
  format: string,
  { owner, ...by }: { author: string; aiNotice: string; owner: string },
): Promise<Response> {
  const plain = plainTypes[format];
  if (plain) return file(artifact.text, `${plain}; charset=utf-8`, nameOf(artifact, format));
  if (format !== "docx" && format !== "odt" && format !== "xlsx") throw new Response(null, { status: 404 });
  const bytes = await makeDocument(documentOf(artifact, format, by), owner);
  if (!bytes)
    throw new Response("Es demasiado largo para un documento. Descárgalo como está escrito.", { status: 413 });
  return file(bytes, officeTypes[format], nameOf(artifact, format));
}

type Artifact = Parameters<typeof asMarkdown>[0] & {
  title: string;
  text: string;
};

function documentOf(
  artifact: Artifact,
  format: "docx" | "odt" | "xlsx",
  { author, aiNotice }: { author: string; aiNotice: string },
): OfficeDocument | OfficeSheet {
  const { title, kind, text } = artifact;
  if (format === "xlsx") return { format, title, rows: tableRows(text) };
  const markdown = asMarkdown(artifact, kind === "text" ? withoutTitle(text, title) : text);
  const turns = [{ who: null, when: "", markdown, files: [], sources: [] }];
  return { format, title, author, notice: aiNotice, turns };
}

const file = (body: BodyInit, type: string, name: string) =>
  new Response(body, {
    headers: {
      "Content-Type": type,
      "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percent)}`,
      "Content-Security-Policy": "default-src 'none'; sandbox",
      "Cache-Control": "private, no-store",
    },
  });

const percent = (one: string) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;

/** Name of the file: the artifact's title with the extension of the format. */
const nameOf = ({ title }: { title: string }, format: string) =>
  `${title.replace(/[\p{Cc}/\\:*?"<>|]+/gu, " ").trim() || "Escrito"}.${format}`;
