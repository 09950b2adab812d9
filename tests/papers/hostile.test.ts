import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { joinHyphens } from "../../app/files/formats/hyphens.server.ts";
import { readText } from "../../app/files/formats/read.server.ts";
import { documentTypes } from "../../app/files/formats/types.server.ts";
import { Unreadable } from "../../app/files/formats/unreadable.server.ts";
import { textPdf } from "../support/text-pdf.ts";

const room = 1_000_000;
const read = async (bytes: string | Uint8Array, type: string) => {
  const found = await readText(Buffer.from(bytes), type, room);
  return "text" in found ? found.text : found.pages.join("\n");
};
const utf8 = (text: string) => new TextEncoder().encode(text);
const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const m = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"';
const docx = (body: string, more: Record<string, string> = {}): Uint8Array =>
  zipSync({
    "word/document.xml": utf8(`<w:document ${w} ${m}><w:body>${body}</w:body></w:document>`),
    ...Object.fromEntries(Object.entries(more).map(([name, text]) => [name, utf8(text)])),
  });
const odt = (body: string, styles = ""): Uint8Array =>
  zipSync({ "content.xml": utf8(`<office:document>${body}</office:document>`), "styles.xml": utf8(styles) });
const deep = (open: string, close: string, times: number) => `${open.repeat(times)}a${close.repeat(times)}`;
const numbering = (level: string) => ({
  "word/_rels/document.xml.rels": `<Relationships><Relationship Id="a" Type="x/numbering" Target="numbering.xml"/></Relationships>`,
  "word/numbering.xml": `<w:numbering ${w}><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="${level}"><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
});
const numbered = (level: string) =>
  `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>Hola</w:t></w:r></w:p>`;

const slide = (item: string): Uint8Array =>
  zipSync({
    "ppt/presentation.xml": utf8('<p:presentation><p:sldId r:id="a"/></p:presentation>'),
    "ppt/_rels/presentation.xml.rels": utf8(
      '<Relationships><Relationship Id="a" Type="x/slide" Target="slides/slide1.xml"/></Relationships>',
    ),
    "ppt/slides/slide1.xml": utf8(
      `<p:sld><p:sp><a:p><a:pPr lvl="${item}"><a:buAutoNum type="arabicPeriod" startAt="${item}"/></a:pPr><a:t>Hola</a:t></a:p></p:sp></p:sld>`,
    ),
  });

/** A contract of Word 2003 with another number in the head of its main stream. */
function oldContract(place: number, value: number): Buffer {
  const bytes = readFileSync(join(import.meta.dirname, "set/contrato-numerado.doc"));
  bytes.writeUInt16LE(value, bytes.indexOf(Buffer.from([0xec, 0xa5])) + place);
  return bytes;
}
// Places in that head (MS-DOC, 2.5.1 and 2.5.6) of its upper half, which is beyond the end where it is not 0.
const lists = 0x2e4;
const paragraphLooks = 0x104;
const pieces = 0x1a4;

// Each of these once ended a reader with an error that nobody had foreseen, or lost the text.
const cases: [name: string, make: () => string | Uint8Array, type: string, text: string][] = [
  ["a list level that is no number", () => docx(numbered("x"), numbering("x")), documentTypes.docx, "Hola"],
  ["a list level below zero", () => docx(numbered("-2"), numbering("-2")), documentTypes.docx, "Hola"],
  ["half a list level", () => docx(numbered("0.5"), numbering("0.5")), documentTypes.docx, "Hola"],
  ["an item of a slide at a level that is no number", () => slide("x"), documentTypes.pptx, "1. Hola"],
  ["an item of a slide at a level below zero", () => slide("-2"), documentTypes.pptx, "1. Hola"],
  ["an item of a slide at level four billion", () => slide("4000000000"), documentTypes.pptx, "1. Hola"],
  [
    "a formula of 20,000 levels",
    () => docx(`<w:p><m:oMath>${deep("<m:e>", "</m:e>", 20_000)}</m:oMath><w:r><w:t>Hola</w:t></w:r></w:p>`),
    documentTypes.docx,
    "Hola",
  ],
  [
    "a formula of 200,000 parts",
    () =>
      docx(
        `<w:p><m:oMath><m:nary><m:e>${"<m:r/>".repeat(200_000)}</m:e></m:nary></m:oMath><w:r><w:t>Hola</w:t></w:r></w:p>`,
      ),
    documentTypes.docx,
    "Hola",
  ],
  ["a number of blanks below zero", () => odt('<text:p>Hola<text:s text:c="-5"/></text:p>'), documentTypes.odt, "Hola"],
  [
    "an outline of a billion levels",
    () =>
      odt(
        '<text:h text:outline-level="1000000000">Hola</text:h>',
        '<text:outline-style><text:outline-level-style text:level="1000000000" style:num-format="1" text:display-levels="1000000000"/></text:outline-style>',
      ),
    documentTypes.odt,
    "Hola",
  ],
  [
    "MathML of 15,000 levels",
    () => `<p>Hola</p><math>${deep("<mrow>", "</mrow>", 15_000)}</math>`,
    documentTypes.html,
    "Hola",
  ],
  ["a table that looks like a page", () => "<html>,Nombre\n1,Juan", "text/csv", "Juan"],
  ["a table that looks like another format", () => "TABLE,Nombre\n1,Juan", "text/csv", "Juan"],
  ["an old contract with lists beyond its end", () => oldContract(lists, 99), documentTypes.doc, "El arrendador cede"],
  [
    "an old contract with paragraphs beyond its end",
    () => oldContract(paragraphLooks, 99),
    documentTypes.doc,
    "El arrendador cede",
  ],
  ["a word of every object in an RTF", () => "{\\rtf1 Hola \\constructor mundo}", documentTypes.rtf, "Hola mundo"],
];

describe("a document made to confuse its reader is read, or says why not", () => {
  it.each(cases)("%s", async (_, make, type, text) => {
    expect(await read(make(), type)).toContain(text);
    expect(await read(make(), type)).not.toContain("native code");
  });

  it("an EPUB whose chapter has no path keeps the others", async () => {
    const chapter = (text: string) => utf8(`<html><body><p>${text}</p></body></html>`);
    const book = zipSync({
      "META-INF/container.xml": utf8('<rootfile full-path="a.opf"/>'),
      "a.opf": utf8(
        '<package><manifest><item id="1" href="100%.xhtml"/><item id="2" href="http://["/><item id="3" href="c.xhtml"/></manifest><spine><itemref idref="1"/><itemref idref="2"/><itemref idref="3"/></spine></package>',
      ),
      "100%.xhtml": chapter("Primero"),
      "c.xhtml": chapter("Tercero"),
    });
    expect(await read(book, documentTypes.epub)).toBe("Primero\n\nTercero");
  });

  it("a printed form keeps its text beside its XFA answers", async () => {
    const answers =
      "<xfa:datasets><xfa:data><alta><nombre>Casilda Gil</nombre><plaza>214</plaza></alta></xfa:data></xfa:datasets>";
    const form = textPdf("Solicitud de plaza de garaje de Casilda Gil", 1)
      .toString("latin1")
      .replace("/Type /Catalog", "/Type /Catalog /AcroForm << /Fields [] /XFA 9 0 R >>")
      .replace("xref\n", `9 0 obj\n<< /Length ${answers.length} >>\nstream\n${answers}\nendstream\nendobj\nxref\n`);
    const text = await read(Buffer.from(form, "latin1"), documentTypes.pdf);
    expect(text).toContain("Solicitud de plaza de garaje");
    expect(text).toContain("plaza: 214");
    expect(text).not.toContain("nombre: Casilda Gil");
  });

  it("a form that only Adobe's programs draw gives its text, and its answers as it shows them", async () => {
    const field = (name: string, label: string, more: string) =>
      `<field name="${name}">${more}<caption><value><text>${label}</text></value></caption></field>`;
    const list = (save: string, ...texts: string[]) =>
      `<items${save}>${texts.map((text) => `<text>${text}</text>`).join("")}</items>`;
    const template = deflateSync(
      `<template><subform><draw><value><text>Alta en el padrón</text></value></draw>
      ${field("prov", "Provincia:", list("", "Albacete", "Cuenca") + list(' save="1"', "02", "16"))}
      ${field("cuota", "Cuota", "<ui><numericEdit/></ui>")}</subform></template>`,
    );
    const data = deflateSync(
      "<xfa:datasets><xfa:data><a><prov>16</prov><cuota>12.5</cuota><prov>02</prov><segundoHijo>Ana</segundoHijo></a></xfa:data></xfa:datasets>",
    );
    const streams = [template, data].map(
      (stream, n) =>
        `${n + 9} 0 obj\n<< /Length ${stream.length} >>\nstream\n${stream.toString("latin1")}\nendstream\nendobj\n`,
    );
    const form = textPdf("Espere, por favor", 1)
      .toString("latin1")
      .replace("/Type /Catalog", "/Type /Catalog /AcroForm << /Fields [] /XFA 9 0 R >>")
      .replace("xref\n", () => `${streams.join("")}xref\n`);
    const text = await read(Buffer.from(form, "latin1"), documentTypes.pdf);
    expect(text.split("\n").slice(-5)).toEqual([
      "Alta en el padrón",
      "Provincia: Cuenca",
      "Cuota: 12,5",
      "Provincia: 02",
      "segundo Hijo: Ana",
    ]);
  });

  it.each([
    ["with its text beyond its end", () => oldContract(pieces, 99), /dañado/],
    ["of Word 95", () => oldContract(0, 0xa5dc), /anterior al 97/],
    ["with a password", () => oldContract(0x0a, 0x0300), /tiene contraseña/],
  ] as const)("an old contract %s says so", async (_, make, why) => {
    await expect(read(make(), documentTypes.doc)).rejects.toThrow(why);
  });

  it("a mail with a head without end is damaged", async () => {
    const mail = `To: ${"a@ejemplo.es, ".repeat(200_000)}\r\n\r\nHola`;
    await expect(read(mail, documentTypes.eml)).rejects.toThrow(Unreadable);
  });

  it("a ZIP with contradictory headers is refused beyond the limit", async () => {
    const swollen = zipSync({ "content.xml": new Uint8Array(200 * 1024 * 1024) });
    // In the local header it is stored as it is, which takes no room.
    swollen[8] = 0;
    await expect(read(swollen, documentTypes.odt)).rejects.toThrow(/se hincha/);
  });

  it("joins a word cut between two pages before the page number", () => {
    expect(joinHyphens(["El expe-\n- 3 -\n", "diente, completo.\nOtra cosa"])).toEqual([
      "El expediente,\n- 3 -\n",
      "completo.\nOtra cosa",
    ]);
    expect(joinHyphens(["El expe-\nPágina 3 de 9", "diente"])).toEqual(["El expediente\nPágina 3 de 9", ""]);
    expect(joinHyphens(["El expe-", "", "diente"])).toEqual(["El expe-", "", "diente"]);
  });

  it("joins a word cut between two pages with a head of their own", () => {
    expect(joinHyphens(["Acta 1\nCerrado salvo com-\n\nPágina 1 de 2", "Acta 2\npetición oficial."])).toEqual([
      "Acta 1\nCerrado salvo competición\n\nPágina 1 de 2",
      "Acta 2\noficial.",
    ]);
  });

  it("joins a text of only hyphenated pieces quickly", () => {
    expect(joinHyphens(["ab-".repeat(1_000_000), "ab-\n1 1 ".repeat(200_000), ""])).toHaveLength(3);
  });
});
