import { strToU8, type Zippable, zipSync } from "fflate";
import { blocksOf, type OfficeBlock, type OfficeRun } from "./blocks.server.ts";
import { fitted, type OfficeDocument, type OfficeImages } from "./office-document.server.ts";

const mediaType = "application/vnd.oasis.opendocument.text";
const namespaces = [
  ["office", "office"],
  ["text", "text"],
  ["table", "table"],
  ["style", "style"],
  ["draw", "drawing"],
  ["fo", "xsl-fo-compatible"],
  ["svg", "svg-compatible"],
]
  .map(([prefix, name]) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(" ");

const paragraphStyle = (name: string, properties: string, textProperties = "") =>
  `<style:style style:name="${name}" style:family="paragraph"><style:paragraph-properties ${properties}/><style:text-properties ${textProperties}/></style:style>`;
const textStyle = (name: string, properties: string) =>
  `<style:style style:name="${name}" style:family="text"><style:text-properties ${properties}/></style:style>`;
const mono = 'style:font-name="Liberation Mono" fo:font-family="\'Liberation Mono\', monospace"';

const styles = [
  paragraphStyle("Codigo", 'fo:background-color="#f2f2f2" fo:margin-left="0.3cm"', `${mono} fo:font-size="9pt"`),
  paragraphStyle("Aviso", 'fo:margin-bottom="0.4cm"', 'fo:font-style="italic" fo:color="#666666"'),
  paragraphStyle("Formula", 'fo:text-align="center"'),
  paragraphStyle("Raya", 'fo:border-bottom="0.5pt solid #666666" fo:margin-bottom="0.3cm"'),
  ...Array.from({ length: 10 }, (_, deep) =>
    paragraphStyle(`Parrafo${deep}`, `fo:margin-left="${deep * 0.7}cm" fo:margin-bottom="0.2cm"`),
  ),
  `<style:style style:name="Objeto" style:family="graphic"><style:graphic-properties style:vertical-pos="middle" style:vertical-rel="text"/></style:style>`,
  textStyle("N", 'fo:font-weight="bold"'),
  textStyle("C", 'fo:font-style="italic"'),
  textStyle("T", 'style:text-line-through-style="solid"'),
  textStyle("M", mono),
  `<style:style style:name="Celda" style:family="table-cell"><style:table-cell-properties fo:border="0.5pt solid #666666" fo:padding="0.1cm"/></style:style>`,
].join("");

/** A conversation as an ODT (OpenDocument 1.3): headings, lists, tables, code, formulas, and its sources as footnotes. */
export function odtOf({ title, author, notice, turns }: OfficeDocument, images: OfficeImages = {}): Uint8Array {
  const objects: string[] = [];
  const pictures: Uint8Array[] = [];
  const body: string[] = [heading(1, escaped(title))];
  if (notice) body.push(`<text:p text:style-name="Aviso">${escaped(notice)}</text:p>`);
  let noteCount = 0;
  for (const { who, when, ...said } of turns) {
    if (who !== null) body.push(heading(2, escaped(`${who} (${when})`)));
    // Headings of a message are below the heading with its author, headings of a text below its title.
    const below = who === null ? 1 : 2;
    const noteOf = (text: string) => {
      noteCount++;
      return `<text:note text:id="ftn${noteCount}" text:note-class="footnote"><text:note-citation>${noteCount}</text:note-citation><text:note-body><text:p>${escaped(text)}</text:p></text:note-body></text:note>`;
    };
    for (const block of blocksOf(said, images)) body.push(drawn(block, { noteOf, objects, pictures, below }));
  }
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${namespaces} xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.3"><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body.join("")}</office:text></office:body></office:document-content>`;
  const parts: Record<string, string> = {
    "content.xml": content,
    // Holds only the language, but some programs open no document without this file.
    "styles.xml": `<?xml version="1.0" encoding="UTF-8"?><office:document-styles ${namespaces} office:version="1.3"><office:styles><style:default-style style:family="paragraph"><style:text-properties fo:language="es" fo:country="ES"/></style:default-style></office:styles></office:document-styles>`,
    "meta.xml": `<?xml version="1.0" encoding="UTF-8"?><office:document-meta ${namespaces} xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.3"><office:meta><dc:title>${attribute(title)}</dc:title><dc:creator>${escaped(author)}</dc:creator></office:meta></office:document-meta>`,
  };
  for (const [index, mathml] of objects.entries()) {
    parts[`Object ${index + 1}/content.xml`] = `<?xml version="1.0" encoding="UTF-8"?>${mathml}`;
  }
  return zipped(parts, objects.length, pictures);
}

/** The media type is the first file of the ZIP, not compressed (OpenDocument 1.3, part 2, 3.3). */
function zipped(parts: Record<string, string>, objects: number, pictures: Uint8Array[]): Uint8Array {
  const entry = (path: string, type: string) =>
    `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${type}"/>`;
  const formulas = Array.from(
    { length: objects },
    (_, index) =>
      entry(`Object ${index + 1}/`, "application/vnd.oasis.opendocument.formula") +
      entry(`Object ${index + 1}/content.xml`, "text/xml"),
  );
  const manifest = `<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3">${entry("/", mediaType)}${["content.xml", "styles.xml", "meta.xml"].map((path) => entry(path, "text/xml")).join("")}${formulas.join("")}${pictures.map((_, n) => entry(pathOf(n + 1), "image/png")).join("")}</manifest:manifest>`;
  const files: Zippable = { mimetype: [strToU8(mediaType), { level: 0 }], "META-INF/manifest.xml": strToU8(manifest) };
  for (const [name, text] of Object.entries(parts)) files[name] = strToU8(text);
  for (const [n, png] of pictures.entries()) files[pathOf(n + 1)] = [png, { level: 0 }];
  return zipSync(files);
}

const pathOf = (n: number) => `Pictures/${n}.png`;

type Drawing = { noteOf: (text: string) => string; objects: string[]; pictures: Uint8Array[]; below: number };

function drawn(block: OfficeBlock, drawing: Drawing): string {
  switch (block.kind) {
    case "heading":
      return heading(Math.min(6, block.level + drawing.below), runs(block.runs, drawing));
    case "paragraph": {
      const deep = Math.min(9, block.quote + (block.list ? block.list.level + 1 : 0));
      const mark = block.list?.mark ? `${escaped(block.list.mark)} ` : "";
      return `<text:p text:style-name="Parrafo${deep}">${mark}${runs(block.runs, drawing)}</text:p>`;
    }
    case "code":
      return `<text:p text:style-name="Codigo">${escaped(block.text)}</text:p>`;
    case "image": {
      const { width, height } = fitted(block);
      const n = drawing.pictures.push(block.png);
      const size = `svg:width="${(width / 96) * 2.54}cm" svg:height="${(height / 96) * 2.54}cm"`;
      return `<text:p><draw:frame draw:style-name="Objeto" text:anchor-type="as-char" ${size}><draw:image xlink:href="${pathOf(n)}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/><svg:desc>${attribute(block.label)}</svg:desc></draw:frame></text:p>`;
    }
    case "formula":
      return `<text:p text:style-name="Formula">${formula(block.source, block.mathml, drawing)}</text:p>`;
    case "table": {
      const rows = block.rows.map((cells) => {
        const drawnCells = cells.map(
          (cell) =>
            `<table:table-cell table:style-name="Celda" office:value-type="string"><text:p>${runs(cell, drawing)}</text:p></table:table-cell>`,
        );
        return `<table:table-row>${drawnCells.join("")}</table:table-row>`;
      });
      const columns = block.rows[0]?.length ?? 1;
      return `<table:table><table:table-column table:number-columns-repeated="${Math.max(1, columns)}"/>${rows.join("")}</table:table><text:p/>`;
    }
    case "rule":
      return '<text:p text:style-name="Raya"/>';
  }
}

const heading = (level: number, inside: string) => `<text:h text:outline-level="${level}">${inside}</text:h>`;

function runs(all: OfficeRun[], drawing: Drawing): string {
  return all
    .map((run) => {
      if (run.formula !== undefined) return formula(run.text, run.formula, drawing);
      if (run.note !== undefined) return drawing.noteOf(run.note);
      const styled = [run.bold && "N", run.italic && "C", run.strike && "T", run.code && "M"]
        .filter(Boolean)
        .reduce((inside, name) => `<text:span text:style-name="${name}">${inside}</text:span>`, escaped(run.text));
      return run.link ? `<text:a xlink:type="simple" xlink:href="${attribute(run.link)}">${styled}</text:a>` : styled;
    })
    .join("");
}

/** A formula as an object of its own; its source where it could not be set. */
function formula(source: string, mathml: string, { objects }: Drawing): string {
  if (!mathml) return `<text:span text:style-name="M">${escaped(source)}</text:span>`;
  objects.push(mathml);
  return `<draw:frame draw:style-name="Objeto" text:anchor-type="as-char"><draw:object xlink:href="./Object ${objects.length}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>`;
}

// Signs that XML can't have.
const invalid = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const attribute = (text: string): string =>
  text
    .replace(invalid, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Text of a paragraph: several blanks, tabs and line breaks are elements. */
const escaped = (text: string): string =>
  attribute(text)
    .replace(/ {2,}/g, (blanks) => ` <text:s text:c="${blanks.length - 1}"/>`)
    .replaceAll("\t", "<text:tab/>")
    .replaceAll("\n", "<text:line-break/>");
