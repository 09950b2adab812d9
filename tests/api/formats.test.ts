import { readFileSync } from "node:fs";
import { CFB } from "@e965/xlsx";
import { unzipSync, type Zippable, zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";

type Shown = { id: string; name: string; mediaType: string; pages: number | null; hasText: boolean };
type Uploaded = { items: Shown[]; refused: { name: string; reason: string }[]; detail?: string };

let api: Api;
let ana: Account;
beforeAll(async () => {
  api = await openApi(sqlite);
  ana = await api.signUp("Ana");
});
afterAll(() => api.close());

const bytesOf = (name: string) => new Uint8Array(readFileSync(new URL(`../documents/${name}`, import.meta.url)));
const utf8 = (text: string) => new TextEncoder().encode(text);
const file = (content: string | Uint8Array<ArrayBuffer>, name: string) => new File([content], name);
const zipped = (entries: Zippable) => new Uint8Array(zipSync(entries));
const upload = async (sent: File[], fields: Record<string, string> = {}) =>
  (await api.upload(ana.token, sent, fields)).body as Uploaded;
async function passagesOf(id: string | undefined) {
  const { body } = await api.call("GET", `/api/file/${id}/passages`, { token: ana.token });
  return (body as { items: { page: number | null; text: string }[] }).items;
}
async function textOf(sent: File): Promise<string> {
  const { items } = await upload([sent]);
  return (await passagesOf(items[0]?.id)).map(({ text }) => text).join("\n\n");
}
async function whyRefused(sent: File): Promise<string> {
  const { detail } = await upload([sent]);
  return detail ?? "";
}
/** Place in the directory of a ZIP that has the entry of this name. */
const entryOf = (archive: Uint8Array, name: string) => Buffer.from(archive).lastIndexOf(name) - 46;
function withPassword(archive: Uint8Array<ArrayBuffer>, name: string): Uint8Array<ArrayBuffer> {
  archive[entryOf(archive, name) + 8] = 1;
  return archive;
}
/** A compound file, as the old Office wrote them, with one stream. */
function compound(stream: string): Uint8Array<ArrayBuffer> {
  const made = CFB.utils.cfb_new();
  CFB.utils.cfb_add(made, `/${stream}`, Buffer.alloc(5_000, 7));
  return new Uint8Array(Buffer.from(CFB.write(made, { type: "buffer" })));
}
/** A document with one part of it changed. */
const changed = (name: string, part: string, change: (text: string) => string) => {
  const parts = unzipSync(bytesOf(name));
  return zipped({ ...parts, [part]: utf8(change(new TextDecoder().decode(parts[part]))) });
};

describe("documents that LibreOffice has written are read", () => {
  it.each(["vacaciones.odt", "vacaciones.docx"])("%s, with its headings, items and tables", async (name) => {
    const text = await textOf(file(bytesOf(name), name));
    expect(text).toContain("## Vacaciones\n\nEl personal dispone de veintitrés jornadas libres al año.");
    expect(text).toContain("- Se piden por escrito.");
    expect(text).toContain("Puesto | Entrada | Salida\nRecepción | 8:00 | 15:00\nAlmacén | 14:30 | 22:00");
    expect(text).toContain("la ñandú y el güito");
  });

  it.each(["vacaciones.rtf", "vacaciones.epub"])("%s, with its tables", async (name) => {
    const text = await textOf(file(bytesOf(name), name));
    expect(text).toContain("El personal dispone de veintitrés jornadas libres al año.");
    expect(text).toContain("Recepción | 8:00 | 15:00");
    expect(text).toContain("la ñandú y el güito");
    expect(text).not.toMatch(/Liberation|fonttbl|generator|urn:/);
  });

  it.each(["gastos.ods", "gastos.xlsx", "gastos.xls"])("%s, as a table in Spanish", async (name) => {
    const text = await textOf(file(bytesOf(name), name));
    expect(text).toBe(
      "# Hoja gastos\n\nConcepto | Fecha | Importe | Pagado\nPapelería | 05/03/2024 | 1280,5 | VERDADERO\nAlquiler | 06/01/2024 | 950 | FALSO",
    );
  });

  it.each(["huerto.odp", "huerto.pptx"])("%s, slide by slide", async (name) => {
    const { items } = await upload([file(bytesOf(name), name)]);
    expect(items[0]?.pages).toBe(2);
    const passages = await passagesOf(items[0]?.id);
    expect(passages.map(({ page, text }) => [page, text.includes("Gotear seis litros por hora")])).toEqual([
      [1, false],
      [2, true],
    ]);
  });
});

it("reads an e-mail with its sender and attached document", async () => {
  const text = await textOf(file(bytesOf("nota.eml"), "nota.eml"));
  expect(text).toContain("# Vacaciones de la oficina\nDe: María Pérez <maria@ejemplo.es>");
  expect(text).toContain("Os envío las normas.");
  expect(text).toContain("# Adjunto: normas.rtf");
  expect(text).toContain("veintitrés jornadas libres");
});

it("reads a page in its declared charset, without scripts", async () => {
  const page = `<html><head><meta charset="iso-8859-1"><title>Año</title><script>secreto()</script></head>
    <body><nav>Menú</nav><h1>Peña</h1><p>Uno<br>dos &amp; tres</p><ul><li>a<li>b</ul></body></html>`;
  const text = await textOf(file(new Uint8Array(Buffer.from(page, "latin1")), "pagina.html"));
  expect(text).toBe("Año\n\n# Peña\n\nUno\ndos & tres\n\n- a\n- b");
  const { items } = await upload([file("<script>todo()</script>", "programa.html")]);
  expect(items[0]).toMatchObject({ hasText: false });
});

describe("what is unusual in a document", () => {
  it("reads columns in order, rotated text and right-to-left text", async () => {
    const text = await textOf(file(bytesOf("columnas-y-arabe.pdf"), "columnas.pdf"));
    expect([...text.matchAll(/Cláusula (\d+)\./g)].map(([, n]) => Number(n))).toEqual(
      Array.from({ length: 14 }, (_, n) => n + 1),
    );
    expect(text).toContain("يلتزم المستأجر بدفع الإيجار في الأيام السبعة الأولى من كل شهر. رقم 25");
    expect(text).toContain("Texto puesto de lado, que se lee girando la hoja.");
  });

  it("macros are not read, let alone run", async () => {
    const parts = unzipSync(bytesOf("gastos.xlsx"));
    const types = new TextDecoder()
      .decode(parts["[Content_Types].xml"])
      .replace("spreadsheetml.sheet.main+xml", "@@")
      .replace(
        "application/vnd.openxmlformats-officedocument.@@",
        "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
      );
    const book = zipped({ ...parts, "[Content_Types].xml": utf8(types), "xl/vbaProject.bin": utf8("Sub malo()") });
    const text = await textOf(file(book, "macro.xlsm"));
    expect(text).toContain("Papelería");
    expect(text).not.toContain("malo");
  });

  it("formulas without values are shown as they are", async () => {
    const book = changed("gastos.xlsx", "xl/worksheets/sheet1.xml", (xml) =>
      xml.replace(/<c r="C3"[^>]*>.*?<\/c>/s, '<c r="C3"><f>SUM(C1:C2)*7</f></c>'),
    );
    expect(await textOf(file(book, "sin-calcular.xlsx"))).toContain("=SUM(C1:C2)*7");
  });

  it("entities that would grow without end are not expanded", async () => {
    const bomb = changed("vacaciones.odt", "content.xml", (xml) =>
      xml
        .replace("?>", '?><!DOCTYPE a [<!ENTITY a "jajajajaja"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>')
        .replace("veintitrés", "&b;&b;&b;"),
    );
    const text = await textOf(file(bomb, "entidades.odt"));
    expect(text).toContain("jornadas libres al año.");
    expect(text).not.toContain("jaja");
  });

  it("ignores tracked deletions in an ODT", async () => {
    const revised = changed("vacaciones.odt", "content.xml", (xml) =>
      xml.replace(
        /<office:text[^>]*>/,
        "$&<text:tracked-changes><text:changed-region><text:deletion><text:p>BORRADO</text:p></text:deletion></text:changed-region></text:tracked-changes>",
      ),
    );
    expect(await textOf(file(revised, "revisado.odt"))).not.toContain("BORRADO");
  });

  it("accepts a sheet with 60,000 rows", async () => {
    const rows = Array.from({ length: 60_000 }, (_, n) => `<row r="${n + 1}"><c r="A${n + 1}"><v>${n}</v></c></row>`);
    const book = changed("gastos.xlsx", "xl/worksheets/sheet1.xml", (xml) =>
      xml.replace(/<sheetData>.*<\/sheetData>/s, `<sheetData>${rows.join("")}</sheetData>`),
    );
    const { items } = await upload([file(book, "muchas.xlsx")]);
    expect(items[0]).toMatchObject({ hasText: true });
  });

  it.each([
    [
      "an ODT with a password",
      () =>
        changed("vacaciones.odt", "META-INF/manifest.xml", (xml) =>
          xml.replace("</manifest:manifest>", "<manifest:encryption-data/></manifest:manifest>"),
        ),
      "clave.odt",
      "tiene contraseña",
    ],
    ["a DOCX with a password", () => compound("EncryptedPackage"), "clave.docx", "tiene contraseña"],
    ["another document of the old Office", () => compound("VisioDocument"), "plano.vsd", "Office antiguo"],
    ["half a document of the old Word", () => compound("WordDocument"), "viejo.doc", "un DOC dañado"],
    [
      "an EPUB with a lock",
      () =>
        zipped({
          ...unzipSync(bytesOf("vacaciones.epub")),
          "META-INF/encryption.xml": utf8('<CipherReference URI="OEBPS/sections/section0001.xhtml"/>'),
        }),
      "candado.epub",
      "protegido contra copia",
    ],
    [
      "a PPTX without its slides",
      () => zipped({ ...unzipSync(bytesOf("huerto.pptx")), "ppt/presentation.xml": utf8("") }),
      "roto.pptx",
      "",
    ],
  ] as const)("%s says so", async (_, make, name, why) => {
    const answer = await upload([file(make(), name)]);
    if (why) expect(answer.detail).toContain(why);
    else expect(answer.items[0]).toMatchObject({ hasText: false });
  });
});

it("an ODS without styles is read", async () => {
  const { "styles.xml": _, ...parts } = unzipSync(bytesOf("gastos.ods"));
  const [text, whole] = await Promise.all([
    textOf(file(zipped(parts), "sin-estilos.ods")),
    textOf(file(bytesOf("gastos.ods"), "gastos.ods")),
  ]);
  expect(text.length).toBeGreaterThan(50);
  expect(text.split("\n")[0]).toBe(whole.split("\n")[0]);
});

describe("e-mails with others in them", () => {
  it("are read when Outlook has saved them, with what they carry", async () => {
    const made = CFB.utils.cfb_new();
    const add = (path: string, content: Buffer) => CFB.utils.cfb_add(made, path, content);
    const wide = (text: string) => Buffer.from(text, "utf16le");
    const sent = Buffer.alloc(48);
    sent.writeUInt32LE(0x0039_0040, 32);
    sent.writeBigUInt64LE(BigInt(Date.UTC(2025, 2, 6, 9, 30) + 11_644_473_600_000) * 10_000n, 40);
    add("/__properties_version1.0", sent);
    add("/__substg1.0_0037001F", wide("Derrama de la fachada"));
    add("/__substg1.0_0C1A001F", wide("Leoncio Marchena"));
    add("/__substg1.0_0E04001F", wide("Comunidad"));
    add("/__substg1.0_1000001F", wide("Son 46.350 euros.\r\nUn saludo"));
    add("/__attach_version1.0_#00000000/__substg1.0_3707001F", wide("gastos.xls"));
    add("/__attach_version1.0_#00000000/__substg1.0_37010102", Buffer.from(bytesOf("gastos.xls")));
    const mail = new Uint8Array(Buffer.from(CFB.write(made, { type: "buffer" })));
    const text = await textOf(file(mail, "derrama.msg"));
    expect(text).toContain("# Derrama de la fachada\nDe: Leoncio Marchena\nPara: Comunidad\nFecha: 6 de marzo de 2025");
    expect(text).toContain("Son 46.350 euros.\nUn saludo");
    expect(text).toContain("# Adjunto: gastos.xls");
    expect(text).toContain("Hoja ");
  });

  it("are read when one is attached to another", async () => {
    const inner = "From: pepe@x.es\r\nSubject: Presupuesto\r\n\r\nSon 640 euros\r\n";
    const outer = `From: a@b.es\r\nSubject: Te lo paso\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nMira\r\n--x\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment; filename="presupuesto.eml"\r\n\r\n${inner}--x--\r\n`;
    expect(await textOf(file(outer, "paso.eml"))).toContain("# Adjunto: presupuesto.eml");
    expect(await textOf(file(outer, "paso.eml"))).toContain("Son 640 euros");
  });

  it.each([
    ["us-ascii", "utf8"],
    ["x-unknown", "utf8"],
    ["utf8mb4", "utf8"],
    ["utf-8", "latin1"],
  ] as const)("are read when they say «%s» and are in %s", async (said, real) => {
    const mail = `From: a@b.es\r\nContent-Type: text/plain; charset=${said}\r\nContent-Transfer-Encoding: 8bit\r\n\r\nMañana, reunión`;
    const bytes = new Uint8Array(Buffer.from(mail, real));
    expect(await textOf(file(bytes, "letras.eml"))).toContain("Mañana, reunión");
  });
});

describe("a ZIP of documents", () => {
  const packed = () =>
    zipped({
      "papeles/normas.odt": bytesOf("vacaciones.odt"),
      "papeles/gastos/gastos.xlsx": bytesOf("gastos.xlsx"),
      "papeles/nota.txt": utf8("Acuérdate de la fianza."),
      "papeles/programa.exe": new Uint8Array([0x4d, 0x5a, 0, 0, 1, 2, 3]),
      "papeles/otro.zip": zipped({ "a.txt": utf8("a") }),
      "__MACOSX/papeles/._nota.txt": utf8("basura"),
      "papeles/.DS_Store": utf8("basura"),
    });

  it("is opened: each is read or says why not", async () => {
    const { items, refused } = await upload([file(packed(), "papeles.zip")]);
    expect(items.map(({ name }) => name).sort()).toEqual(["gastos.xlsx", "normas.odt", "nota.txt"]);
    expect(refused.map(({ name }) => name).sort()).toEqual(["papeles/otro.zip", "papeles/programa.exe"]);
    expect(refused.find(({ name }) => name === "papeles/otro.zip")?.reason).toContain("un ZIP dentro de otro");
    // The same once more adds nothing.
    const again = await upload([file(packed(), "papeles.zip")]);
    expect(again.items.map(({ id }) => id).sort()).toEqual(items.map(({ id }) => id).sort());
  });

  it("loses no more than the entry that can't be read", async () => {
    const names = { "a.txt": utf8("El primero."), "b.txt": utf8("El segundo."), "c.txt": utf8("El tercero.") };
    const archive = withPassword(zipped(names), "a.txt");
    // The compression method in the directory, at offset 10: 1 (Shrunk), which is not supported.
    archive[entryOf(archive, "b.txt") + 10] = 1;
    const { items, refused } = await upload([file(archive, "tres.zip")]);
    expect(items.map(({ name }) => name)).toEqual(["c.txt"]);
    expect(refused.find(({ name }) => name === "a.txt")?.reason).toContain("tiene contraseña");
    expect(refused.find(({ name }) => name === "b.txt")?.reason).toContain("comprimido de una forma");
  });

  it("has names in the letters of DOS", async () => {
    const archive = zipped({ "Declaraci_n.txt": utf8("Base liquidable: 23.418,77 euros.") });
    for (const at of [30, entryOf(archive, "Declaraci_n.txt") + 46]) archive[at + 9] = 0xa2;
    const { items } = await upload([file(archive, "renta.zip")]);
    expect(items.map(({ name }) => name)).toEqual(["Declaración.txt"]);
  });

  it("is refused in a message, pointing to the files page", async () => {
    const { detail } = await upload([file(packed(), "papeles.zip")], { temporary: "1" });
    expect(detail).toContain("Súbelo en tus archivos o en un proyecto");
  });

  it.each([
    ["a damaged one", () => packed().slice(0, 3_000), "dañado"],
    ["one without files", () => zipped({ "papeles/.DS_Store": utf8("x") }), "sin archivos dentro"],
    [
      "one of too many",
      () => zipped(Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`${n}.txt`, utf8("x")]))),
      "más de 500",
    ],
    [
      "one with a password",
      () => withPassword(zipped({ "nota.txt": utf8("Acuérdate de la fianza.") }), "nota.txt"),
      "tiene contraseña",
    ],
  ] as const)("%s says so", async (_, make, why) => {
    expect(await whyRefused(file(make(), "papeles.zip"))).toContain(why);
  });
});
