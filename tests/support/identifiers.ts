// Identifiers with right and wrong check digits, made by the rules of who gives them out; what is tested has them from elsewhere.

export type Sample = { kind: string; written: string; isValid: boolean };

/** The same numbers in each run (mulberry32). */
function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const pick = random(20261123);
const digits = (count: number) => Array.from({ length: count }, () => pick(10)).join("");
const oneOf = <Item>(items: readonly Item[]) => items[pick(items.length)] as Item;
/** Another one of these characters than the right one. */
const wrong = (right: string, from: string) => oneOf([...from].filter((character) => character !== right));

const letters = "TRWAGMYFPDXBNJZSQVHLCKE";
const dniLetter = (number: number) => letters[number % 23] ?? "";
const mod97 = (text: string) => [...text].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0);
const asNumbers = (text: string) => text.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));

function dni(isValid: boolean): string {
  const number = digits(8);
  const right = dniLetter(Number(number));
  const letter = isValid ? right : wrong(right, letters);
  return oneOf([
    `${number}${letter}`,
    `${number}-${letter}`,
    `${number.replace(/(..)(...)(...)/, "$1.$2.$3")}-${letter}`,
  ]);
}

function nie(isValid: boolean): string {
  const first = oneOf(["X", "Y", "Z"]);
  const number = digits(7);
  const right = dniLetter(Number(`${"XYZ".indexOf(first)}${number}`));
  const letter = isValid ? right : wrong(right, letters);
  return oneOf([`${first}${number}${letter}`, `${first}-${number}-${letter}`]);
}

function nif(isValid: boolean): string {
  const first = oneOf(["A", "B", "E", "H"]);
  const number = `28${digits(5)}`;
  const sum = [...number].reduce((total, digit, at) => {
    const twice = Number(digit) * 2;
    return total + (at % 2 === 1 ? Number(digit) : Math.floor(twice / 10) + (twice % 10));
  }, 0);
  const right = String((10 - (sum % 10)) % 10);
  const control = isValid ? right : wrong(right, "0123456789");
  return oneOf([`${first}${number}${control}`, `${first}-${number}${control}`]);
}

function iban(isValid: boolean): string {
  const account = digits(20);
  const right = String(98 - mod97(asNumbers(`${account}ES00`))).padStart(2, "0");
  const check = isValid ? right : String((Number(right) + 1 + pick(90)) % 97).padStart(2, "0");
  const whole = `ES${check}${account}`;
  return oneOf([whole, whole.replace(/(.{4})(?=.)/g, "$1 ")]);
}

function nss(isValid: boolean): string {
  const province = oneOf(["08", "28", "41", "46"]);
  const number = `1${digits(7)}`;
  const right = String(Number(province + number) % 97).padStart(2, "0");
  const check = isValid ? right : String((Number(right) + 1 + pick(90)) % 97).padStart(2, "0");
  return oneOf([`${province}${number}${check}`, `${province} ${number} ${check}`, `${province}/${number}/${check}`]);
}

function card(isValid: boolean): string {
  const start = `4${digits(14)}`;
  const sum = [...start].reduce((total, digit, at) => {
    const twice = Number(digit) * (at % 2 === 0 ? 2 : 1);
    return total + (twice > 9 ? twice - 9 : twice);
  }, 0);
  const right = String((10 - (sum % 10)) % 10);
  const whole = start + (isValid ? right : wrong(right, "0123456789"));
  return oneOf([whole, whole.replace(/(.{4})(?=.)/g, "$1 "), whole.replace(/(.{4})(?=.)/g, "$1-")]);
}

function cuit(isValid: boolean): string {
  const weights = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2];
  for (;;) {
    const start = `${oneOf(["20", "27", "30"])}${digits(8)}`;
    const rest = 11 - ([...start].reduce((total, digit, at) => total + Number(digit) * (weights[at] ?? 0), 0) % 11);
    // With this rest the prefix would be another one.
    if (rest === 10) continue;
    const right = rest === 11 ? "0" : String(rest);
    const check = isValid ? right : wrong(right, "0123456789");
    return oneOf([`${start}${check}`, `${start.slice(0, 2)}-${start.slice(2)}-${check}`]);
  }
}

function rut(isValid: boolean): string {
  const number = `${1 + pick(2)}${digits(7)}`;
  const sum = [...number].reverse().reduce((total, digit, at) => total + Number(digit) * (2 + (at % 6)), 0);
  const rest = 11 - (sum % 11);
  const right = rest === 11 ? "0" : rest === 10 ? "K" : String(rest);
  const check = isValid ? right : wrong(right, "0123456789K");
  return oneOf([`${number}-${check}`, `${number.replace(/(..)(...)(...)/, "$1.$2.$3")}-${check}`]);
}

const curpAlphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ";
function curp(isValid: boolean): string {
  const born = `${70 + pick(29)}${String(1 + pick(12)).padStart(2, "0")}${String(1 + pick(28)).padStart(2, "0")}`;
  const consonants = () => oneOf([..."BCDFGHJKLMNPQRSTVWXYZ"]);
  const start = `G${oneOf(["A", "E", "O"])}${consonants()}${consonants()}${born}${oneOf(["H", "M"])}${oneOf(["DF", "JC", "NL"])}${consonants()}${consonants()}${consonants()}0`;
  const sum = [...start].reduce((total, character, at) => total + curpAlphabet.indexOf(character) * (18 - at), 0);
  const right = String((10 - (sum % 10)) % 10);
  return start + (isValid ? right : wrong(right, "0123456789"));
}

/** Without check digits: a number that some country gives out, or one that none does. */
const phone = (isValid: boolean) =>
  isValid
    ? oneOf([
        `6${digits(8)}`,
        `6${digits(2)} ${digits(3)} ${digits(3)}`,
        `+34 91${digits(1)} ${digits(2)} ${digits(2)} ${digits(2)}`,
      ])
    : oneOf([`1${digits(8)}`, `2${digits(2)} ${digits(3)} ${digits(3)}`]);
const email = (isValid: boolean) =>
  isValid ? `p${digits(4)}@ejemplo${digits(2)}.es` : oneOf([`p${digits(4)}@`, `@p${digits(4)}x`]);

const makers = {
  DNI: dni,
  NIE: nie,
  NIF: nif,
  IBAN: iban,
  NSS: nss,
  TARJETA: card,
  CUIT: cuit,
  RUT: rut,
  CURP: curp,
  TELÉFONO: phone,
  CORREO: email,
};

/** As many of each kind, half of them with a check digit that is wrong. */
export function identifiers(count: number): Sample[] {
  const kinds = Object.entries(makers);
  return Array.from({ length: count }, (_, at) => {
    const [kind, make] = kinds[at % kinds.length] as (typeof kinds)[number];
    const isValid = Math.floor(at / kinds.length) % 2 === 0;
    return { kind, written: make(isValid), isValid };
  });
}
