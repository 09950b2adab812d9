/** Lines that mail programs write before a quoted text, in the languages that are usual here. */
const quoteBegins = [
  /^\s*-{2,}\s*(?:mensaje original|original message|mensaxe orixinal|missatge original|forwarded message|mensaje reenviado)\s*-{2,}/i,
  /^_{10,}\s*$/,
  // «El lun, 3 mar 2025 a las 10:00, Ana <ana@…> escribió:», which may go over two lines.
  /^\s*(?:El|On|Le|O|Em|Am)\b.{3,200}(?:escribió|wrote|escribiu|escreveu|va escriure|a écrit|schrieb)\s*:\s*$/i,
  /^\s*(?:De|From|Von)\s*:\s.+$/i,
];
const quoteHead = /^\s*(?:Enviado|Sent|Para|To|Fecha|Date|Asunto|Subject)(?:\s+el)?\s*:/i;

/** The writer's own words in an e-mail, without quoted text and without the text below the signature line. */
export function ownWords(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const end = lines.findIndex((line, at) => beginsQuote(lines, line, at));
  const own = lines.slice(0, end < 0 ? lines.length : end);
  const signature = own.findIndex((line) => /^-- ?$/.test(line));
  return own
    .slice(0, signature < 0 ? own.length : signature)
    .filter((line) => !/^\s*>/.test(line))
    .join("\n")
    .trim();
}

function beginsQuote(lines: string[], line: string, at: number): boolean {
  const [original, rule, wrote, from] = quoteBegins;
  if (original?.test(line) || rule?.test(line)) return true;
  if (wrote?.test(line) || wrote?.test(`${line} ${lines[at + 1] ?? ""}`)) return true;
  // «De:» may begin any line; a quoted head has more lines.
  return Boolean(from?.test(line)) && lines.slice(at + 1, at + 4).some((next) => quoteHead.test(next));
}
