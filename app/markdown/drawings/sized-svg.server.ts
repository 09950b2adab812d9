import { CannotDraw } from "./drawing.server.ts";

// In pixels, of a side.
const longest = 20_000;

/** An SVG with its size in pixels, converted from the unit of `original`: a browser shows the SVG in this size when opened alone. */
export function sizedSvg(original: string, plain: string): { svg: string; width: number; height: number } {
  const [root = ""] = /<svg[^>]*>/.exec(original) ?? [];
  const attribute = (name: string) => new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)["']`).exec(root)?.[1];
  const [, , boxWidth = 0, boxHeight = 0] = (attribute("viewBox") ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const width = Math.ceil(pixels(attribute("width")) ?? (boxWidth || 300));
  const height = Math.ceil(pixels(attribute("height")) ?? (boxHeight || 150));
  if (!(width > 0 && height > 0 && Math.max(width, height) <= longest))
    throw new CannotDraw("El dibujo es demasiado grande.");
  const bare = plain.replace(/^<svg[^>]*>/, (open) => open.replace(/ (?:width|height)="[^"]*"/g, ""));
  return { svg: bare.replace("<svg", `<svg width="${width}" height="${height}"`), width, height };
}

/** A length in pixels; undefined if it is missing, a percentage or in another unit. */
function pixels(length: string | undefined): number | undefined {
  const [, number, unit] = /^\s*(\d{1,6}(?:\.\d*)?)(px|pt)?\s*$/.exec(length ?? "") ?? [];
  return number ? Number(number) * (unit === "pt" ? 4 / 3 : 1) : undefined;
}
