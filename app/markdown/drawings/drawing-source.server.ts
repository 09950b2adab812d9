import { createHash } from "node:crypto";

export type DrawingKind = "mermaid" | "dot" | "vega" | "svg";
/** Code of a drawing; `key`: identifies its picture in addresses. */
export type DrawingSource = { kind: DrawingKind; code: string; key: string };

const kinds: Record<string, DrawingKind> = {
  mermaid: "mermaid",
  dot: "dot",
  graphviz: "dot",
  gv: "dot",
  vega: "vega",
  "vega-lite": "vega",
  vegalite: "vega",
  svg: "svg",
};

// Languages whose code is a drawing if it begins like one.
const beginnings: Record<string, [RegExp, DrawingKind]> = {
  json: [/^\s*\{\s*"\$schema"\s*:\s*"https:\/\/vega\.github\.io\/schema\/vega/, "vega"],
  xml: [/^\s*<svg\s/, "svg"],
  html: [/^\s*<svg\s/, "svg"],
};

// In characters. Layout takes more than linear time, and drawings for people are shorter.
export const longestDrawing = 20_000;

/** The drawing that a block of code is; undefined if it is none. */
export function drawingOf(language: string, code: string): DrawingSource | undefined {
  const name = language.toLowerCase();
  const [begins, begun] = beginnings[name] ?? [];
  const kind = kinds[name] ?? (begins?.test(code) ? begun : undefined);
  if (!kind || !code.trim()) return undefined;
  const key = createHash("sha256").update(`${kind}\n${code}`).digest("hex").slice(0, 20);
  return { kind, code, key };
}

/** The first word behind the mark of a block of code. */
export const languageOf = (info: string): string => info.trim().split(/\s+/)[0] ?? "";

/** Whether a block of code has its closing mark; a block without it is still being written, or was cut off. */
export function isWhole({ map, content }: { map: [number, number] | null; content: string }): boolean {
  const lines = content.replace(/\n$/, "").split("\n").length - (content === "" ? 1 : 0);
  return map !== null && map[1] - map[0] === lines + 2;
}
