import type { ShownText } from "./artifact-text.server.ts";

/** A page of the text of an artifact. */
export function ArtifactText({ text }: { text: ShownText }) {
  if ("html" in text) {
    // Safe: made by our own Markdown, which has no HTML of others.
    return <div className="prose" dir="auto" dangerouslySetInnerHTML={{ __html: text.html }} />;
  }
  return (
    <section className="scroll" aria-label="Tabla">
      <table className="table">
        <thead>
          <tr>
            {text.columns.map((name, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
              <th key={n} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {text.rows.map((cells, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows never change places
            <tr key={n}>
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type TextPagesProps = { to: (page: number) => string; page: number; pages: number };

/** Links to the pages of a long text. */
export function TextPages({ to, page, pages }: TextPagesProps) {
  if (pages < 2) return null;
  return (
    <nav className="buttons mt-6" aria-label="Páginas">
      {page > 1 && (
        <a className="button" href={to(page - 1)}>
          Anterior
        </a>
      )}{" "}
      <span>
        Página {page} de {pages}
      </span>{" "}
      {page < pages && (
        <a className="button" href={to(page + 1)}>
          Siguiente
        </a>
      )}
    </nav>
  );
}

type DownloadsProps = { at: string; kind: "text" | "table" | "code"; version: number | undefined };

/** Links to an artifact as files; `version`: the version, unless it is the last one. */
export function Downloads({ at, kind, version }: DownloadsProps) {
  const formats = { text: ["docx", "odt", "md"], table: ["xlsx", "csv"], code: ["txt"] }[kind];
  return (
    <p className="mt-3 text-text-2">
      Descargar:{" "}
      {formats.map((format, n) => (
        <span key={format}>
          {n > 0 && " · "}
          <a href={`${at}?formato=${format}${version === undefined ? "" : `&version=${version}`}`}>
            {formatWords[format]}
          </a>
        </span>
      ))}
    </p>
  );
}

const formatWords: Record<string, string> = {
  docx: "Word (DOCX)",
  odt: "LibreOffice (ODT)",
  md: "Markdown",
  xlsx: "Excel (XLSX)",
  csv: "CSV",
  txt: "el archivo",
};
