import { findIdentifiers, kinds } from "./identifiers.server.ts";

const mark = new RegExp(String.raw`\[(${kinds.join("|").replace("É", "[ÉE]")}) (\d{1,5})\]`, "giu");
const longestMark = "[TELÉFONO 99999]".length;
// Pattern of a mark that is still to be completed.
const beginning = /\[[A-ZÉ]{0,8}(?: \d{0,5})?$/iu;

/** The identifiers of one request to a model, and the marks that stand for them there. */
export class Pseudonyms {
  readonly #marks = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** `texts`: all of the request. Marks that people have written themselves stand for nothing and are not given out. */
  constructor(texts: string[]) {
    for (const text of texts) {
      for (const [, kind = "", n] of text.matchAll(mark)) {
        const name = nameOf(kind);
        this.#counts.set(name, Math.max(this.#counts.get(name) ?? 0, Number(n)));
      }
    }
  }

  /** A text with marks in place of its identifiers; the same identifier has the same mark in all texts. */
  async hide(text: string): Promise<string> {
    let hidden = "";
    let from = 0;
    for (const { start, end, kind, key } of await findIdentifiers(text)) {
      hidden += text.slice(from, start) + this.#markFor(kind, key, text.slice(start, end));
      from = end;
    }
    return hidden + text.slice(from);
  }

  #markFor(kind: string, key: string, original: string): string {
    const known = this.#marks.get(`${kind} ${key}`);
    if (known) return known;
    const n = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, n);
    const made = `[${kind} ${n}]`;
    this.#marks.set(`${kind} ${key}`, made);
    this.#originals.set(made, original);
    return made;
  }

  /** A whole text with the identifiers in place of their marks. */
  restore(text: string): string {
    if (this.#originals.size === 0) return text;
    return text.replace(
      mark,
      (whole, kind: string, n: string) => this.#originals.get(`[${nameOf(kind)} ${n}]`) ?? whole,
    );
  }

  /** Restores a text that comes in pieces: a possible beginning of a mark waits for the next piece. */
  restorer(): Restorer {
    return new Restorer((text) => this.restore(text));
  }
}

const nameOf = (kind: string) => kind.toUpperCase().replace("TELEFONO", "TELÉFONO");

class Restorer {
  readonly #restore: (text: string) => string;
  #held = "";

  constructor(restore: (text: string) => string) {
    this.#restore = restore;
  }

  /** Text that can be shown now. */
  feed(piece: string): string {
    const text = this.#held + piece;
    const at = text.slice(-longestMark).search(beginning);
    const cut = at < 0 ? text.length : text.length - Math.min(longestMark, text.length) + at;
    this.#held = text.slice(cut);
    return this.#restore(text.slice(0, cut));
  }

  /** The rest: nothing more comes. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}
