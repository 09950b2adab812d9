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
 * An SVG with nothing but its drawn parts, written anew from the parts that are known. `filters`: whether filters, which are costly to
 * draw, are allowed.
 * Throws SvgRefused with the part that is not allowed.
 */
export function plainSvg(source: string, { filters = true } = {}): string {
  const writer = new SvgWriter(filters);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => writer.open(own(name), attributes),
      ontext: (text) => writer.text(text),
      onclosetag: (name) => writer.close(own(name)),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(source);
  return writer.whole();
}

class SvgWriter {
  readonly #mayFilter: boolean;
  readonly #out: string[] = [];
  readonly #references = new References();
  // Elements that are open, so that only those are closed.
  readonly #open: string[] = [];
  #depth = 0;
  // Depth of the element that is left out with all in it; 0: none.
  #skipped = 0;
  #count = 0;
  #uses = 0;
  // The text of the style sheet that is being read: it comes in pieces, and is only known as a whole.
  #style: string | undefined;

  constructor(mayFilter: boolean) {
    this.#mayFilter = mayFilter;
  }

  open(name: string, attributes: Record<string, string>): void {
    this.#depth++;
    if (this.#skipped) return;
    if (this.#depth === 1 && (name !== "svg" || this.#out.length > 0)) throw new SvgRefused("no es un SVG");
    if (name.includes(":") || ignored.has(name)) {
      this.#skipped = this.#depth;
      return;
    }
    const isFilter = name === "filter" || name.startsWith("fe");
    if (!drawn.has(name) || this.#style !== undefined || (isFilter && !this.#mayFilter)) throw has(`<${name}>`);
    if (name === "use") this.#uses++;
    if (++this.#count > elementsAtMost || this.#uses > usesAtMost) throw tooMuch();
    if (name === "style") this.#style = "";
    this.#open.push(name);
    this.#references.open(attributes);
    this.#out.push(`<${name}${name === "svg" && this.#depth === 1 ? ' xmlns="http://www.w3.org/2000/svg"' : ""}`);
    const { "xlink:href": link, ...others } = attributes;
    const given = link === undefined || "href" in others ? others : { ...others, href: link };
    // A page sets the size of the picture; without a size of its own, the picture has the proportions of its viewBox.
    if (this.#depth === 1 && "viewBox" in given) for (const side of ["width", "height"]) delete given[side];
    for (const [attribute, value] of Object.entries(given)) this.#out.push(kept(attribute, value));
    this.#out.push(">");
  }

  text(text: string): void {
    if (this.#skipped || this.#depth === 0) return;
    if (this.#style !== undefined) this.#style += text;
    else this.#out.push(escaped(text));
  }

  close(name: string): void {
    if (this.#skipped === this.#depth) this.#skipped = 0;
    else if (!this.#skipped) {
      if (this.#style !== undefined) this.#closeStyle(this.#style);
      if (this.#open.pop() !== name) throw badlyWritten();
      this.#references.close();
      this.#out.push(`</${name}>`);
    }
    this.#depth--;
  }

  #closeStyle(style: string): void {
    checkCss(style);
    this.#references.inSheet(style);
    this.#out.push(escaped(style));
    this.#style = undefined;
  }

  whole(): string {
    if (this.#out.length === 0) throw new SvgRefused("no es un SVG");
    if (this.#open.length > 0) throw badlyWritten();
    if (this.#references.cost() > costAtMost) throw tooMuch();
    const svg = this.#out.join("");
    if (!/^<svg[^>]* viewBox="/.test(svg) && !/^<svg[^>]* width="\d/.test(svg)) {
      throw new SvgRefused("es un SVG sin medidas: le falta viewBox");
    }
    return svg;
  }
}

const tooMuch = () => new SvgRefused("es un SVG con demasiadas piezas");
const badlyWritten = () => new SvgRefused("es un SVG mal escrito");

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

/** The sheet without comments; a comment that is not closed goes on to the end. */
function withoutComments(sheet: string): string {
  const [first = "", ...commented] = sheet.split("/*");
  // A part without "*/" is all comment, and the comment goes on in the next one.
  const kept = commented.map((part) => (part.includes("*/") ? part.slice(part.indexOf("*/") + 2) : ""));
  return first + kept.join("");
}

/** Throws for style, in a sheet or an attribute, that would fetch something: style may refer only to parts of the same picture. */
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
