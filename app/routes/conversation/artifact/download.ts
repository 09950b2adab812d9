import { makeDocument, officeTypes } from "../../../markdown/documents/make-document.server.ts";
import type { OfficeDocument, OfficeSheet } from "../../../markdown/documents/office-document.server.ts";
import { tableRows } from "../../../process/text/table.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { dashboardOf } from "../../../web/dashboard.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { getHouse } from "../../../web/house.server.ts";
import type { Route } from "./+types/download";
import { asMarkdown, withoutTitle } from "./artifact-text.server.ts";
import { versionIn } from "./version-in.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

const plainTypes: Record<string, string> = { md: "text/markdown", csv: "text/csv", txt: "text/plain" };

/**
 * A version of an artifact as a file: `?formato=md`, `csv` and `txt` as it is written, `docx`, `odt` and `xlsx` made of it. Throws 413 where
 * it is too long for that.
 */
export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const artifact = await read(
    context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query: versionIn(url) }),
  );
  const format = url.searchParams.get("formato") ?? "md";
  const plain = plainTypes[format];
  if (plain) return file(artifact.text, `${plain}; charset=utf-8`, nameOf(artifact, format));
  if (format !== "docx" && format !== "odt" && format !== "xlsx") throw new Response(null, { status: 404 });
  const [{ user }, { aiNotice }, { name: author }] = await Promise.all([
    requireUser(context),
    dashboardOf(context),
    getHouse(context),
  ]);
  const bytes = await makeDocument(documentOf(artifact, format, { author, aiNotice }), user.id);
  if (!bytes)
    throw new Response("Es demasiado largo para un documento. Descárgalo como está escrito.", { status: 413 });
  return file(bytes, officeTypes[format], nameOf(artifact, format));
}

type Artifact = Parameters<typeof asMarkdown>[0] & {
  title: string;
  text: string;
  shown: { writer: { person: boolean } } | null;
};

function documentOf(
  artifact: Artifact,
  format: "docx" | "odt" | "xlsx",
  { author, aiNotice }: { author: string; aiNotice: string },
): OfficeDocument | OfficeSheet {
  const { title, kind, text, shown } = artifact;
  if (format === "xlsx") return { format, title, rows: tableRows(text) };
  const markdown = asMarkdown(artifact, kind === "text" ? withoutTitle(text, title) : text);
  const turns = [{ who: null, when: "", markdown, files: [], sources: [] }];
  return { format, title, author, notice: shown?.writer.person ? "" : aiNotice, turns };
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

/** Name of the file: as it is kept, with the ending of the format. */
const nameOf = ({ title }: { title: string }, format: string) =>
  `${title.replace(/[\p{Cc}/\\:*?"<>|]+/gu, " ").trim() || "Escrito"}.${format}`;
