import { renderMermaidSVG } from "beautiful-mermaid";
import { drawDot } from "./dot.server.ts";
import { CannotDraw, type DrawnTable } from "./drawing.server.ts";
import { chartOf } from "./mermaid-charts.server.ts";
import { mindmapAsDot } from "./mermaid-mindmap.server.ts";
import { font, ink, paper, shade } from "./palette.server.ts";
import { drawVega } from "./vega.server.ts";

// Its styles are made of these, mixed by browsers; pictures for documents need them as they come out.
const colours: Record<string, string> = {
  ...{ bg: paper, fg: ink, _text: ink, "_text-sec": shade(0.7), "_text-muted": shade(0.6), "_text-faint": shade(0.4) },
  ...{ _line: shade(0.5), _arrow: shade(0.85), "_node-fill": "#ffffff", "_node-stroke": shade(0.3) },
  ...{ "_group-fill": paper, "_group-hdr": shade(0.06), "_inner-stroke": shade(0.15), "_key-badge": shade(0.12) },
};

const graphs = /^(?:graph|flowchart|sequenceDiagram|classDiagram|erDiagram|stateDiagram)(?:-v2)?\b/;

/** Mermaid's language as SVG, with the data of a chart. Throws CannotDraw. */
export async function drawMermaid(code: string): Promise<{ svg: string; table?: DrawnTable | undefined }> {
  const lines = bareLines(code);
  const head = lines[0] ?? "";
  const [name = ""] = head.split(/\s/);
  if (graphs.test(head)) return { svg: graphSvg(lines.join("\n")) };
  if (name === "mindmap") return { svg: await drawDot(mindmapAsDot(lines.slice(1))) };
  const chart = chartOf(name, lines);
  if (chart) return drawVega(JSON.stringify(chart));
  throw new CannotDraw(`No se dibujan los de Mermaid que empiezan por «${name.slice(0, 40)}».`);
}

/** Lines without the settings before them and comments. */
function bareLines(code: string): string[] {
  const body = code.trimStart().replace(/^---\n[\s\S]*?\n---\n/, "");
  return body
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "" && !line.trimStart().startsWith("%%"));
}

function graphSvg(code: string): string {
  let svg: string;
  try {
    svg = renderMermaidSVG(code);
  } catch {
    throw new CannotDraw("No se entiende como Mermaid.");
  }
  return svg
    .replace(">(no attributes)<", "><")
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/^<svg([^>]*?) style="[^"]*"/, `<svg$1 font-family="${font}"`)
    .replace(/var\(--([\w-]+)\)/g, (whole, name) => colours[name] ?? whole);
}
