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
