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

/** Colours of a style that Graphviz has, too. */
export function coloursOf(style: string): string[] {
  const names: Record<string, string> = { fill: "fillcolor", stroke: "color", color: "fontcolor" };
  return style.split(/[,;]/).flatMap((one) => {
    const [name = "", value = ""] = one.split(":").map((part) => part.trim());
    const known = names[name];
    return known && /^#?[a-z0-9]{3,20}$/i.test(value) ? [`${known}=${quoted(value)}`] : [];
  });
}
