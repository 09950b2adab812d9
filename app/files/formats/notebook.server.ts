import { listOf, objectOf, recordOf } from "../../process/text/json.ts";

// Marks of colours that programs write for terminals.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin with the control character ESC
const colours = /\u001b\[[\d;]{0,20}m/g;

/** Whether a text is a notebook of Jupyter (nbformat.readthedocs.io), whose code and pictures are kept as JSON. */
export const isNotebook = (text: string): boolean =>
  text.startsWith("{") && /"nbformat"\s{0,9}:\s{0,9}\d/.test(text) && /"cells"\s{0,9}:\s{0,9}\[/.test(text);

/** The cells of a notebook: their text, their code, and what the code has printed; pictures are only named. Empty for a broken one. */
export function notebookText(text: string): string {
  const notebook = objectOf(text) ?? {};
  const language = recordOf(recordOf(notebook.metadata)?.kernelspec)?.language;
  const cells = listOf(notebook.cells)
    .map(recordOf)
    .filter((cell) => cell !== undefined);
  return cells
    .map((cell) => {
      const source = joined(cell.source);
      if (cell.cell_type !== "code") return source;
      const code = `\`\`\`${typeof language === "string" ? language : ""}\n${source}\n\`\`\``;
      return [source.trim() && code, ...listOf(cell.outputs).map(printed)].filter(Boolean).join("\n\n");
    })
    .filter((one) => one.trim())
    .join("\n\n");
}

/** Lines are kept as a text or as a list. */
const joined = (lines: unknown): string =>
  typeof lines === "string"
    ? lines
    : listOf(lines)
        .filter((line) => typeof line === "string")
        .join("");

function printed(given: unknown): string {
  const output = recordOf(given);
  if (!output) return "";
  if (output.output_type === "error") return `${String(output.ename)}: ${String(output.evalue)}`.replace(colours, "");
  const data = recordOf(output.data);
  const said = joined(output.text ?? data?.["text/plain"])
    .replace(colours, "")
    .trim();
  const isPicture = data !== undefined && Object.keys(data).some((type) => type.startsWith("image/"));
  return [said, isPicture && "(imagen)"].filter(Boolean).join("\n");
}
