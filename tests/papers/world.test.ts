import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SSF } from "@e965/xlsx";
import { zipSync } from "fflate";
import { afterAll, expect, it } from "vitest";
import { inNumbers } from "../../app/db/search/numbers.server.ts";
import { plainWords } from "../../app/db/search/words.server.ts";
import { htmlText } from "../../app/files/formats/html.server.ts";
import { cellWriter } from "../../app/files/formats/office/cells.server.ts";
import { readText } from "../../app/files/formats/read.server.ts";
import { documentTypes } from "../../app/files/formats/types.server.ts";
import { mediaTypeOf } from "../../app/files/media-type.server.ts";
import { tableRows } from "../../app/process/text/table.ts";

const read = async (bytes: string | Uint8Array, type: string) => {
  const found = await readText(Buffer.from(bytes as string), type, 1_000_000);
  return "text" in found ? found.text : found.pages.join("\n");
};
const utf8 = (text: string) => new TextEncoder().encode(text);

const write = cellWriter(SSF.format, false);
it.each<[number, string, string]>([
  [1234.5, "#,##0.00;[Red]-#,##0.00", "1.234,50"],
  [-1.234, "0.000;[Red]-0.000", "-1,234"],
  [1_234_567, '0.0,,"M"', "1,2M"],
  [123_456, "0.00E+00", "1,23E+05"],
  [25.5 / 24, "[h]:mm", "25:30"],
])("shows the number %d in %s as %s", (v, z, shown) => {
  expect(write({ t: "n", v, z, w: SSF.format(z, v) })).toBe(shown);
});

it("shows nothing for a formula whose result is an empty text", () => {
  expect(write({ t: "s", v: "", f: 'IF(B1="","",B1)' })).toBe("");
});

it.each([
  [
    "a single column of sentences",
    "comentario\r\nHola, no ha llegado\r\nBien, gracias",
    [["comentario"], ["Hola, no ha llegado"], ["Bien, gracias"]],
  ],
  [
    "other signs and lines within a name",
    '"Nombre, y\napellidos;",edad\nAna;3,4',
    [
      ["Nombre, y apellidos;", "edad"],
      ["Ana;3", "4"],
    ],
  ],
  [
    "Excel's line of the sign",
    "sep=;\nnombre;edad\nAna;3",
    [
      ["nombre", "edad"],
      ["Ana", "3"],
    ],
  ],
  [
    "other signs within a cell",
    'id,texto\n1,"a;b\nc;d\ne;f"',
    [
      ["id", "texto"],
      ["1", "a;b c;d e;f"],
    ],
  ],
])("reads a table with names that has %s", (_what, text, rows) => {
  expect(tableRows(text, { byNames: true })).toEqual(rows);
});

const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
afterAll(() => rmSync(folder, { recursive: true }));
it.each([
  ["coches.txt", "BMW vende más coches que nadie.\nY otra línea.", "text/plain"],
  ["datos.csv", "BM;Nombre\n1;Ana", "text/csv"],
  ["arboles.txt", "ID3 es un algoritmo de árboles de decisión.", "text/plain"],
  ["informe.txt", "MZ-12 informe de la obra", "text/plain"],
])("takes the text %s for a text, whatever its first letters", async (name, text, type) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  expect(await mediaTypeOf(path, name, text.length)).toBe(type);
});

it("reads the signs of the font Symbol and tabs of a head in a DOCX", async () => {
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const sign = (code: string) => `<w:r><w:sym w:font="Symbol" w:char="${code}"/></w:r>`;
  const said = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const body = `<w:p>${said("25 ")}${sign("F0B0")}${said("C, ")}${sign("F0A3")}${said(" 5 ")}${sign("F06D")}${said("g")}<w:r><w:ptab/></w:r>${said("fin")}</w:p>`;
  const docx = zipSync({ "word/document.xml": utf8(`<w:document ${w}><w:body>${body}</w:body></w:document>`) });
  expect(await read(docx, documentTypes.docx)).toBe("25 °C, ≤ 5 μg fin");
});

it("keeps the numbers of a page's lists, and what follows a list apart", () => {
  const page =
    '<ol start="5"><li>cinco</li><li value="7">siete</li></ol>Saludos<ul><li>uno<ul><li>dos</li></ul></li></ul>Adiós';
  expect(htmlText(page).replace(/\n+/g, "\n")).toBe("5. cinco\n7. siete\nSaludos\n- uno\n- dos\nAdiós");
});

it("reads an EPUB whose addresses stand in single quotes, and its old letters", async () => {
  const chapter = Buffer.from(
    '<?xml version="1.0" encoding="iso-8859-1"?><html><body><p>Capítulo</p></body></html>',
    "latin1",
  );
  const book = zipSync({
    "META-INF/container.xml": utf8("<container><rootfiles><rootfile full-path='a.opf'/></rootfiles></container>"),
    "a.opf": utf8(
      '<package><manifest><item id="c" href="c.xhtml"/></manifest><spine><itemref idref="c"/></spine></package>',
    ),
    "c.xhtml": new Uint8Array(chapter),
  });
  expect(await read(book, documentTypes.epub)).toContain("Capítulo");
});

it("tells when an e-mail was sent by its sender's clock, and reads the page where the plain part says nothing", async () => {
  const page = `<p>${"La fianza es de 640 euros. ".repeat(40)}</p>`;
  const mail = `From: a@b.es\r\nDate: Mon, 1 Apr 2024 01:30:00 +0200\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nTu programa no muestra HTML\r\n--x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${page}\r\n--x--\r\n`;
  const text = await read(mail, documentTypes.eml);
  expect(text).toContain("Fecha: 1 de abril de 2024 a las 1:30");
  expect(text).toContain("La fianza es de 640 euros.");
});

it("finds words with hidden hyphens and ligatures, and codes with other hyphens", () => {
  expect(plainWords("respon\u00adsa\u00adbi\u00adlidad o\ufb01cio")).toEqual(plainWords("responsabilidad oficio"));
  expect(inNumbers("B\u201177/2024 y COVID\u201119")).toEqual(inNumbers("B-77/2024 y COVID-19"));
});
