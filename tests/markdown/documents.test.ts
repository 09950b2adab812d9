import { strFromU8, unzipSync } from "fflate";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { readText } from "../../app/files/formats/read.server.ts";
import { makeDocument, officeTypes } from "../../app/markdown/documents/make-document.server.ts";

const markdown = `# Presupuesto

Son **640 euros** [1], según el *contrato*; ver [la ordenanza](https://ejemplo.es/a?b=1&c=2).

1. Firmar
   - con dos testigos
2. Pagar

> Lo dicho, dicho está.

| Concepto | Importe |
|---|--:|
| Fianza | 640,00 € |
| Renta & gastos | 512,50 € |

\`\`\`python
if a < b:
    print("dos  blancos")
\`\`\`

La cuota es $C = \\frac{P \\cdot i}{1 - (1 + i)^{-n}}$ y nada más.

$$x = \\sqrt{b^2 - 4ac}$$

El plazo es de un mes[^plazo].

[^plazo]: Desde la firma.`;
const turn = {
  who: "Modelo de la casa",
  when: "1 de enero de 2025, 10:00",
  markdown,
  files: ["plano & alzado.pdf"],
  sources: [{ n: 1, title: "contrato.pdf, página 2", quote: "La fianza del local\nson 640 euros." }],
};

describe.each(["docx", "odt"] as const)("a conversation as %s", (format) => {
  it("has its headings, lists, tables, code, formulas, links and sources", async () => {
    const document = {
      format,
      title: "Piso & garaje",
      author: "Ayuntamiento de Ejemplo & Hijos",
      notice: "Contesta una IA.",
      turns: [turn],
    };
    const bytes = await makeDocument(document, "ana");
    const read = await readText(Buffer.from(bytes ?? []), officeTypes[format], 1_000_000);
    const text = "text" in read ? read.text : "";
    expect(text).toContain("# Piso & garaje");
    expect(text).toContain("## Modelo de la casa (1 de enero de 2025, 10:00)");
    expect(text).toContain("Adjunto: plano & alzado.pdf");
    expect(text).toContain("### Presupuesto");
    expect(text).toContain("un mes [nota 1].");
    expect(text).toContain("[nota 1] Desde la firma.");
    expect(text).toContain("Son 640 euros [nota: contrato.pdf, página 2. La fianza del local son 640 euros.]");
    expect(text).toMatch(/1\. Firmar\s+• con dos testigos\s+2\. Pagar/);
    expect(text).toContain("Concepto | Importe\nFianza | 640,00 €\nRenta & gastos | 512,50 €");
    expect(text).toMatch(/if a < b:\s+print\("dos {1,2}blancos"\)/);
    expect(text.replace(/\s/g, "")).toContain("C=(P⋅i)/(1−(1+i)^(−n))");
    expect(text.replace(/\s/g, "")).toContain("x=√(b²−4ac)");
    const parts = Object.entries(unzipSync(bytes ?? new Uint8Array())).map(([name, part]) => [name, strFromU8(part)]);
    expect(parts.map(([name]) => name)).toContain(format === "odt" ? "styles.xml" : "word/styles.xml");
    expect(parts.map(([, part]) => part).join()).toContain("https://ejemplo.es/a?b=1&amp;c=2");
    expect(parts.map(([, part]) => part).join()).toContain("Ayuntamiento de Ejemplo &amp; Hijos");
  });

  it("leaves out what no XML may hold", async () => {
    const turns = [{ ...turn, markdown: "informa\ufffeción", sources: [] }];
    const bytes = await makeDocument({ format, title: "Piso", author: "Ana", notice: "", turns }, "ana");
    const parts = Object.values(unzipSync(bytes ?? new Uint8Array())).map((part) => strFromU8(part));
    expect(parts.join()).toContain("información");
    expect(parts.join()).not.toContain("\ufffe");
  });

  it("has drawings as described images, or code when undrawable", async () => {
    const large =
      '```svg\n<svg width="19000" height="300" viewBox="0 0 19000 300"><rect width="9" height="9"/></svg>\n```\n';
    const drawn = `\`\`\`dot\ndigraph { Alta -> Baja }\n\`\`\`\n\n\`\`\`dot\ndigraph { roto ->\n\`\`\`\n\n${large}`;
    const document = { format, title: "Piso", author: "", notice: "", turns: [{ ...turn, markdown: drawn }] };
    const parts = unzipSync((await makeDocument(document, "ana")) ?? new Uint8Array());
    const images = Object.entries(parts).filter(([name]) => name.endsWith(".png"));
    expect(images).toHaveLength(2);
    for (const [, png] of images) expect((await sharp(png).metadata()).width).toBeLessThanOrEqual(3_001);
    const content = strFromU8(parts[format === "odt" ? "content.xml" : "word/document.xml"] ?? new Uint8Array());
    expect(content).toContain("Alta; Baja");
    expect(content).not.toContain("digraph { Alta");
    expect(content).toContain("roto");
  });

  it("is made of replies without a word, too", async () => {
    const document = {
      format,
      title: "Sin fin",
      author: "",
      notice: "",
      turns: Array.from({ length: 3 }, () => ({ ...turn, markdown: "" })),
    };
    const read = await readText(Buffer.from((await makeDocument(document, "ana")) ?? []), officeTypes[format], 10_000);
    expect("text" in read && read.text.match(/## Modelo de la casa/g)).toHaveLength(3);
  });
});
