// Numbers and dates are written in many ways; the index has one form of each, beside the words of the text.

const months = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" ");
const units =
  "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve treinta".split(
    " ",
  );
const tens: Record<string, number> = {
  treinta: 30,
  cuarenta: 40,
  cincuenta: 50,
  sesenta: 60,
  setenta: 70,
  ochenta: 80,
  noventa: 90,
};
const hundreds: Record<string, number> = {
  cien: 100,
  ciento: 100,
  doscientos: 200,
  trescientos: 300,
  cuatrocientos: 400,
  quinientos: 500,
  mil: 1000,
};
const ordinals: Record<string, number> = {
  primero: 1,
  primera: 1,
  segundo: 2,
  segunda: 2,
  tercero: 3,
  tercera: 3,
  cuarto: 4,
  cuarta: 4,
  quinto: 5,
  quinta: 5,
  sexto: 6,
  sexta: 6,
  séptimo: 7,
  octavo: 8,
  noveno: 9,
  décimo: 10,
};

const spelled = new Map<string, number>([
  ...units.map((word, value): [string, number] => [bare(word), value]),
  ...Object.entries({ ...tens, ...hundreds, ...ordinals }).map(([word, value]): [string, number] => [
    bare(word),
    value,
  ]),
]);

const monthNames = months.map(bare).join("|");
const dateInWords = new RegExp(
  `\\b(\\d{1,2})(?:º|er|o)? (?:de )?(${monthNames}|setiembre)(?: (?:de |del )?(\\d{4}))?\\b`,
  "g",
);
const dateInDigits = /(?<![\d/.-])(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?![\d/-])/g;
const dateByYear = /(?<![\d/.-])(\d{4})-(\d{2})-(\d{2})(?!\d)/g;
// 1.250, 1 250,50, 3,5: dots or spaces between thousands, a comma before decimals.
const amount = /(?<![\d.,/-])\d{1,3}(?:[. \u00a0\u202f]\d{3})+(?:,\d+)?(?![\d/])|(?<![\d.,/-])\d+[,.]\d{1,2}(?![\d/])/g;
// Identifiers: letters and digits with dashes, dots or slashes between, like 12.345.678-Z or AB-1234.
const code = /(?<!\w)[a-z\d]+(?:[./-][a-z\d]+)+/g;
// Numbers in groups, which people type without blanks: accounts such as ES91 2100 0418 4502 0005 1332, cards, telephones.
const groups =
  /(?<![\w.,/-])(?:[a-z]{2}\d\d(?: [a-z\d]{4}){2,7}(?: [a-z\d]{1,3})?|\+?\d{2,4}(?: \d{2,10}){2,7})(?![\w/-])/g;
// Digits of the shortest telephone number.
const groupsAtLeast = 9;
const bothAtMost = 400;

/** The indexed forms of the amounts, dates and codes that a text has. */
export function inNumbers(text: string): string[] {
  // Models and word processors write hyphens of other kinds.
  const plain = bare(text.toLowerCase()).replace(/(?<=[a-zñ\d])[\u2010-\u2013](?=[a-zñ\d])/g, "-");
  if (!/\d/.test(plain)) return [];
  const found = new Set<string>();
  for (const [, day = "", month = "", year] of plain.matchAll(dateInWords)) {
    const number = month === "setiembre" ? 9 : months.findIndex((name) => bare(name) === month) + 1;
    addDate(found, Number(day), number, year);
  }
  for (const [, day = "", month = "", year = ""] of plain.matchAll(dateInDigits))
    addDate(found, Number(day), Number(month), year);
  for (const [, year = "", month = "", day = ""] of plain.matchAll(dateByYear))
    addDate(found, Number(day), Number(month), year);
  for (const [written] of plain.matchAll(amount)) found.add(oneForm(written));
  for (const [written] of plain.matchAll(code)) if (/\d/.test(written)) found.add(written.replace(/[^a-z\d]/g, ""));
  for (const [written] of plain.matchAll(groups)) {
    const joined = written.replace(/[^a-z\d]/g, "");
    if (joined.length >= groupsAtLeast) found.add(joined);
  }
  return [...found].slice(0, bothAtMost);
}

/** The same forms for a question, and digits for its numbers in words: a text has «14», the question has «catorce». */
export function formsOf(question: string): string[] {
  const words = bare(question.toLowerCase()).match(/[a-zñ]+/g) ?? [];
  const said = words.flatMap((word) => {
    const value = spelled.get(word);
    return value === undefined || value < 2 ? [] : [String(value)];
  });
  return [...inNumbers(question), ...said];
}

/** Adds a date as day and month, and again with the year if it is known: a question may leave the year out. */
function addDate(found: Set<string>, day: number, month: number, year: string | undefined): void {
  if (day < 1 || day > 31 || month < 1 || month > 12) return;
  const two = (value: number) => String(value).padStart(2, "0");
  found.add(`d${two(month)}${two(day)}`);
  if (year) found.add(`d${year.length === 2 ? `20${year}` : year}${two(month)}${two(day)}`);
}

/** An amount without separators between thousands; its decimals come after «x», and zeros are left out. */
function oneForm(written: string): string {
  const [, whole = "", decimals = ""] = /^(.*?)(?:[,.](\d{1,2}))?$/.exec(written) ?? [];
  const digits = whole.replace(/\D/g, "");
  return /[1-9]/.test(decimals) ? `${digits}x${decimals.replace(/0$/, "")}` : digits;
}

function bare(text: string): string {
  return text.replaceAll("ñ", "\u0001").normalize("NFD").replace(/\p{M}/gu, "").replaceAll("\u0001", "ñ");
}
