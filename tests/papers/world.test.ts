import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CellObject, SSF } from "@e965/xlsx";
import { zipSync } from "fflate";
import { OPS } from "pdfjs-dist/legacy/build/pdf.mjs";
import { afterAll, expect, it } from "vitest";
import { inNumbers } from "../../app/db/search/numbers.server.ts";
import { plainWords } from "../../app/db/search/words.server.ts";
import { openArchive } from "../../app/files/formats/archive.server.ts";
import { htmlText } from "../../app/files/formats/html.server.ts";
import { cellWriter } from "../../app/files/formats/office/cells.server.ts";
import { diagramLines } from "../../app/files/formats/office/drawings.server.ts";
import { layoutText } from "../../app/files/formats/pdf/layout.server.ts";
import { withRuledRows } from "../../app/files/formats/pdf/ruled-tables.server.ts";
import { rulesIn } from "../../app/files/formats/pdf/rules.server.ts";
import { readText } from "../../app/files/formats/read.server.ts";
import { documentTypes } from "../../app/files/formats/types.server.ts";
import { mediaTypeOf } from "../../app/files/media-type.server.ts";
import { tableRows, tableText } from "../../app/process/text/table.ts";

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
  [46173, 'd" de "mmmm" de "yyyy', "31 de mayo de 2026"],
  [46173, "dd-mmm-yy", "31-may-26"],
  [46283, "mmmm", "septiembre"],
  [46283, "mmm", "sep"],
])("shows the number %d in %s as %s", (v, z, shown) => {
  expect(write({ t: "n", v, z, w: SSF.format(z, v) })).toBe(shown);
});

it.each<[CellObject, string]>([
  // LibreOffice's percentages, on which the library gives up.
  [{ t: "n", v: 0.0725, z: "0.00\\ %" }, "7,25 %"],
  [{ t: "n", v: 1, z: "0\u00a0%" }, "100 %"],
  [{ t: "n", v: 0.21, z: '0" "%' }, "21 %"],
  // Groups of digits with bars between them.
  [{ t: "n", v: 28012345678, z: '00"/"00000000"/"00', w: "28012345678/00000001" }, "02/80123456/78"],
  [{ t: "n", v: 281234567890, z: "00\\/00000000\\/00" }, "28/12345678/90"],
  [{ t: "n", v: -5, z: "0/0", w: "-5/1" }, "-5/1"],
  // An ODS tells its formats only by the texts.
  [{ t: "n", v: 1240, w: "1,240.00 €" }, "1.240,00 €"],
  [{ t: "n", v: 1, w: "100%" }, "100%"],
  [{ t: "n", v: 12345678901234, w: "1.23457E+13" }, "12345678901234"],
])("shows the cell %j as %s", (cell, shown) => {
  expect(write(cell)).toBe(shown);
});

it("reads cells over several rows and columns of a page", () => {
  const page =
    "<table><tr><th rowspan=2>Día</th><th colspan=2>Clases</th><th rowspan=2>Sala</th></tr><tr><th>10:00</th><th>11:00</th></tr><tr><td rowspan=2>Lunes</td><td>Yoga</td><td>Pilates</td><td>A</td></tr><tr><td colspan=2>Natación</td><td>B</td></tr><tr><td>Martes</td><td></td><td>Spinning</td><td rowspan=2>C</td></tr><tr><td>Jueves</td><td>Zumba</td><td>Step</td></tr></table>";
  expect(htmlText(page).split("\n")).toEqual([
    "Día | Clases | | Sala",
    "Día | 10:00 | 11:00 | Sala",
    "Lunes | Yoga | Pilates | A",
    "Lunes | Natación | | B",
    "Martes | | Spinning | C",
    "Jueves | Zumba | Step | C",
  ]);
  expect(htmlText("<table><tr><td rowspan=2>Juan<br>Pérez<td>1<tr><td>2</table>")).toContain("Juan Pérez | 2");
  expect(htmlText("<table><tbody><tr><td rowspan=3>x<td>1</tbody><tbody><tr><td>y<td>2</table>")).toContain("y | 2");
  // Spans that would be gigabytes.
  const many = `<table>${`<tr>${"<td rowspan=99 colspan=99>xxxxxxxxxxxxxxxxxxxx</td>".repeat(500)}</tr>`.repeat(200)}</table>`;
  expect(htmlText(many).length).toBeLessThan(10 * many.length);
});

it("says what is struck out, and shows the signs of Wingdings", async () => {
  const page =
    "<p><s>120 €</s> 60 € <span style='font-family:Wingdings'>J</span></p><p><font face=Wingdings>þ</font> Sí</p>";
  expect(htmlText(page)).toBe("[tachado: 120 €] 60 € ☺\n\n☒ Sí");
  const rtf =
    "{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset2 Wingdings;}}\\f0 Acepta {\\f1\\'fe} No {\\f1\\'a8}\\par}";
  expect(await read(rtf, documentTypes.rtf)).toBe("Acepta ☒ No ☐");
  const price = "{\\rtf1 Precio: {\\strike 120}{\\strike  euros} 90\\par Fin}";
  expect(await read(price, documentTypes.rtf)).toBe("Precio: [tachado: 120 euros] 90\n\nFin");
  const run = (text: string, strike = "") => `<a:r><a:rPr ${strike}/><a:t>${text}</a:t></a:r>`;
  const struck = 'strike="sngStrike"';
  const body = `<p:sp><a:p>${run("Precio ")}${run("120", struck)}${run(" euros", struck)}</a:p><a:p>${run("90")}</a:p></p:sp>`;
  expect(await read(slides(body), documentTypes.pptx)).toBe("Precio [tachado: 120 euros]\n90");
});

it("keeps the mark of an item with paragraphs, and leaves out that of an empty one", () => {
  const list = "<ol><li><p>Uno</p><p>Más</p></li><li><div>Dos</div><ul><li><p>a</p></li></ul></li></ol>";
  expect(htmlText(list).replace(/\n+/g, "\n")).toBe("1. Uno\nMás\n2. Dos\n- a");
  expect(htmlText("<ul><li></li></ul><p>Fin</p>")).toBe("Fin");
  expect(htmlText('<ol type="a" start="3"><li>Uno<li>Dos</ol>')).toBe("c. Uno\nd. Dos");
});

it("reads a table within a cell of data in the line of that cell, and lays out what only holds tables", () => {
  const inner = "<table><tr><td>1.º</td><td>mayo</td></tr><tr><td>2.º</td><td>octubre</td></tr></table>";
  const rows = `<tr><td>Cuota</td><td>100</td></tr><tr><td>Plazos${inner}</td><td>80</td></tr>`;
  expect(htmlText(`<table>${rows}</table>`)).toBe("Cuota | 100\nPlazos; 1.º · mayo; 2.º · octubre | 80");
  const frame = `<table><tr><td>${inner}</td><td>Pie</td></tr></table>`;
  expect(htmlText(frame).replace(/\n+/g, "\n")).toBe("1.º | mayo\n2.º | octubre\nPie");
});

it("leaves out the rows of a document that were deleted in tracked changes, and keeps the places that a row leaves free", async () => {
  const deleted = `<w:tr><w:trPr><w:del w:id="1" w:author="Ana"/></w:trPr>${inCell("Viejo")}${inCell("1")}</w:tr>`;
  const free = `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${inCell("Total")}${inCell("7")}</w:tr>`;
  const row = `<w:tr>${inCell("Nuevo")}${inCell("2")}${inCell("5")}</w:tr>`;
  const rows = await read(wordFile(`<w:tbl>${row}${deleted}${free}</w:tbl>`), documentTypes.docx);
  expect(rows.split("\n").filter(Boolean)).toEqual(["Nuevo | 2 | 5", "| Total | 7"]);
});

it("raises the marks of a book's notes, and shows a ticked box in a font of letters", async () => {
  expect(htmlText('<p>en 1936<a epub:type="noteref" href="#n1">1</a> y 24</p>')).toBe("en 1936¹ y 24");
  expect(htmlText("<p>Ana Ruiz<sup><a>1</a>,<a>2</a></sup> y</p>")).toBe("Ana Ruiz¹,² y");
  const box = '<w:r><w:sym w:font="MS Gothic" w:char="2612"/></w:r>';
  expect(await read(wordFile(`<w:p>${box}<w:r><w:t> Acepto</w:t></w:r></w:p>`), documentTypes.docx)).toBe("☒ Acepto");
});

const eml = (plain: string, html: string) =>
  `MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n${plain}\n--b\nContent-Type: text/html; charset=utf-8\n\n${html}\n--b--\n`;
it.each([
  [
    "its page behind a notice",
    "Este mensaje requiere un lector HTML.",
    "<p>La junta es el 12 de junio.</p>",
    "La junta es el 12 de junio.",
  ],
  [
    "its table with columns",
    "Pagos\n1.º\n310 €\n2.º\n210 €",
    "<p>Pagos</p><table><tr><td>1.º<td>310 €<tr><td>2.º<td>210 €</table>",
    "Pagos\n\n1.º | 310 €\n2.º | 210 €",
  ],
  [
    "its plain part beside a signature in a table",
    "Te confirmo la visita del martes a las diez.",
    "<table><tr><td>Tel<td>900<tr><td>Web<td>x.es</table>",
    "Te confirmo la visita del martes a las diez.",
  ],
  ["its plain part otherwise", "Nos vemos a las 5.", "<p>Nos vemos <b>a las 5</b>.</p>", "Nos vemos a las 5."],
])("reads of an e-mail %s", async (_, plain, html, text) => {
  expect((await read(eml(plain, html), documentTypes.eml)).trim()).toBe(text);
});

const across = (at: number, from: number, to: number) => ({ isAcross: true, at, from, to });
const down = (at: number, from: number, to: number) => ({ isAcross: false, at, from, to });
const piece = (str: string, x0: number, y: number, x1 = x0 + 10) => ({ str, dir: "ltr", x0, x1, y, size: 10 });

it("loses no text of a table whose cells are no rectangles", () => {
  const rules = [across(0, 0, 200), across(50, 0, 100), across(100, 0, 200), down(0, 0, 100), down(100, 50, 100)];
  const pieces = [piece("uno", 10, 30), piece("dos", 10, 80), piece("tres", 110, 80)];
  const text = layoutText(withRuledRows(pieces, [...rules, down(200, 0, 100)]));
  for (const word of ["uno", "dos", "tres"]) expect(text).toContain(word);
});

it("reads the columns of rows that have no lines between their cells, and of headings and sums without any", () => {
  const rules = [0, 20, 50].map((at) => across(at, 0, 300));
  // Lines between the cells of the first row alone.
  const sides = [down(0, 0, 50), down(300, 0, 50), down(150, 0, 20), down(220, 0, 20)];
  const row = (y: number, ...texts: string[]) => texts.map((text, n) => piece(text, [5, 160, 230][n] ?? 0, y));
  const pieces = [
    ...row(-5, "Concepto", "Uds.", "Total"),
    ...row(13, "Cartel", "1", "180"),
    ...row(32, "Papel", "200", "170"),
    piece("satinado", 5, 44),
    ...row(63, "Suma", "", "350").filter(({ str }) => str),
  ];
  expect(
    layoutText(withRuledRows(pieces, [...rules, ...sides]))
      .split("\n")
      .filter(Boolean),
  ).toEqual(["Concepto | Uds. | Total", "Cartel | 1 | 180", "Papel satinado | 200 | 170", "Suma | | 350"]);
});

it("reads a row of a table without rules whose cells are wrapped, each at its own height, as one line", () => {
  const row = (y: number, lot: string, name: string[]) => [
    piece("L-", 0, y, 10),
    piece(lot, 0, y + 12, 15),
    ...name.map((text, n) => piece(text, 60, y + 6 + (n - (name.length - 1) / 2) * 12, 160)),
    piece("02/2027", 200, y + 6, 240),
    piece("7", 300, y + 6, 305),
  ];
  const pieces = [
    ...row(20, "101", ["Gasas"]),
    ...row(60, "102", ["Suero fisiológico", "de 500 ml", "con puerto"]),
    ...row(100, "103", ["Vendas"]),
  ];
  expect(layoutText(pieces).split("\n").filter(Boolean)).toEqual([
    "L-101 | Gasas | 02/2027 | 7",
    "L-102 | Suero fisiológico de 500 ml con puerto | 02/2027 | 7",
    "L-103 | Vendas | 02/2027 | 7",
  ]);
});

it("keeps the number of a clause with its words, and that of a table's row in its column", () => {
  const clauses = ["1.1.", "1.2."].flatMap((mark, n) => [
    piece(mark, 0, 20 + 13 * n),
    piece("La contratista hará la obra.", 60, 20 + 13 * n, 250),
  ]);
  expect(layoutText(clauses)).toBe("1.1. La contratista hará la obra.\n1.2. La contratista hará la obra.");
  const rows = ["1.", "2."].flatMap((mark, n) =>
    [mark, "Lona", "5"].map((text, column) => piece(text, 100 * column, 20 + 13 * n)),
  );
  expect(layoutText(rows)).toBe("1. | Lona | 5\n2. | Lona | 5");
});

it("keeps the lines of a page in order whose left edge varies by a hair", () => {
  const texts = Array.from(
    { length: 12 },
    (_, n) => `línea ${n + 1} de un párrafo que llena todo el ancho de la página`,
  );
  const pieces = texts.map((text, n) => piece(text, 90 + (n % 3 === 0 ? -0.0001 : 0.0001), 20 + 13 * n, 520));
  expect(layoutText(pieces).split("\n")).toEqual(texts);
});

it("puts a blank between two small lines beside a large one", () => {
  const small = (str: string, y: number) => ({ ...piece(str, 60, y, 110), size: 7 });
  const pieces = [{ ...piece("07:35", 0, 20, 50), size: 20 }, small("AVE 03071", 11), small("2 h 45 min", 20)];
  expect(layoutText(pieces)).toMatch(/AVE 03071 2 h 45 min$/);
});

it("finds the lines of a map with very many points", () => {
  const path = Float32Array.from({ length: 600_000 }, (_, n) => (n % 3 === 0 ? (n === 0 ? 0 : 1) : n));
  const operators = { fnArray: [OPS.constructPath], argsArray: [[OPS.fill, [path]]] };
  expect(rulesIn(operators, [1, 0, 0, 1, 0, 0])).toEqual([]);
});

it("reads a notebook by its cells", async () => {
  const picture = {
    output_type: "display_data",
    data: { "image/png": "iVBORw0KGgo=".repeat(99), "text/plain": ["<Figure>"] },
  };
  const failed = { output_type: "error", ename: "ValueError", evalue: "\u001b[31mmal\u001b[0m" };
  const code = {
    cell_type: "code",
    source: ["x = 1\n", "print(x)"],
    outputs: [{ output_type: "stream", text: ["1\n"] }, picture, failed],
  };
  const cells = [{ cell_type: "markdown", source: "# Ventas" }, code, null];
  const notebook = { nbformat: 4, metadata: { kernelspec: { language: "python" } }, cells };
  expect(await read(JSON.stringify(notebook), "application/json")).toBe(
    "# Ventas\n\n```python\nx = 1\nprint(x)\n```\n\n1\n\n<Figure>\n(imagen)\n\nValueError: mal",
  );
});

it("reads a diagram by its levels", () => {
  const point = (id: string, text: string) =>
    `<dgm:pt modelId="${id}"><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
  const under = (from: string, to: string, n: number) =>
    `<dgm:cxn modelId="${from}${to}" srcId="${from}" destId="${to}" srcOrd="${n}"/>`;
  const points = [point("3", "Pádel"), point("2", "Natación"), point("1", "Junta"), point("4", "Alevín")].join("");
  const links = [under("0", "1", 0), under("1", "3", 1), under("1", "2", 0), under("2", "4", 0)];
  const xml = `<dgm:dataModel><dgm:ptLst><dgm:pt modelId="0" type="doc"/>${points}</dgm:ptLst><dgm:cxnLst>${links.join("")}</dgm:cxnLst></dgm:dataModel>`;
  const archive = openArchive(Buffer.from(zipSync({ "data1.xml": utf8(xml) })), "un DOCX");
  expect(diagramLines(archive, "data1.xml")).toEqual(["- Junta", "  - Natación", "    - Alevín", "  - Pádel"]);
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
  ["invitacion", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n", "text/calendar"],
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

const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const drawing = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';
const openDocument =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"';
const wordFile = (body: string) =>
  zipSync({ "word/document.xml": utf8(`<w:document ${word}><w:body>${body}</w:body></w:document>`) });
const relations = (...all: [id: string, kind: string, target: string][]) =>
  utf8(
    `<Relationships>${all.map(([id, kind, target]) => `<Relationship Id="${id}" Type="http://x/${kind}" Target="${target}"/>`).join("")}</Relationships>`,
  );
const slides = (slide: string, more: Record<string, Uint8Array> = {}) =>
  zipSync({
    "ppt/presentation.xml": utf8(
      '<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><p:sldId r:id="r1"/></p:presentation>',
    ),
    "ppt/_rels/presentation.xml.rels": relations(
      ["r1", "slide", "slides/slide1.xml"],
      ["r2", "authors", "authors.xml"],
    ),
    "ppt/slides/slide1.xml": utf8(
      `<p:sld ${drawing} xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">${slide}</p:sld>`,
    ),
    ...more,
  });
const raisedInWord = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r>';
it.each<[string, Uint8Array | string, string]>([
  [
    "DOCX",
    wordFile(`<w:p><w:r><w:t>10</w:t></w:r>${raisedInWord}<w:r><w:t> bacterias</w:t></w:r></w:p>`),
    documentTypes.docx,
  ],
  ["HTML", "<p>10<sup>6</sup> bacterias</p>", documentTypes.html],
  ["RTF", "{\\rtf1 10{\\super 6} bacterias}", documentTypes.rtf],
  [
    "PPTX",
    slides(
      '<p:sp><a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r><a:r><a:t> bacterias</a:t></a:r></a:p></p:sp>',
    ),
    documentTypes.pptx,
  ],
  [
    "ODT",
    zipSync({
      "content.xml": utf8(
        `<office:document-content ${openDocument}><style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style><text:p>10<text:span text:style-name="T1">6</text:span> bacterias</text:p></office:document-content>`,
      ),
    }),
    documentTypes.odt,
  ],
])("reads a raised number in %s as an exponent", async (_what, file, type) => {
  expect(await read(file, type)).toBe("10⁶ bacterias");
});

const linked = (...all: [id: string, target: string][]) =>
  utf8(
    `<Relationships>${all.map(([Id, Target]) => `<Relationship Id="${Id}" Type="http://x/hyperlink" Target="${Target}" TargetMode="External"/>`).join("")}</Relationships>`,
  );
const places = linked(
  ["h4", "https://ayto.example/mi plano.pdf"],

  ["h1", "https://ayto.example/alta?a=1&amp;b=2"],
  ["h2", "https://www.ayto.example/"],
  ["h3", "mailto:ana@ayto.example?subject=Alta"],
);
const linkInWord = (id: string, text: string) =>
  `<w:hyperlink r:id="${id}"><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:hyperlink>`;
const linkInSlide = (id: string, text: string) =>
  `<a:r><a:rPr><a:hlinkClick r:id="${id}"/></a:rPr><a:t>${text}</a:t></a:r>`;
const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const instructed = (instruction: string, result: string) =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${instruction}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${result}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
it.each<[string, Uint8Array, string]>([
  [
    "DOCX with fields",
    zipSync({
      "word/document.xml": utf8(
        `<w:document ${word}><w:body><w:p>${run("La ")}${instructed(' HYPERLINK "https://ayto.example/</w:instrText><w:instrText>alta?a=1&amp;b=2" \\o "Alta" ', run("inscrip") + instructed(" DATE ", run("ción")))}${run(" o ")}<w:fldSimple w:instr="HYPERLINK https://www.ayto.example/">${run("ayto.example")}</w:fldSimple></w:p><w:p>${instructed('HYPERLINK "mailto:ana@ayto.example"', run("Ana"))}<w:r><w:br/></w:r>${run("Luis")}</w:p><w:p>${instructed('HYPERLINK \\l "_Toc1"', run("Índice"))}</w:p><w:p>${instructed('HYPERLINK "https://ayto.example/mi plano.pdf"', run("Plano general"))}${run(" y más")}</w:p></w:body></w:document>`,
      ),
    }),
    documentTypes.docx,
  ],
  [
    "DOCX",
    zipSync({
      "word/document.xml": utf8(
        `<w:document ${word}><w:body><w:p>${run("La ")}${linkInWord("h1", "inscrip")}${linkInWord("h1", "ción ")}${run("o ")}${linkInWord("h2", "ayto.example")}</w:p><w:p>${linkInWord("h3", "Ana")}<w:r><w:br/></w:r>${run("Luis")}</w:p><w:p><w:hyperlink w:anchor="_Toc1">${run("Índice")}</w:hyperlink></w:p><w:p>${linkInWord("h4", "Plano general")}${run(" y más")}</w:p></w:body></w:document>`,
      ),
      "word/_rels/document.xml.rels": places,
    }),
    documentTypes.docx,
  ],
  [
    "PPTX",
    slides(
      `<p:sp><a:p><a:r><a:t>La </a:t></a:r>${linkInSlide("h1", "inscrip")}${linkInSlide("h1", "ción")}<a:r><a:t> o </a:t></a:r>${linkInSlide("h2", "ayto.example")}</a:p><a:p>${linkInSlide("h3", "Ana")}<a:br/><a:fld type="datetime"><a:t>Luis</a:t></a:fld></a:p><a:p><a:r><a:t>Índice</a:t></a:r></a:p><a:p>${linkInSlide("h4", "Plano general")}<a:r><a:t> y más</a:t></a:r></a:p></p:sp>`,
      { "ppt/slides/_rels/slide1.xml.rels": places },
    ),
    documentTypes.pptx,
  ],
  [
    "ODT",
    zipSync({
      "content.xml": utf8(
        `<office:document-content ${openDocument} xmlns:xlink="http://www.w3.org/1999/xlink"><text:p>La <text:a xlink:href="https://ayto.example/alta?a=1&amp;b=2">inscrip<text:span>ción</text:span></text:a> o <text:a xlink:href="https://www.ayto.example/">ayto.example</text:a></text:p><text:p><text:a xlink:href="mailto:ana@ayto.example?subject=Alta">Ana</text:a><text:line-break/>Luis</text:p><text:p><text:a xlink:href="#indice">Índice</text:a></text:p><text:p><text:a xlink:href="https://ayto.example/mi plano.pdf">Plano<text:note><text:note-body><text:p>De 2026</text:p></text:note-body></text:note> general</text:a><text:s/>y más</text:p></office:document-content>`,
      ),
    }),
    documentTypes.odt,
  ],
])("says where the links of a %s lead, behind their words", async (_what, file, type) => {
  const lines = (await read(file, type)).replace(" [nota: De 2026] ", " ").split("\n").filter(Boolean);
  expect(lines).toEqual([
    "La inscripción (https://ayto.example/alta?a=1&b=2) o ayto.example",
    "Ana (ana@ayto.example)",
    "Luis",
    "Índice",
    "Plano general (https://ayto.example/mi%20plano.pdf) y más",
  ]);
});

it("a field within a link of a DOCX does not end the link", async () => {
  const file = zipSync({
    "word/document.xml": utf8(
      `<w:document ${word}><w:body><w:p><w:hyperlink r:id="h1">${run("anexo ")}<w:fldSimple w:instr="REF a">${run("3")}</w:fldSimple>${run(" entero")}</w:hyperlink></w:p></w:body></w:document>`,
    ),
    "word/_rels/document.xml.rels": places,
  });
  expect((await read(file, documentTypes.docx)).trim()).toBe("anexo 3 entero (https://ayto.example/alta?a=1&b=2)");
});

const wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>';
const inCell = (text: string, properties = "") => `<w:tc>${properties}<w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
it.each<[string, Uint8Array | string, string, string]>([
  [
    "DOCX",
    wordFile(
      `<w:tbl><w:tr>${inCell("Garantía")}${inCell("Capital", wide)}${inCell("Franquicia")}</w:tr><w:tr>${inCell("Robo")}${inCell("1.000 €")}${inCell("500 €")}${inCell("150 €")}</w:tr></w:tbl>`,
    ),
    documentTypes.docx,
    "Garantía | Capital | | Franquicia\nRobo | 1.000 € | 500 € | 150 €",
  ],
  [
    "ODT",
    zipSync({
      "content.xml": utf8(
        `<office:document-content ${openDocument}><table:table><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Garantía</text:p></table:table-cell><table:table-cell table:number-columns-spanned="2"><text:p>Capital</text:p></table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:covered-table-cell/><table:table-cell><text:p>Casa</text:p></table:table-cell><table:table-cell><text:p>Bienes</text:p></table:table-cell></table:table-row></table:table></office:document-content>`,
      ),
    }),
    documentTypes.odt,
    "Garantía | Capital |\nGarantía | Casa | Bienes",
  ],
  [
    "RTF",
    "{\\rtf1 \\trowd\\cellx1\\cellx2\\pard\\intbl Robo\\par en\\line casa\\par \\cell\\pard\\intbl 500\\cell\\row\\pard Fin}",
    documentTypes.rtf,
    "Robo en casa | 500\nFin",
  ],
])(
  "keeps cells under their headings beside merged ones, and paragraphs of a cell together, in %s",
  async (_what, file, type, text) => {
    expect(await read(file, type)).toBe(text);
  },
);

it("reads a small number that is raised on a PDF's line as an exponent or the number of a note", () => {
  const piece = (str: string, x0: number, x1: number, y: number, size: number) => ({
    str,
    dir: "ltr",
    x0,
    x1,
    y,
    size,
  });
  const line = [piece("640", 0, 18, 100, 10), piece("2", 18, 21, 96, 6), piece("euros", 24, 50, 100, 10)];
  expect(layoutText(line)).toBe("640² euros");
});

it("parts the cells of a PDF's table where the other rows part them, also behind a narrow gap", () => {
  const row = (y: number, ...cells: [str: string, x0: number, x1: number][]) =>
    cells.map(([str, x0, x1]) => ({ str, dir: "ltr", x0, x1, y, size: 10 }));
  const page = [
    ...row(100, ["Apellidos y nombre", 0, 90], ["Nacimiento", 120, 174], ["Saldo", 180, 210], ["Cuota", 216, 250]),
    ...row(115, ["RUIZ GIL, ANA", 0, 70], ["03/05/1980", 120, 170], ["75,00", 185, 210], ["9,00", 230, 250]),
    ...row(
      130,
      ["MARTÍNEZ DE LA TORRE, JUAN", 0, 116],
      ["01/02/1943", 120, 170],
      ["1,00", 190, 210],
      ["1.385,00", 214, 250],
    ),
    ...row(145, ["GIL SANZ, EVA", 0, 70], ["21/06/1990", 120, 170], ["4,00", 190, 210], ["8,00", 230, 250]),
  ];
  expect(layoutText(page)).toBe(
    [
      "Apellidos y nombre | Nacimiento | Saldo | Cuota",
      "RUIZ GIL, ANA | 03/05/1980 | 75,00 | 9,00",
      "MARTÍNEZ DE LA TORRE, JUAN | 01/02/1943 | 1,00 | 1.385,00",
      "GIL SANZ, EVA | 21/06/1990 | 4,00 | 8,00",
    ].join("\n"),
  );
});

it("keeps the empty cells of a PDF's table, so that a number stands under its own heading", () => {
  const row = (y: number, ...cells: [str: string, x0: number, x1: number][]) =>
    cells.map(([str, x0, x1]) => ({ str, dir: "ltr", x0, x1, y, size: 10 }));
  const page = [
    ...row(100, ["Precio", 0, 30], ["Concepto", 60, 110], ["Devengos", 200, 250], ["Deducciones", 280, 340]),
    ...row(115, ["41,27", 4, 30], ["Salario base", 60, 120], ["1.238,10", 212, 250]),
    ...row(130, ["Anticipo a cuenta", 60, 145], ["150,00", 308, 340]),
    ...row(145, ["Paga extra", 60, 112], ["110,97", 218, 250]),
  ];
  expect(layoutText(page)).toBe(
    [
      "Precio | Concepto | Devengos | Deducciones",
      "41,27 | Salario base | 1.238,10",
      "| Anticipo a cuenta | | 150,00",
      "| Paga extra | 110,97",
    ].join("\n"),
  );
});

it("reads an e-mail's page without its hidden beginning, and by its lines where tables only place it", async () => {
  const page = `<!--[if mso]><table><tr><td><![endif]--><div style="display:none">Ya está <div>todo</div> <table><tr><td>listo</td></tr></table></div><script>"<table>"</script>
    <table><tr><td><h1>Cita</h1><p>Hola, Ana:</p>
    <table><tr><td>Hora</td><td>10:50</td></tr><tr><td>Precio</td><td>47,83 €</td></tr></table><p>Adiós</p></td></tr></table>`;
  expect((await read(page, documentTypes.html)).replace(/\n+/g, "\n")).toBe(
    "# Cita\nHola, Ana:\nHora | 10:50\nPrecio | 47,83 €\nAdiós",
  );
});

it("finds words and numbers with raised digits after them, and units", () => {
  expect(plainWords("640² contrato³ 80 m²")).toEqual(plainWords("640 2 contrato 3 80 m2"));
});

it("finds an account that is written in groups, and a telephone, without their blanks", () => {
  expect(inNumbers("IBAN ES91 2100 0418 4502 0005 1332, tel. 91 123 45 67")).toEqual(
    expect.arrayContaining(["es9121000418450200051332", "911234567"]),
  );
});

it("reads the comments of a PPTX of PowerPoint 365, with their answers", async () => {
  const said = (text: string) => `<p188:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p188:txBody>`;
  const space = `xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main" ${drawing}`;
  const deck = slides("<p:sp><a:p><a:r><a:t>Plan</a:t></a:r></a:p></p:sp>", {
    "ppt/slides/_rels/slide1.xml.rels": relations(["c1", "comments", "../comments/modern.xml"]),
    "ppt/authors.xml": utf8(
      `<p188:authorLst ${space}><p188:author id="{A}" name="Ana"/><p188:author id="{B}" name="Luis"/></p188:authorLst>`,
    ),
    "ppt/comments/modern.xml": utf8(
      `<p188:cmLst ${space}><p188:cm authorId="{A}"><p188:replyLst><p188:reply authorId="{B}">${said("Sí")}</p188:reply></p188:replyLst>${said("¿Va?")}</p188:cm></p188:cmLst>`,
    ),
  });
  const text = await read(deck, documentTypes.pptx);
  expect(text.replace(/\n+/g, "\n")).toBe("Plan\n[comentario de Ana: ¿Va?]\n[comentario de Luis: Sí]");
});

it("marks the notes of an ODP, and keeps a number of a file in a header", async () => {
  const deck = zipSync({
    "content.xml": utf8(
      `<office:document-content ${openDocument}><draw:page><text:p>Plan</text:p><presentation:notes><draw:text-box><text:p>Saluda</text:p></draw:text-box></presentation:notes></draw:page></office:document-content>`,
    ),
    "styles.xml": utf8(
      `<office:document-styles ${openDocument}><style:header><text:p>2024/0032</text:p></style:header><style:footer><text:p>12</text:p></style:footer></office:document-styles>`,
    ),
  });
  expect((await read(deck, documentTypes.odp)).replace(/\n+/g, "\n")).toBe("2024/0032\nPlan\nNotas: Saluda");
});

it("reads the signs of the font Symbol in an RTF", async () => {
  const rtf =
    "{\\rtf1{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset2{\\*\\panose 05050102}Symbol;}}\\f0 5 {\\f1 m}g, {\\f1\\'a3} 3}";
  expect(await read(rtf, documentTypes.rtf)).toBe("5 μg, ≤ 3");
});

it("names the members of a group of receivers, and tells in Spanish of an e-mail within another", async () => {
  const mail =
    "From: a@b.es\r\nTo: Equipo: ana@x.es, Luis <luis@x.es>;\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nMira\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nFrom: pepe@x.es\r\nSubject: Presupuesto\r\nDate: Wed, 3 Apr 2024 10:30:00 +0000\r\nContent-Type: text/plain\r\n\r\nSon 640 euros\r\n--x--\r\n";
  const text = await read(mail, documentTypes.eml);
  expect(text).toContain("Para: Equipo: <ana@x.es>, Luis <luis@x.es>");
  expect(text).toMatch(/De: pepe@x\.es\nAsunto: Presupuesto\nFecha: 3\/4\/2024/);
});

it("keeps the hour of a moment that OpenDocument shows in its usual way", () => {
  expect(write({ t: "n", v: 45356.604166666664, z: "m/d/yy", w: "05/03/2024 14:30" })).toBe("05/03/2024 14:30");
});

it("reads text boxes and struck cells of a book whose parts use other prefixes", async () => {
  const main = 'xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
  const types =
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>';
  const kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const relation = (kind: string, target: string) =>
    utf8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${kinds}/${kind}" Target="${target}"/></Relationships>`,
    );
  const book = zipSync({
    "[Content_Types].xml": utf8(types),
    "_rels/.rels": relation("officeDocument", "xl/workbook.xml"),
    "xl/workbook.xml": utf8(
      `<x:workbook ${main} ${r}><x:sheets><x:sheet name="Uno" sheetId="1" r:id="r1"/></x:sheets></x:workbook>`,
    ),
    "xl/_rels/workbook.xml.rels": relation("worksheet", "worksheets/sheet1.xml"),
    "xl/worksheets/sheet1.xml": utf8(
      `<x:worksheet ${main}><x:sheetData><x:row r="1"><x:c r="A1"><x:v>5</x:v></x:c><x:c r="B1" s="1"><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>`,
    ),
    "xl/styles.xml": utf8(
      `<x:styleSheet ${main}><x:fonts><x:font/><x:font><x:strike/></x:font></x:fonts><x:cellXfs><x:xf fontId="0"/><x:xf fontId="1"/></x:cellXfs></x:styleSheet>`,
    ),
    "xl/worksheets/_rels/sheet1.xml.rels": relation("drawing", "../drawings/drawing1.xml"),
    "xl/drawings/drawing1.xml": utf8(
      `<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" ${drawing}><xdr:txBody><a:p><a:r><a:t>Ojo: sin IVA</a:t></a:r></a:p></xdr:txBody></xdr:wsDr>`,
    ),
  });
  const text = await read(book, documentTypes.xlsx);
  expect(text).toContain("5 | [tachado: 7]");
  expect(text).toContain("Ojo: sin IVA");
});

it("says with its gender that a book is damaged", async () => {
  await expect(read("PK\u0003\u0004roto", documentTypes.xlsx)).rejects.toThrow(
    "es una hoja de cálculo dañada o incompleta: no se puede abrir.",
  );
});

it.each([
  [
    "a cell in quotes with other signs and line breaks",
    'a,b\n1,"Hola;\ngracias;\nadiós;"\n',
    "1 | Hola; gracias; adiós;",
  ],
  ["names in quotes", '"Nombre; apellidos","Edad"\n"Pérez; Ana",30\n', "Pérez; Ana | 30"],
  ["a sign in quotes in every row", '1,"uno; dos",3\n2,"tres; cuatro",5\n', "2 | tres; cuatro | 5"],
  ["a line break in a cell of names", 'F1;F2;"F\ni,e,l,d\n,3"\n1;2;3\n', "1 | 2 | 3"],
  ["inches", 'tubo 5";3\ntubo 7";4\n', 'tubo 7" | 4'],
])("finds the sign between the cells of a CSV with %s", (_, csv, row) => {
  expect(tableText(csv).split("\n").at(-1)).toBe(row);
});

it.each([
  ["movimientos.xls", "<html><body><table><tr><td>Luz</td><td>30</td></tr></table></body></html>", "Luz | 30"],
  ["datos.xls", "Luz\t30\nAgua\t20\n", "Luz | 30\nAgua | 20"],
  ["informe.doc", "<!DOCTYPE html><html><p>Hola", "Hola"],
])("reads the text that a program has written as %s", async (name, text, said) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  expect(await read(text, await mediaTypeOf(path, name, text.length))).toBe(said);
});

it("reads a notebook of format 3", async () => {
  const cells = [
    { cell_type: "heading", level: 2, source: ["Ventas"] },
    {
      cell_type: "code",
      input: ["print(42)"],
      outputs: [{ output_type: "stream", text: ["42"], png: "iVBORw0KGgo=" }],
    },
  ];
  const notebook = { nbformat: 3, worksheets: [{ cells }] };
  expect(await read(JSON.stringify(notebook), "application/json")).toBe(
    "## Ventas\n\n```\nprint(42)\n```\n\n42\n(imagen)",
  );
});

it.each([
  ["in another Unicode form", "Cap%C3%ADtulo.xhtml", "Capítulo.xhtml".normalize("NFD")],
  ["with the signs of the address", "Cap%201.xhtml", "Cap%201.xhtml"],
])("reads an EPUB whose chapter has its name %s", async (_, href, name) => {
  const book = (entry: string) =>
    zipSync({
      "META-INF/container.xml": utf8("<container><rootfiles><rootfile full-path='a.opf'/></rootfiles></container>"),
      "a.opf": utf8(
        `<package><manifest><item id="c" href="${href}"/></manifest><spine><itemref idref="c"/></spine></package>`,
      ),
      [entry]: utf8("<html><body><p>Hola</p></body></html>"),
    });
  expect(await read(book(name), documentTypes.epub)).toBe("Hola");
  await expect(read(book("otro.xhtml"), documentTypes.epub)).rejects.toThrow();
});

it("leaves out what a page hides", () => {
  const page =
    '<div hidden>uno</div><p style="visibility: hidden">dos</p><p hidden="until-found">tres</p><p>cuatro</p>';
  expect(htmlText(page).replace(/\n+/g, "\n")).toBe("tres\ncuatro");
});
