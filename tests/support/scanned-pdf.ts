/** A PDF of one page with JPEG images of the same size one below the other, as some scanners write it. */
export function scannedPdf(strips: Buffer[], width: number, height: number): Buffer {
  const parts: Buffer[] = [];
  const offsets: number[] = [];
  let length = 0;
  const write = (text: string | Buffer) => {
    const bytes = typeof text === "string" ? Buffer.from(text, "latin1") : text;
    parts.push(bytes);
    length += bytes.length;
  };
  const object = (dictionary: string, stream?: Buffer) => {
    offsets.push(length);
    write(`${offsets.length} 0 obj\n${dictionary}\n`);
    if (stream) {
      write("stream\n");
      write(stream);
      write("\nendstream\n");
    }
    write("endobj\n");
  };
  write("%PDF-1.4\n");
  object("<< /Type /Catalog /Pages 2 0 R >>");
  object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  const names = strips.map((_, n) => `/S${n} ${n + 5} 0 R`).join(" ");
  const box = `[0 0 ${width} ${height * strips.length}]`;
  object(`<< /Type /Page /Parent 2 0 R /MediaBox ${box} /Contents 4 0 R /Resources << /XObject << ${names} >> >> >>`);
  const shown = strips.map((_, n) => `q ${width} 0 0 ${height} 0 ${(strips.length - 1 - n) * height} cm /S${n} Do Q`);
  const content = Buffer.from(shown.join("\n"), "latin1");
  object(`<< /Length ${content.length} >>`, content);
  for (const strip of strips) {
    object(
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${strip.length} >>`,
      strip,
    );
  }
  const start = length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  write(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${entries}`);
  write(`trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(parts);
}
