import { instance } from "@viz-js/viz";
import { CannotDraw } from "./drawing.server.ts";
import { ink, paper, shade } from "./palette.server.ts";

const colours = { color: shade(0.5), fontcolor: ink, fontname: "Helvetica" };

/** Graphviz's language as SVG. Throws CannotDraw. */
export async function drawDot(code: string): Promise<string> {
  const viz = await instance();
  const result = viz.render(code, {
    format: "svg",
    graphAttributes: { bgcolor: "transparent", pad: 0.1, ...colours },
    nodeAttributes: { ...colours, fillcolor: paper },
    edgeAttributes: colours,
  });
  if (result.status !== "success") {
    const line = /line (\d+)/.exec(result.errors.map(({ message }) => message).join(" "))?.[1];
    throw new CannotDraw(line ? `No se entiende como DOT: mira la línea ${line}.` : "No se entiende como DOT.");
  }
  // Links lead nowhere from a picture.
  return result.output.slice(result.output.indexOf("<svg")).replace(/<\/?a\b[^>]*>/g, "");
}
