import { listOf, objectOf, recordOf } from "../../process/text/json.ts";
import { htmlText } from "./html.server.ts";

// Marks of colours that programs write for terminals.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin with the control character ESC
const colours = /\u001b\[[\d;]{0,20}m/g;

/** Whether a text is a notebook of Jupyter (nbformat.readthedocs.io), whose code and pictures are kept as JSON. */
export const isNotebook = (text: string): boolean =>
  text.startsWith("{") && /"nbformat"\s{0,9}:\s{0,9}\d/.test(text) && /"cells"\s{0,9}:\s{0,9}\[/.test(text);

/** The cells of a notebook: their text, their code, and the words that the code has printed; pictures are only named. Empty for other JSON. */
export function notebookText(text: string): string {
  const notebook = objectOf(text) ?? {};
  const language = recordOf(recordOf(notebook.metadata)?.kernelspec)?.language;
  // Format 3 has its cells in worksheets, and names some fields otherwise.
  const sheets = listOf(notebook.worksheets).flatMap((sheet) => listOf(recordOf(sheet)?.cells));
  return [...listOf(notebook.cells), ...sheets]
    .map((given) => {
      const cell = recordOf(given);
      if (typeof cell?.cell_type !== "string") return "";
      const source = joined(cell.source ?? cell.input);
      if (cell.cell_type === "heading") return `${"#".repeat(Math.min(6, Number(cell.level) || 1))} ${source}`;
      if (cell.cell_type !== "code") return source;
      const code = source.trim() && fenced(source, typeof language === "string" ? language : "");
      return [code, ...listOf(cell.outputs).map(printed)].filter(Boolean).join("\n\n");
    })
    .filter((one) => one.trim())
    .join("\n\n");
}

function fenced(code: string, language: string): string {
  const longest = (code.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
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
  const { ename, evalue, text } = output;
  const data = recordOf(output.data) ?? {};
  const page = data["text/html"] === undefined ? "" : htmlText(joined(data["text/html"]));
  const failure = [ename, evalue].filter((said) => typeof said === "string").join(": ");
  const shown = [failure, joined(data["text/markdown"]), page, joined(data["text/latex"]), joined(data["text/plain"])];
  const said = ([...shown, joined(text)].find((one) => one.trim()) ?? "").replace(colours, "").trim();
  const isPicture = "png" in output || Object.keys(data).some((type) => type.startsWith("image/"));
  return [said, isPicture && "(imagen)"].filter(Boolean).join("\n");
}
