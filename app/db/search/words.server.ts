import { stemmer } from "@orama/stemmers/spanish";
import { withoutAccents } from "../../process/text/accents.ts";
import { formsOf, inNumbers } from "./numbers.server.ts";

// Words that would match every text: articles, prepositions, forms of ser, haber and tener, question words; the same in English.
const stopWords = new Set(
  `a al algo alguien algun alguna ante antes aqui asi aun aunque cada como con contra cosa cual cuales cualquier cuando cuanta cuantas
  cuanto cuantos cuya cuyo da dar de debe deben del desde dice dicen dime donde dos durante e el ella ellos en entre era eran eres es esa
  esas ese eso esos esta estan estar estas este esto estos fue fueron ha haber habia han hasta hay he la las le les lo los mas me mi
  mientras mis mucho muy nada necesito ni no nos nosotros o os otra otro para parte pasa pero poco poder podria por porque pueda puede pueden
  puedo pues que quien quienes quiero sea segun ser si siempre sido sin sobre son soy su sus tal tambien tan tanto te tendra tener tengo ti
  tiene tienen toca todo todos tras tu tus un una unas uno unos usa va van vez vosotros y ya yo
  about an and any are as at be by can do does for from had has have how i in into is it its me my of on or our should that the their there
  they this to was we were what when where which who why will with would you your`
    .split(/\s+/)
    .filter(Boolean),
);

const longestWord = 60;

/** Lowercase words without accents (ñ stays: «ano» is not «año»), stemmed with Snowball's Spanish rules; without other forms of numbers. */
export function plainWords(text: string): string[] {
  // No real word is longer. Stemming a word of a hundred thousand letters would take minutes.
  const short = wordsOf(text).filter((word) => word.length <= longestWord);
  return short.map(stemOf).filter((word) => word.length > 0);
}

/** Tokens that are indexed for a text: its words, its numbers and dates in one form each, and its abbreviations without their dots. */
export const searchWords = (text: string): string[] => [...plainWords(text), ...inNumbers(text), ...undotted(text)];

/** The abbreviations of a text that are written with dots, as one word each: «I.R.P.F.» is «IRPF», and «EE.UU.» is «EEUU». */
const undotted = (text: string): string[] =>
  (text.match(/(?<![\p{L}\p{N}.])\p{L}{1,2}(?:\.\p{L}{1,2}){1,7}(?![\p{L}\p{N}])/gu) ?? []).map((abbreviation) =>
    stemOf(abbreviation.replaceAll(".", "").toLowerCase()),
  );

/** How a word is indexed: the same with and without its accents, which people leave out. */
export const stemOf = (word: string): string => withoutLastI(fold(singular(stemmer(asStemmed(word)))));

// Snowball knows «-ción» only with its accent, and takes «-ía» with it for the end of a verb.
const asStemmed = (word: string) => fold(word).replace(/(?<=[cs]i)on$/, "ón");
// «policia» and «recibio», beside «policial» and «recibir». Shorter stems would be other words: «María» is no «mar».
const withoutLastI = (stem: string) => (stem.length > 4 ? stem.replace(/i$/, "") : stem);

/** A text without signs that part words and are not seen, and with letters in the place of ligatures of print. */
const withoutHiddenSigns = (text: string): string =>
  /[\u00ad\u200b-\u200d\u2060\ufb00-\ufb06\ufeff]/.test(text)
    ? text
        .replace(/(?<=\p{L})[\u00ad\u200b-\u200d\u2060\ufeff](?=\p{L})/gu, "")
        .replace(/[\ufb00-\ufb06]/g, (ligature) => ligature.normalize("NFKC"))
    : text;

/** A text with raised digits as digits: part of the word after a letter or two, as in «m²»; else apart, as are exponents and notes. */
const withPlainDigits = (text: string): string =>
  /[\u00b2\u00b3\u00b9\u2070-\u2079]/.test(text)
    ? text.replace(
        /(?<=(\p{N}|\p{L}{3})?)[\u00b2\u00b3\u00b9\u2070-\u2079]+/gu,
        (digits, word?: string) => `${word ? " " : ""}${digits.normalize("NFKC")}`,
      )
    : text;

/** The words of a text, and its emoji, each as a word of letters: the engines index nothing else. */
const wordsOf = (text: string, { asked = false } = {}): string[] =>
  (
    withPlainDigits(withoutHiddenSigns(text))
      .toLowerCase()
      .normalize("NFC")
      .match(/[\p{L}\p{N}]+|\p{Extended_Pictographic}/gu) ?? []
  ).flatMap((word) => {
    if (/^\p{Extended_Pictographic}$/u.test(word)) return `emoji${word.codePointAt(0)?.toString(16)}`;
    return unspaced.test(word) ? partsOf(word, asked) : word;
  });

// Chinese, Japanese and Thai put no spaces between words.
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const run = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー]+/gu;

/**
 * Index terms of a word in a script without spaces: each character and each pair of neighbours; a question asks for the pairs, or for a
 * lone character.
 */
function partsOf(word: string, asked: boolean): string[] {
  const others = word.split(run).filter(Boolean);
  const pairs = (word.match(run) ?? []).flatMap((text) => {
    const characters = [...text].slice(0, longestWord * 20);
    const both = characters.slice(1).map((character, at) => `${characters[at]}${character}`);
    if (asked) return both.length > 0 ? both : characters;
    return [...characters, ...both];
  });
  return [...others, ...pairs];
}

// Snowball keeps the plural of short words: «años» would not find «año».
const singular = (stem: string) => (stem.length > 3 ? stem.replace(/(?<=[aeiou])s$/, "") : stem);

const fold = (word: string) => withoutAccents(word.replaceAll("ñ", "\u0001")).replaceAll("\u0001", "ñ");

const termsAtMost = 24;

/** The words of a question without stop words, as they are indexed; all of them if it has only stop words. */
export function questionWords(question: string): string[] {
  const asked = wordsOf(question, { asked: true }).filter((word) => word.length <= longestWord);
  const telling = asked.filter(
    (word) => !stopWords.has(fold(word)) && (word.length > 1 || /\d/.test(word) || unspaced.test(word)),
  );
  const used = (telling.length > 0 ? telling : asked).map(stemOf).filter(Boolean);
  return [...new Set([...used, ...formsOf(question), ...undotted(question)])].slice(0, termsAtMost);
}

/** The words of a question that its text may have itself: without forms that only questions get, such as 30 for «treinta». */
export function typedWords(question: string): string[] {
  const indexed = new Set(searchWords(question));
  const onlyAsked = new Set(formsOf(question).filter((form) => !indexed.has(form)));
  return questionWords(question).filter((word) => !onlyAsked.has(word));
}

// Letters «n» tried in a word: no real word has more.
const tildesAtMost = 4;

/** The indexed word with ñ in place of one n each time: many keyboards have no ñ. A typed ñ is never read as n: «año» is not «ano». */
export function withTilde(word: string): string[] {
  const places = [...word.matchAll(/n/g)].slice(0, tildesAtMost).map(({ index }) => index);
  return places.map((at) => `${word.slice(0, at)}ñ${word.slice(at + 1)}`);
}
