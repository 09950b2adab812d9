import { Parser } from "htmlparser2";
import { References } from "./references.server.ts";

/** An SVG that holds more than what is drawn; the message is the Spanish predicate that says which part. */
export class SvgRefused extends Error {
  override name = "SvgRefused";
}

// SVG 2: shapes, text, paint and filters. Nothing that runs, links, embeds or moves.
const drawn = new Set(
  "svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan textPath linearGradient radialGradient stop pattern clipPath mask marker style switch filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence".split(
    " ",
  ),
);
// Drawing programs keep notes, texts and copies of their own in these; without them the picture is the same, or says less.
const ignored = new Set(["metadata", "foreignObject", "flowRoot"]);
const elementsAtMost = 5_000;
const usesAtMost = 100;
// Elements that are drawn, counting those of a pattern, a marker or a `use` each time that it is referred to.
const costAtMost = 20_000;

/**
 * A picture in SVG with nothing but what is drawn: written anew from what was understood. `filters`: whether it may have them, which are
 * costly to draw.
 * Throws SvgRefused with the part that a picture of ours may not have.
 */
export function plainSvg(source: string, { filters = true } = {}): string {
  const out: string[] = [];
  const references = new References();
  // Elements that are open, so that only those are closed.
  const open: string[] = [];
  let depth = 0;
  // Depth of the element that is left out with all in it; 0: none.
  let skipped = 0;
  let count = 0;
  let uses = 0;
  // The text of the style sheet that is being read: it comes in pieces, and is only known as a whole.
  let style: string | undefined;
  const parser = new Parser(
    {
      onopentag(named, attributes) {
        const name = own(named);
        depth++;
        if (skipped) return;
        if (depth === 1 && (name !== "svg" || out.length > 0)) throw new SvgRefused("no es un SVG");
        if (name.includes(":") || ignored.has(name)) {
          skipped = depth;
          return;
        }
        const isFilter = name === "filter" || name.startsWith("fe");
        if (!drawn.has(name) || style !== undefined || (isFilter && !filters)) throw has(`<${name}>`);
        if (name === "use") uses++;
        if (++count > elementsAtMost || uses > usesAtMost) {
          throw new SvgRefused("es un SVG con demasiadas piezas");
        }
        if (name === "style") style = "";
        open.push(name);
        references.open(attributes);
        out.push(`<${name}${name === "svg" && depth === 1 ? ' xmlns="http://www.w3.org/2000/svg"' : ""}`);
        const { "xlink:href": link, ...others } = attributes;
        const given = link === undefined || "href" in others ? others : { ...others, href: link };
        // A page gives it its size; without one of its own, in whatever unit, it has the shape of its viewBox.
        if (depth === 1 && "viewBox" in given) for (const side of ["width", "height"]) delete given[side];
        for (const [attribute, value] of Object.entries(given)) out.push(kept(attribute, value));
        out.push(">");
      },
      ontext(text) {
        if (skipped || depth === 0) return;
        if (style !== undefined) style += text;
        else out.push(escaped(text));
      },
      onclosetag(named) {
        const name = own(named);
        if (skipped === depth) skipped = 0;
        else if (!skipped) {
          if (style !== undefined) {
            checkCss(style);
            references.inSheet(style);
            out.push(escaped(style));
            style = undefined;
          }
          if (open.pop() !== name) throw new SvgRefused("es un SVG mal escrito");
          references.close();
          out.push(`</${name}>`);
        }
        depth--;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(source);
  if (out.length === 0) throw new SvgRefused("no es un SVG");
  if (open.length > 0) throw new SvgRefused("es un SVG mal escrito");
  if (references.cost() > costAtMost) throw new SvgRefused("es un SVG con demasiadas piezas");
  const svg = out.join("");
  if (!/^<svg[^>]* viewBox="/.test(svg) && !/^<svg[^>]* width="\d/.test(svg)) {
    throw new SvgRefused("es un SVG sin medidas: le falta viewBox");
  }
  return svg;
}

/** The name of an element without the prefix of SVG itself. */
const own = (name: string) => name.replace(/^svg:/, "");

const has = (what: string) => new SvgRefused(`lleva ${what}, que un dibujo no necesita`);

/** An attribute as it is kept; empty for one that says nothing to a browser. */
function kept(name: string, value: string): string {
  const isLink = name === "href";
  if (!/^[a-z][\w:.-]*$/i.test(name)) throw has(`«${name}»`);
  if (/^on/i.test(name)) throw has(`«${name}»`);
  if (name.includes(":") || /^(xmlns$|data-|aria-|required|system|enable-background$)/.test(name)) return "";
  // Names, which fetch nothing.
  if (name === "id" || name === "class") return ` ${name}="${escaped(value)}"`;
  if (isLink && !value.trim().startsWith("#")) throw has("enlaces a otros sitios o imágenes dentro");
  checkCss(value);
  return ` ${name}="${escaped(value)}"`;
}

/** The sheet without what browsers skip; a comment that is not closed goes on to the end. */
function withoutComments(sheet: string): string {
  const [first = "", ...commented] = sheet.split("/*");
  // A part without "*/" is all comment, and the comment goes on in the next one.
  const kept = commented.map((part) => (part.includes("*/") ? part.slice(part.indexOf("*/") + 2) : ""));
  return first + kept.join("");
}

/** Throws for style, in a sheet or an attribute, that would fetch something: only parts of the same picture are referred to. */
function checkCss(sheet: string): void {
  const text = withoutComments(sheet);
  for (const [, to = ""] of text.matchAll(/url\s*\(([^)]*)/gi)) {
    if (!to.replace(/['"\s]/g, "").startsWith("#")) throw has("enlaces a otros sitios o imágenes dentro");
  }
  if (
    /@(?!media|charset|supports|keyframes)|\\|\/\/|expression\s*\(|image(?:-set)?\s*\(|(?:java|vb)script:/i.test(text)
  )
    throw has("estilos con @import, @font-face, direcciones o escapes");
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// Signs that XML can't have.
const invalid = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const escaped = (text: string) =>
  text.replace(invalid, "").replace(/[&<>"]/g, (character) => entities[character] ?? character);
