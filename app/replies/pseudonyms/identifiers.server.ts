import { getCountrySpecifications, ValidationErrorsIBAN, validateIBAN } from "ibantools";
import { isValidPhoneNumber } from "libphonenumber-js/min";
import { validate as isCuit } from "stdnum/lib/cjs/ar/cuit.js";
import { validate as isRut } from "stdnum/lib/cjs/cl/rut.js";
import { validate as isCif } from "stdnum/lib/cjs/es/cif.js";
import { validate as isDni } from "stdnum/lib/cjs/es/dni.js";
import { validate as isNie } from "stdnum/lib/cjs/es/nie.js";
import { validate as isNif } from "stdnum/lib/cjs/es/nif.js";
import { validate as isNss } from "stdnum/lib/cjs/es/nss.js";
import { validate as isCurp } from "stdnum/lib/cjs/mx/curp.js";
import { luhnChecksumValidate } from "stdnum/lib/cjs/util/checksum.js";

export const kinds = [
  "CORREO",
  "IBAN",
  "CURP",
  "NIE",
  "NIF",
  "DNI",
  "CUIT",
  "RUT",
  "NSS",
  "TARJETA",
  "TELÉFONO",
] as const;
type Kind = (typeof kinds)[number];

/** A text that identifies somebody. `key`: equal for all spellings of one identifier. */
export type Identifier = { start: number; end: number; kind: Kind; key: string };

// Candidates that are checked before other tasks of the process may run.
const atOnce = 200;

/**
 * Identifiers in a text, in their order: those whose check digits are right, e-mail addresses, and numbers that are phone numbers
 * somewhere. The time grows with the length of the text; other tasks of the process run in between.
 */
export async function findIdentifiers(text: string): Promise<Identifier[]> {
  const found: Identifier[] = [];
  let end = 0;
  let looked = 0;
  for (const { index } of text.matchAll(candidate)) {
    if (++looked % atOnce === 0) await new Promise(setImmediate);
    if (index < end) continue;
    const identifier = identifierAt(text, index);
    if (identifier?.isValid) found.push(identifier);
    end = identifier?.end ?? tokenEnd(text, index);
  }
  return found;
}

// Places at which an identifier may begin: a word with an @ in it, a digit, or up to four letters before a digit; not inside a word or a
// number.
const candidate =
  /(?<![\p{L}\p{N}_@]|\d[.,])(?:(?=[\w.%+-]{1,64}@)|(?=[A-Za-z]{1,4}[- .]?\d)|(?=[+(]{0,2}\d)|(?<=(?<![\p{L}\p{N}])[A-Za-z])(?=-\d))/gu;

type Shape = { kind: Kind; pattern: RegExp; isValid(written: string): boolean };
const valid = (check: (value: string) => { isValid: boolean }) => (written: string) =>
  check(written.replace(/[ .\-/]/g, "").toUpperCase()).isValid;

// The order matters: a shape with letters, or with more digits, stands before the shapes that it might be taken for.
const shapes: Shape[] = [
  {
    kind: "CORREO",
    pattern: /[\w.%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,8}\.\p{L}{2,24}/uy,
    isValid: () => true,
  },
  { kind: "CURP", pattern: /[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d/iy, isValid: valid(isCurp) },
  { kind: "NIE", pattern: /[XYZ][- ]?\d\.?\d{3}\.?\d{3}[- ]?[A-Z]/iy, isValid: valid(isNie) },
  { kind: "NIF", pattern: /[ABCDEFGHJNPQRSUVW][- ]?\d{2}\.?\d{3}\.?\d{2}[- ]?[\dA-J]/iy, isValid: valid(isCif) },
  { kind: "NIF", pattern: /[KLM][- ]?\d{7}[- ]?[A-Z]/iy, isValid: valid(isNif) },
  { kind: "DNI", pattern: /\d{2}\.?\d{3}\.?\d{3}[- ]?[A-Z]/iy, isValid: valid(isDni) },
  { kind: "CUIT", pattern: /\d{2}[- ]?\d{8}[- ]?\d/y, isValid: valid(isCuit) },
  { kind: "RUT", pattern: /\d{1,2}\.?\d{3}\.?\d{3}-[\dK]/iy, isValid: valid(isRut) },
  { kind: "NSS", pattern: /\d{2}[ /-]?\d{8}[ /-]?\d{2}/y, isValid: valid(isNss) },
  {
    kind: "TARJETA",
    pattern: /\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -]?)\d{6}\2\d{4,5}/y,
    isValid: (written) => passesLuhn(written.replace(/\D/g, "")),
  },
];

/** Text that looks like an identifier. If its check digits are wrong, no other identifier is looked for inside this text. */
type Looked = Identifier & { isValid: boolean };

function identifierAt(text: string, start: number): Looked | undefined {
  const iban = ibanAt(text, start);
  if (iban) return iban;
  for (const { kind, pattern, isValid } of shapes) {
    pattern.lastIndex = start;
    const written = pattern.exec(text)?.[0];
    if (!written || !isWhole(text, start + written.length) || !isValid(written)) continue;
    return { start, end: start + written.length, kind, key: keyOf(written), isValid: true };
  }
  return phoneAt(text, start);
}

const keyOf = (written: string) => written.replace(/[\s.\-/()]/g, "").toUpperCase();

/** Whether the word or number ends here: no letter, digit or decimals follow. */
const isWhole = (text: string, end: number) => !/^(?:[\p{L}\p{N}_]|[.,/-]\d)/u.test(text.slice(end, end + 3));

const specifications = getCountrySpecifications();

/** The IBAN at this place: as many letters and digits as its country has, in groups or not. */
function ibanAt(text: string, start: number): Looked | undefined {
  if (!/^[A-Za-z]{2}\d{2}/.test(text.slice(start, start + 4))) return;
  const country = text.slice(start, start + 2).toUpperCase();
  const length = specifications[country]?.chars;
  if (!length) return;
  let end = start;
  let written = "";
  for (; written.length < length && end < text.length; end++) {
    const character = text.charAt(end);
    if (/[A-Za-z\d]/.test(character)) written += character;
    else if (!/[ \-\u00a0]/.test(character) || !/[A-Za-z\d]/.test(text.charAt(end + 1))) break;
  }
  if (written.length < length || !isWhole(text, end)) return;
  const { errorCodes } = validateIBAN(written.toUpperCase());
  // Wrong check digits of the account inside the IBAN are ignored: the bank checks those.
  const isValid = errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
  return { start, end, kind: "IBAN", key: written.toUpperCase(), isValid };
}

// Groups of digits of a number; the last groups may belong to another number, so the longest valid part counts.
const phoneGroups = /\(?(?:\+|00)?\(?\d{1,15}\)?(?:[ .-]?\(?\d{2,15}\)?){0,6}/y;

function phoneAt(text: string, start: number): Looked | undefined {
  phoneGroups.lastIndex = start;
  const written = phoneGroups.exec(text)?.[0] ?? "";
  // The longest first, then without its last group, and so on.
  const ends = [...written.matchAll(/\d(?!\d)\)?/g)].map(({ 0: last, index }) => index + last.length).reverse();
  for (const end of ends) {
    const number = written.slice(0, end);
    if (!isWhole(text, start + end) || !isPhone(number)) continue;
    return { start, end: start + end, kind: "TELÉFONO", key: keyOf(number).replace(/^00/, "+"), isValid: true };
  }
  return;
}

function isPhone(number: string): boolean {
  const digits = number.replace(/\D/g, "");
  const isForeign = /^\(?(?:\+|00)/.test(number);
  // A number without a prefix is taken for a Spanish one, which has nine digits.
  const mayBe = isForeign ? digits.length >= 8 && digits.length <= 17 : digits.length === 9 && /^[6-9]/.test(digits);
  return mayBe && isValidPhoneNumber(number.replace(/[()]/g, "").replace(/^00/, "+"), "ES");
}

function passesLuhn(digits: string): boolean {
  // A number of zeros alone would pass, too.
  return digits.length >= 13 && /[1-9]/.test(digits) && luhnChecksumValidate(digits);
}

/** End of the word or number that begins here, so that nothing is looked for in the middle of it. */
function tokenEnd(text: string, start: number): number {
  token.lastIndex = start;
  return start + Math.max(1, token.exec(text)?.[0].length ?? 1);
}
const token = /[\p{L}\p{N}]{1,64}(?:[./-][\p{L}\p{N}]{1,64}){0,8}/uy;
