import type { ArtifactRow } from "../db/tables.ts";

// File name extensions by the name of a language in Markdown. Other languages are plain text.
const endings: Record<string, string> = {
  bash: "sh",
  c: "c",
  "c++": "cpp",
  cpp: "cpp",
  css: "css",
  csharp: "cs",
  go: "go",
  html: "html",
  java: "java",
  javascript: "js",
  js: "js",
  json: "json",
  kotlin: "kt",
  php: "php",
  python: "py",
  py: "py",
  r: "r",
  ruby: "rb",
  rust: "rs",
  sh: "sh",
  sql: "sql",
  swift: "swift",
  ts: "ts",
  typescript: "ts",
  xml: "xml",
  yaml: "yaml",
};

const longest = 150;

/** Name of the file that an artifact is kept and downloaded as. */
export function fileNameOf({ title, kind, language }: Pick<ArtifactRow, "title" | "kind" | "language">): string {
  const name = title
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]+/gu, " ")
    .replace(/\s+/g, " ")
    .slice(0, longest)
    .toWellFormed()
    .replace(/^[. ]+/, "")
    .replace(/[. ]+$/, "");
  const ending = kind === "table" ? "csv" : kind === "text" ? "md" : (endings[language?.toLowerCase() ?? ""] ?? "txt");
  return `${name || "Escrito"}.${ending}`;
}
