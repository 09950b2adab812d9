import { drawDot } from "../dot.server.ts";
import { CannotDraw, type DrawnTable } from "../drawing.server.ts";
import { drawVega } from "../vega.server.ts";
import { chartOf } from "./charts.server.ts";
import { classesAsDot } from "./classes.server.ts";
import { entitiesAsDot } from "./entities.server.ts";
import { flowAsDot } from "./flow.server.ts";
import { mindmapAsDot } from "./mindmap.server.ts";
import { sequenceAsSvg } from "./sequence.server.ts";
import { statesAsDot } from "./state.server.ts";

/** Mermaid's language as SVG, with the data of a chart. Throws CannotDraw where any of it is not understood. */
export async function drawMermaid(code: string): Promise<{ svg: string; table?: DrawnTable | undefined }> {
  const lines = bareLines(code);
  const head = lines[0]?.trim() ?? "";
  const [name = ""] = head.split(/[\s;]/);
  const rest = lines.slice(1);
  switch (name.replace(/-v2$/, "")) {
    case "graph":
    case "flowchart":
    case "flowchart-elk":
      return { svg: await drawDot(flowAsDot(lines.join("\n").trim())) };
    case "stateDiagram":
      return { svg: await drawDot(statesAsDot(rest)) };
    case "classDiagram":
      return { svg: await drawDot(classesAsDot(rest)) };
    case "erDiagram":
      return { svg: await drawDot(entitiesAsDot(rest)) };
    case "sequenceDiagram":
      return { svg: sequenceAsSvg(rest) };
    case "mindmap":
      return { svg: await drawDot(mindmapAsDot(rest)) };
  }
  const chart = chartOf(name, lines);
  if (chart) return drawVega(JSON.stringify(chart));
  throw new CannotDraw(`No se dibujan los de Mermaid que empiezan por «${name.slice(0, 40)}».`);
}

/** Lines without the settings before them and comments. */
function bareLines(code: string): string[] {
  const body = code
    .trimStart()
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replace(/%%\{[\s\S]*?\}%%/g, "");
  return body
    .split("\n")
    .map((line) => line.replace(/(^|\s)%%.*$/, "").trimEnd())
    .filter((line) => line.trim() !== "");
}
