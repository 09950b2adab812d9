import { type Element, elementsOf, treeOf } from "../../../process/text/xml.server.ts";

export type Level = { start: number; format: string; text: string; isLegal: boolean; style: string | undefined };
export type Scheme = { levels: Map<number, Level>; styleLink: string | undefined };
export type Instance = { scheme: string; levels: Map<number, Level>; starts: Map<number, number> };

export type NumberingRules = { schemes: Map<string, Scheme>; instances: Map<string, Instance> };

const levelsAtMost = 9;
// In characters: a number with its words, such as «Cláusula %1.%2».
const textAtMost = 100;

/** Numbers of a Word document's paragraphs: the document keeps only rules, and Word counts when it shows the text. */
export class Numbering {
  readonly #schemes: Map<string, Scheme>;
  readonly #instances: Map<string, Instance>;
  readonly #counted = new Map<string, number[]>();
  readonly #restarted = new Set<string>();

  /** `instances`: by the ids that paragraphs refer to; `schemes` by those that instances do. */
  constructor({ schemes, instances }: NumberingRules) {
    this.#schemes = schemes;
    this.#instances = instances;
  }

  /** The level of a numbering that is meant for paragraphs of this style. */
  levelOfStyle(numId: string, style: string): number | undefined {
    const scheme = this.#schemes.get(this.#instances.get(numId)?.scheme ?? "");
    return [...(scheme?.levels ?? [])].find(([, level]) => level.style === style)?.[0];
  }

  /** Style whose numbering this numbering refers to. */
  styleOf(numId: string): string | undefined {
    return this.#schemes.get(this.#instances.get(numId)?.scheme ?? "")?.styleLink;
  }

  /** The next number of this level, such as «4.2» or «a)»; «-» for a bullet, empty for none. */
  next(numId: string, at: number): string {
    const instance = this.#instances.get(numId);
    const scheme = instance && this.#schemes.get(instance.scheme);
    const levelAt = (n: number) => instance?.levels.get(n) ?? scheme?.levels.get(n);
    const level = levelAt(at);
    if (!instance || !level || !Number.isInteger(at) || at < 0 || at >= levelsAtMost) return "";
    const counts = this.#counted.get(instance.scheme) ?? [];
    this.#counted.set(instance.scheme, counts);
    if (level.format === "bullet") {
      counts.length = Math.min(counts.length, at + 1);
      return "-";
    }
    const restart = instance.starts.get(at);
    const isRestart = restart !== undefined && !this.#restarted.has(`${numId} ${at}`);
    if (isRestart) this.#restarted.add(`${numId} ${at}`);
    counts[at] = isRestart ? restart : (counts[at] ?? level.start - 1) + 1;
    counts.length = at + 1;
    return level.text.replace(/%(\d)/g, (_, digit: string) => {
      const shown = levelAt(Number(digit) - 1);
      const count = counts[Number(digit) - 1] ?? shown?.start ?? 1;
      return formatted(count, level.isLegal ? "decimal" : (shown?.format ?? "decimal"));
    });
  }
}

/** Rules of a DOCX (numbering.xml). */
export function numberingRules(xml: string | undefined): NumberingRules {
  const schemes = new Map<string, Scheme>();
  const instances = new Map<string, Instance>();
  const root = xml ? elementsOf(treeOf(xml)).find(({ name }) => name === "w:numbering") : undefined;
  for (const element of root ? elementsOf(root) : []) {
    const { attributes } = element;
    if (element.name === "w:abstractNum") {
      const styleLink = childValue(element, "w:numStyleLink");
      schemes.set(attributes["w:abstractNumId"] ?? "", { levels: levelsIn(element), styleLink });
    } else if (element.name === "w:num") {
      const overrides = elementsOf(element).filter(({ name }) => name === "w:lvlOverride");
      const starts = overrides.flatMap((one): [number, number][] => {
        const start = childValue(one, "w:startOverride");
        return start === undefined ? [] : [[Number(one.attributes["w:ilvl"]), Number(start)]];
      });
      instances.set(attributes["w:numId"] ?? "", {
        scheme: childValue(element, "w:abstractNumId") ?? "",
        levels: new Map(overrides.flatMap((one) => [...levelsIn(one)])),
        starts: new Map(starts),
      });
    }
  }
  return { schemes, instances };
}

function levelsIn(element: Element): Map<number, Level> {
  return new Map(
    elementsOf(element)
      .filter(({ name }) => name === "w:lvl")
      .map((level) => [
        Number(level.attributes["w:ilvl"]),
        {
          start: Number(childValue(level, "w:start") ?? 1),
          format: childValue(level, "w:numFmt") ?? "decimal",
          text: (childValue(level, "w:lvlText") ?? "").slice(0, textAtMost),
          isLegal: elementsOf(level).some(({ name }) => name === "w:isLgl"),
          style: childValue(level, "w:pStyle"),
        },
      ]),
  );
}

const childValue = (element: Element, name: string) =>
  elementsOf(element).find((child) => child.name === name)?.attributes["w:val"];

/** A number as a list writes it: in letters, in Roman numerals, or in digits. */
export function formatted(count: number, format: string): string {
  switch (format) {
    case "upperRoman":
      return roman(count);
    case "lowerRoman":
      return roman(count).toLowerCase();
    case "upperLetter":
      return letters(count);
    case "lowerLetter":
      return letters(count).toLowerCase();
    case "decimalZero":
      return String(count).padStart(2, "0");
    case "ordinal":
      return `${count}.º`;
    case "ordinalText":
      return ordinals[count - 1] ?? `${count}.º`;
    case "cardinalText":
      return cardinals[count - 1] ?? String(count);
    case "none":
      return "";
    default:
      return String(count);
  }
}

// As Word writes them in Spanish.
const ordinals = "Primero Segundo Tercero Cuarto Quinto Sexto Séptimo Octavo Noveno Décimo Undécimo Duodécimo".split(
  " ",
);
const cardinals = "Uno Dos Tres Cuatro Cinco Seis Siete Ocho Nueve Diez Once Doce".split(" ");

/** A to Z, then AA to ZZ, as Word goes on. */
function letters(count: number): string {
  if (count < 1 || count > 26 * 20) return String(count);
  return String.fromCharCode(65 + ((count - 1) % 26)).repeat(Math.ceil(count / 26));
}

const numerals: [number, string][] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

function roman(count: number): string {
  if (count < 1 || count > 3_999) return String(count);
  let left = count;
  let text = "";
  for (const [value, numeral] of numerals) {
    while (left >= value) {
      text += numeral;
      left -= value;
    }
  }
  return text;
}
