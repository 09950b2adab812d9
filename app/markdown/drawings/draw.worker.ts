import { Parser } from "htmlparser2";
import { answerJob } from "../../process/child-process-entry.ts";
import { plainSvg, SvgRefused } from "../../process/svg/plain-svg.server.ts";
import { CannotDraw, type DrawnTable, type NoPicture, type Picture } from "./drawing.server.ts";
import type { DrawingSource } from "./drawing-source.server.ts";
import { sizedSvg } from "./sized-svg.server.ts";

// Longest SVG of a drawing, in characters; more is too much for a slow line.
const longest = 1_000_000;

export type DrawJob = Pick<DrawingSource, "kind" | "code">;

answerJob(async (job: DrawJob): Promise<Picture | NoPicture> => {
  try {
    const { svg, table } = await drawn(job);
    if (svg.length > longest) throw new CannotDraw("El dibujo es demasiado grande.");
    return { ...sizedSvg(svg, plainSvg(svg, { filters: false })), label: wordsOf(svg), ...(table && { table }) };
  } catch (error) {
    if (error instanceof CannotDraw) return { problem: error.message };
    if (error instanceof SvgRefused) return { problem: `El dibujo ${error.message}.` };
    throw error;
  }
});

/** Each of the programs takes a while to load. */
async function drawn({ kind, code }: DrawJob): Promise<{ svg: string; table?: DrawnTable | undefined }> {
  if (kind === "svg") return { svg: code };
  if (kind === "dot") return { svg: await (await import("./dot.server.ts")).drawDot(code) };
  if (kind === "vega") return (await import("./vega.server.ts")).drawVega(code);
  return (await import("./mermaid/draw-mermaid.server.ts")).drawMermaid(code);
}

const labelUpTo = 300;

/** The words in a picture, each once, for those who do not see it. */
function wordsOf(svg: string): string {
  const words: string[] = [];
  let depth = 0;
  const parser = new Parser(
    {
      onopentag: (name) => {
        if (name === "text") depth++;
      },
      ontext: (text) => {
        if (depth > 0) words.push(text);
      },
      onclosetag: (name) => {
        if (name === "text") depth--;
        if (name === "text" || name === "tspan") words.push("\n");
      },
    },
    { xmlMode: true },
  );
  parser.end(svg);
  const lines = words
    .join("")
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim());
  const label = [...new Set(lines)].filter(Boolean).join("; ");
  return label.length > labelUpTo ? `${label.slice(0, labelUpTo).toWellFormed()}…` : label;
}
