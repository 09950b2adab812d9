import { CannotDraw } from "../drawing.server.ts";

const signs: Record<string, string> = { quot: '"', amp: "&", lt: "<", gt: ">", apos: "'", nbsp: " " };

/** The words of a label as Mermaid writes them: its line breaks, marks and signs resolved. */
export function wordsOf(label: string): string {
  return label
    .trim()
    .replace(/^(["'`])([\s\S]*)\1$/, "$2")
    .replace(/^`([\s\S]*)`$/, "$1")
    .replace(/\s*(?:<br\s*\/?>|\\n|\n)\s*/gi, "\n")
    .replace(/<\/?(?:b|i|u|em|strong|small|sub|sup|span|div|p|font|center)(?:\s[^<>]{0,200})?>/gi, "")
    .replace(/\*\*([^*\n]+)\*\*/g, "$1")
    .replace(/\bfa[bsr]?:fa-[\w-]+\s*/g, "")
    .replace(/[#&](\w{1,8});/g, (whole, name: string) =>
      /^\d+$/.test(name) ? String.fromCodePoint(Math.min(Number(name), 0xffff)) : (signs[name] ?? whole),
    )
    .trim();
}

/** A text as Graphviz reads it. */
export const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;

/** A text within the labels of Graphviz that are like HTML. */
export const markedUp = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "<br/>");

/** Thrown for a line that is not understood: a picture without it would say something else. */
export const notUnderstood = (line: string): CannotDraw =>
  new CannotDraw(`No se entiende como Mermaid: «${line.trim().slice(0, 80)}».`);

/**
 * A kind of line: its pattern, and a function that reads the groups of the pattern; a group that took no part is an empty text. The
 * function returns false for a line that is of a later kind after all.
 */
export type LineKind = [pattern: RegExp, read: (...groups: string[]) => unknown];

/** Reads a line as the first of these kinds that matches it. Throws CannotDraw if no kind matches. */
export function readLine(line: string, kinds: LineKind[]): void {
  const text = line.trim().replace(/;$/, "");
  const isRead = kinds.some(([pattern, read]) => {
    const found = pattern.exec(text);
    return found !== null && read(...found.slice(1).map((group = "") => group)) !== false;
  });
  if (!isRead) throw notUnderstood(line);
}

/** A line that says where a diagram runs to: «direction LR». */
export const directionLine = /^direction\s+(TB|TD|BT|LR|RL)$/;
/** Graphviz has no «top down» beside «top to bottom». */
export const directionOf = (written: string): string => (written === "TD" ? "TB" : written);

/** Colours of a style that Graphviz has, too. */
export function coloursOf(style: string): string[] {
  const names: Record<string, string> = { fill: "fillcolor", stroke: "color", color: "fontcolor" };
  return style.split(/[,;]/).flatMap((one) => {
    const [name = "", value = ""] = one.split(":").map((part) => part.trim());
    const known = names[name];
    return known && /^#?[a-z0-9]{3,20}$/i.test(value) ? [`${known}=${quoted(value)}`] : [];
  });
}
