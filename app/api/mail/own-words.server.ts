/** Lines that mail programs write before a quoted text, in the languages that are usual here. */
const quoteBegins = [
  /^\s*-{2,}\s*(?:mensaje original|original message|mensaxe orixinal|missatge original|forwarded message|mensaje reenviado)\s*-{2,}/i,
  /^_{10,}\s*$/,
  // «El lun, 3 mar 2025 a las 10:00, Ana <ana@…> escribió:», which may go over two lines; with a date or an address in any case.
  /^\s*(?:El|On|Le|O|Em|Am)\b(?=.{0,200}[\d@]).{3,200}(?:escribió|wrote|escribiu|escreveu|va escriure|ha escrit|a écrit|schrieb)\s*:\s*$/i,
  /^\s*\*?(?:De|From|Von)\s*:\*?\s.+$/i,
  // «2025(e)ko mar. 3(a), al. (10:00), igorleak hau idatzi du (Ana <ana@…>):»
  /^(?=.{0,300}[\d@]).{0,200}\bidatzi du\b.{0,200}:\s*$/i,
];
const quoteHead =
  /^\s*\*?(?:Enviado|Enviat|Sent|Para|Per a|To|Fecha|Data|Date|Asunto|Assumpte|Tema|Subject)(?:\s+el)?\s*:/i;

const linesOf = (text: string) => text.replace(/\r\n?/g, "\n").split("\n");

/** The writer's own words in an answer, without quoted text and without the text below the signature line. */
export function ownWords(text: string): string {
  const lines = linesOf(text);
  const end = lines.findIndex((line, at) => beginsQuote(lines, line, at));
  const own = lines.slice(0, end < 0 ? lines.length : end).filter((line) => !/^\s*>/.test(line));
  return withoutSignature(own.join("\n"));
}

/** The words of a new e-mail, with what is forwarded in it; nothing where all of it is a quotation. */
export const newWords = (text: string): string =>
  linesOf(text).every((line) => line.trim() === "" || /^\s*>/.test(line)) ? "" : withoutSignature(text);

/** A text without its signature. A text that is forwarded below the signature is kept. */
function withoutSignature(text: string): string {
  const lines = linesOf(text);
  const from = lines.findIndex((line) => /^-- ?$/.test(line));
  if (from < 0) return text.trim();
  const quote = lines.findIndex((line, at) => at > from && beginsQuote(lines, line, at));
  return [...lines.slice(0, from), ...(quote < 0 ? [] : lines.slice(quote))].join("\n").trim();
}

function beginsQuote(lines: string[], line: string, at: number): boolean {
  const [original, rule, wrote, from, basque] = quoteBegins;
  if (original?.test(line) || rule?.test(line) || basque?.test(line)) return true;
  if (wrote?.test(line) || wrote?.test(`${line} ${lines[at + 1] ?? ""}`)) return true;
  // «De:» may begin any line; a quoted head has more lines.
  return Boolean(from?.test(line)) && lines.slice(at + 1, at + 4).some((next) => quoteHead.test(next));
}
