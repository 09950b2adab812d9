import { type Attributes, parseXml } from "../../../process/text/xml.server.ts";
import { formatted } from "./numbering.server.ts";

type Level = { format: string; prefix: string; suffix: string; start: number; shownLevels: number; isBullet: boolean };
/** Levels of lists by the name of their style; the outline of headings has the name `outline`. */
export type ListStyles = Map<string, Map<number, Level>>;

const levelsAtMost = 10;

export type DocumentStyles = { lists: ListStyles; hidden: Set<string>; raised: Set<string>; struck: Set<string> };

export const outline = "outline";

/** The styles of lists in these parts of an OpenDocument file, and those of text that is raised, struck out or not shown. */
export function stylesIn(parts: string[]): DocumentStyles {
  const styles: ListStyles = new Map();
  const hidden = new Set<string>();
  const raised = new Set<string>();
  const struck = new Set<string>();
  for (const xml of parts) {
    let levels: Map<number, Level> | undefined;
    let style = "";
    parseXml(xml, {
      open(name, attributes) {
        if (name === "text:list-style" || name === "text:outline-style") {
          levels = new Map();
          styles.set(name === "text:outline-style" ? outline : (attributes["style:name"] ?? ""), levels);
        } else if (name === "style:style") style = attributes["style:name"] ?? "";
        else if (name === "style:text-properties") {
          if (attributes["text:display"] === "none") hidden.add(style);
          if (/^(?:super|[1-9])/.test(attributes["style:text-position"] ?? "")) raised.add(style);
          if (/^(?!none)./.test(attributes["style:text-line-through-style"] ?? "")) struck.add(style);
        } else if (levels && /^text:(?:list|outline)-level-style/.test(name)) {
          levels.set(Number(attributes["text:level"] ?? 1), levelOf(name, attributes));
        }
      },
      close(name) {
        if (name === "text:list-style" || name === "text:outline-style") levels = undefined;
        else if (name === "style:style") style = "";
      },
    });
  }
  hidden.delete("");
  return { lists: styles, hidden, raised, struck };
}

const levelOf = (name: string, attributes: Attributes): Level => ({
  format: attributes["style:num-format"] ?? "",
  prefix: attributes["style:num-prefix"] ?? "",
  suffix: attributes["style:num-suffix"] ?? "",
  start: Number(attributes["text:start-value"] ?? 1),
  shownLevels: Number(attributes["text:display-levels"] ?? 1),
  isBullet: !name.endsWith("-number") && name !== "text:outline-level-style",
});

const formats: Record<string, string> = {
  "1": "decimal",
  a: "lowerLetter",
  A: "upperLetter",
  i: "lowerRoman",
  I: "upperRoman",
};

/** Counts the items of lists, which OpenDocument keeps without their numbers. */
export class ListCounts {
  readonly #styles: ListStyles;
  readonly #counts = new Map<string, number[]>();

  constructor(styles: ListStyles) {
    this.#styles = styles;
  }

  /** Restarts the numbers of a list that does not continue another. */
  restart(style: string): void {
    this.#counts.delete(style);
  }

  /** The next number of this level, from 1, such as «4.2.»; «-» for a bullet, empty for none. `from`: number that an item sets. */
  next(style: string, level: number, from?: number): string {
    const levels = this.#styles.get(style);
    const own = levels?.get(level);
    if (!own || !Number.isInteger(level) || level < 1 || level > levelsAtMost) return style === outline ? "" : "-";
    const counts = this.#counts.get(style) ?? [];
    this.#counts.set(style, counts);
    if (own.isBullet) {
      counts.length = Math.min(counts.length, level + 1);
      return "-";
    }
    counts[level] = from ?? (counts[level] ?? own.start - 1) + 1;
    counts.length = level + 1;
    if (!own.format) return "";
    const shown: string[] = [];
    for (let at = Math.max(1, level - Math.min(own.shownLevels, levelsAtMost) + 1); at <= level; at++) {
      const { format = "1", start = 1 } = levels?.get(at) ?? {};
      if (format) shown.push(formatted(counts[at] ?? start, formats[format] ?? "decimal"));
    }
    return `${own.prefix}${shown.join(".")}${own.suffix}`.trim();
  }
}
