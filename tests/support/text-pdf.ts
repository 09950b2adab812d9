const linesOnPage = 55;
const lineLength = 90;

/** A PDF of as many pages of a text, which is repeated; in one of the fonts that every reader has. */
export function textPdf(text: string, pages: number): Buffer {
  const lines = text.match(new RegExp(`.{1,${lineLength}}(?:\\s|$)`, "g")) ?? [];
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ];
  const kids: string[] = [];
  for (let page = 0; page < pages; page++) {
    const shown = Array.from({ length: linesOnPage }, (_, n) => lines[(page * linesOnPage + n) % lines.length] ?? "");
    const strings = shown.map((line) => `(${line.trim().replace(/[\\()]/g, "\\$&")}) Tj T*`);
    const content = `BT /F 10 Tf 13 TL 50 800 Td\n${strings.join("\n")}\nET`;
    const number = objects.length + 1;
    kids.push(`${number} 0 R`);
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${number + 1} 0 R /Resources << /Font << /F 3 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    );
  }
  objects[1] = `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${pages} >>`;
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return Buffer.from(
    `${body}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`,
    "latin1",
  );
}
