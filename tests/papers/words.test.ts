import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { layoutText } from "../../app/files/formats/pdf/layout.server.ts";
import { readText } from "../../app/files/formats/read.server.ts";
import { documentTypes } from "../../app/files/formats/types.server.ts";
import { bmp, decodePicture } from "../../app/files/pictures/decode-picture.server.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const read = async (bytes: string | Uint8Array, type: string) => {
  const found = await readText(Buffer.from(bytes), type, 1_000_000);
  return "text" in found ? found.text : found.pages.join("\n");
};
const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const docx = (body: string, more: Record<string, string> = {}): Uint8Array =>
  zipSync({
    "word/document.xml": utf8(`<w:document ${w}><w:body>${body}</w:body></w:document>`),
    ...Object.fromEntries(Object.entries(more).map(([name, text]) => [name, utf8(text)])),
  });
const run = (text: string, properties = "") => `<w:r>${properties}<w:t>${text}</w:t></w:r>`;
const paragraph = (text: string, properties = "") => `<w:p>${properties}${run(text)}</w:p>`;

describe("a document of Word", () => {
  it("is read with its tracked changes applied", async () => {
    const before = '<w:rPr><w:rPrChange w:id="1"><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr>';
    expect(await read(docx(`<w:p>${run("a la vista", before)}</w:p>`), documentTypes.docx)).toBe("a la vista");
  });

  it("keeps a word, not how it is pronounced", async () => {
    const ruby = `<w:r><w:ruby><w:rt>${run("とう")}</w:rt><w:rubyBase>${run("東")}</w:rubyBase></w:ruby></w:r>`;
    expect(await read(docx(`<w:p>${ruby}</w:p>`), documentTypes.docx)).toBe("東");
  });

  it("keeps a paragraph of only «Notas:» and drops empty items", async () => {
    const level = '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl>';
    const numbered = '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>';
    const parts = {
      "word/_rels/document.xml.rels": `<Relationships><Relationship Id="a" Type="x/numbering" Target="numbering.xml"/></Relationships>`,
      "word/numbering.xml": `<w:numbering ${w}><w:abstractNum w:abstractNumId="1">${level}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
    };
    const body = `${paragraph("Notas:")}${paragraph("algo")}<w:p>${numbered}</w:p>`;
    expect(await read(docx(body, parts), documentTypes.docx)).toBe("Notas:\n\nalgo");
  });

  it("counts the items under each bullet anew", async () => {
    const level = (at: number, format: string, text: string) =>
      `<w:lvl w:ilvl="${at}"><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
    const item = (at: number, text: string) =>
      paragraph(text, `<w:pPr><w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="1"/></w:numPr></w:pPr>`);
    const parts = {
      "word/_rels/document.xml.rels": `<Relationships><Relationship Id="a" Type="x/numbering" Target="numbering.xml"/></Relationships>`,
      "word/numbering.xml": `<w:numbering ${w}><w:abstractNum w:abstractNumId="1">${level(0, "bullet", "•")}${level(1, "decimal", "%2.")}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
    };
    const body = item(0, "A") + item(1, "x") + item(1, "y") + item(0, "B") + item(1, "z");
    expect(await read(docx(body, parts), documentTypes.docx)).toBe("- A\n1. x\n2. y\n- B\n1. z");
  });
});

it("separates header lines and footer cells of an RTF document", async () => {
  const rtf = "{\\rtf1{\\header Empresa\\line Calle Mayor\\par}{\\footer A\\cell B\\cell}Cuerpo\\par}";
  expect(await read(rtf, documentTypes.rtf)).toBe("Empresa\n\nCalle Mayor\n\nCuerpo\n\nA | B");
});

it.each([
  [
    "plain text of Latin-1 without a character set",
    "From: a@b.es\r\nContent-Type: text/plain\r\n\r\nEl niño comió piña",
  ],
  ["a text without any type", "From: a@b.es\r\nSubject: x\r\n\r\nEl niño comió piña"],
  [
    "HTML that names its set within",
    "From: a@b.es\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<meta charset=3Diso-8859-1>El ni=F1o comi=F3 pi=F1a\r\n--x--\r\n",
  ],
])("reads an e-mail with %s", async (_what, mail) => {
  const found = await readText(Buffer.from(mail, "latin1"), documentTypes.eml, 1_000_000);
  expect("text" in found && found.text).toContain("El niño comió piña");
});

it("reads e-mail attachments without a media type by their extension", async () => {
  const part = (name: string, text: string) =>
    `--x\r\nContent-Type: application/octet-stream; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\n${text}\r\n`;
  const mail = `From: a@b.es\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nVa todo\r\n${part("datos.csv", "Renta;640")}${part("nota.txt", "Hasta el lunes")}--x--\r\n`;
  const text = await read(mail, documentTypes.eml);
  expect(text).toContain("Renta | 640");
  expect(text).toContain("Hasta el lunes");
});

// Two pixels across and two down: red over green, in the order that the sign of the height says.
const picture = (height: number, bits: 24 | 32) => {
  const rowLength = 8;
  const bytes = Buffer.alloc(54 + 2 * rowLength);
  bytes.write("BM");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(2, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(bits, 28);
  const [red, green] = [
    [0, 0, 255],
    [0, 255, 0],
  ];
  for (const [row, colour] of (height < 0 ? [red, green] : [green, red]).entries()) {
    for (const at of [0, 1]) bytes.set(colour ?? [], 54 + row * rowLength + (at * bits) / 8);
  }
  return bytes;
};

it.each([
  [2, 24],
  [-2, 24],
  [2, 32],
  [-2, 32],
] as const)("decodes BMP of height %i, %i bits, upright and opaque", async (height, bits) => {
  const { data, width } = await decodePicture(picture(height, bits), bmp);
  expect(width).toBe(2);
  expect([...data]).toEqual([255, 0, 0, 255, 255, 0, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255]);
});

it("lays out a PDF line with overlapping pieces quickly", () => {
  const piece = { dir: "ltr", y: 100, size: 10 };
  const long = { ...piece, str: "a ".repeat(100_000), x0: 0, x1: 500 };
  expect(layoutText([long, { ...piece, str: "2", x0: 250, x1: 252 }])).toContain("2");
});

it("a DOS text of the maximum file size is read", async () => {
  const line = Buffer.from([...Buffer.from("A"), 0xa4, ...Buffer.from("o 2025 "), 0x0a]);
  const bytes = Buffer.alloc(20 * 1024 * 1024, line);
  expect(await read(bytes, "text/plain")).toMatch(/^Año 2025/);
});

it("reads the page that a program has put into a DOCX whole", async () => {
  const utf8 = (text: string) => new TextEncoder().encode(text);
  const names = "http://schemas.openxmlformats.org";
  const w = `xmlns:w="${names}/wordprocessingml/2006/main" xmlns:r="${names}/officeDocument/2006/relationships"`;
  const page =
    'MIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary=x\r\n\r\n--x\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<h1>Contrato</h1><p>La renta ser=C3=A1 de 640 euros.</p>\r\n--x--\r\n';
  const docx = zipSync({
    "word/document.xml": utf8(
      `<w:document ${w}><w:body><w:p><w:r><w:t>Antes</w:t></w:r></w:p><w:altChunk r:id="c1"/></w:body></w:document>`,
    ),
    "word/_rels/document.xml.rels": utf8(
      `<Relationships><Relationship Id="c1" Type="${names}/officeDocument/2006/relationships/aFChunk" Target="/word/a.mht"/></Relationships>`,
    ),
    "word/a.mht": utf8(page),
  });
  expect(await read(docx, documentTypes.docx)).toMatch(/Antes[\s\S]*Contrato[\s\S]*La renta será de 640 euros\./);
});

it("reads a page that a browser has saved whole, without its look", async () => {
  const saved =
    "From: <Saved by Blink>\r\nSubject: Bases\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Una p=C3=A1gina</p>\r\n--x\r\nContent-Type: text/css\r\nContent-Location: cid:a\r\n\r\nbody{}\r\n--x--\r\n";
  const text = await read(saved, documentTypes.eml);
  expect(text).toContain("Una página");
  expect(text).not.toContain("Adjunto");
});

it("takes a page for what its bytes are, though it says UTF-8", async () => {
  const page = Buffer.from("<meta charset=utf-8><p>El niño comió piña", "latin1");
  const found = await readText(page, documentTypes.html, 1_000_000);
  expect("text" in found && found.text).toContain("El niño comió piña");
});
