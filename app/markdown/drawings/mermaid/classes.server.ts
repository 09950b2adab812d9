import { CannotDraw } from "../drawing.server.ts";
import { directionLine, directionOf, type LineKind, markedUp, quoted, readLine, wordsOf } from "./words.server.ts";

type Class = { title: string; kind: string; members: string[] };

// Ends of a relation, and the arrows of Graphviz that they stand for.
const ends: Record<string, string> = {
  "": "none",
  "<|": "empty",
  "|>": "empty",
  "*": "diamond",
  o: "odiamond",
  "<": "vee",
  ">": "vee",
};
const name = "(`[^`]+`|[\\p{L}\\p{N}_.-]+(?:~[^\\s~]+(?:~[^~\\s]+)*~+)?)";
const relation = new RegExp(
  `^${name}\\s*(?:"([^"]*)"\\s*)?(<\\||\\*|o|<)?(--|\\.\\.)(\\|>|\\*|o|>)?\\s*(?:"([^"]*)"\\s*)?${name}\\s*(?::\\s*(.*))?$`,
  "u",
);
const opened = new RegExp(`^class\\s+${name}\\s*(?:\\["([^"]*)"\\])?\\s*(?::::[\\w-]+)?\\s*(\\{)?\\s*(\\})?$`, "u");
const note = new RegExp(`^note\\s+(?:for\\s+${name}\\s+)?"([^"]*)"$`, "u");
const member = new RegExp(`^${name}\\s*:\\s*(.+)$`, "u");

/** A diagram of classes of Mermaid in Graphviz's language. Throws CannotDraw where any of it is not understood. */
export const classesAsDot = (lines: string[]): string => new Reading(lines).dot();

const keyOf = (written: string) => written.replaceAll("`", "").replace(/~.*$/, "");
const idOf = (written: string) => quoted(keyOf(written));

/** Lines of a diagram of classes, one after the other, as statements of Graphviz. */
class Reading {
  readonly #classes = new Map<string, Class>();
  readonly #links: string[] = [];
  readonly #notes: string[] = [];
  readonly #groups: { title: string; classes: Set<string> }[] = [];
  /** The class, and the namespace, whose brace is open. */
  #within: Class | undefined;
  #group: Set<string> | undefined;
  #direction = "TB";

  readonly #kinds: LineKind[] = [
    [note, (about, text) => this.#note(about, text)],
    [/^namespace\s+([^\s{]+)\s*\{$/, (title) => this.#openGroup(title)],
    [/^\}$/, () => this.#closeGroup()],
    [relation, (...ends) => this.#relate(...ends)],
    [opened, (written, title, brace, closed) => this.#open(written, title, brace !== "" && closed === "")],
    [/^<<(.+)>>\s+(\S+)$/, (kind, written) => Object.assign(this.#classOf(written), { kind })],
    [member, (written, text) => addMember(this.#classOf(written), text)],
    [directionLine, (to) => (this.#direction = directionOf(to))],
    [/^(?:classDef|cssClass|style|click|link|callback|accTitle|accDescr)\b/, () => true],
  ];

  /** Throws CannotDraw where a line is not understood. */
  constructor(lines: string[]) {
    for (const line of lines) {
      const text = line.trim().replace(/;$/, "");
      if (!this.#within) readLine(line, this.#kinds);
      else if (text === "}") this.#within = undefined;
      else addMember(this.#within, text);
    }
    if (this.#within || this.#group) throw new CannotDraw("No se entiende como Mermaid: le falta una llave.");
    if (this.#classes.size === 0) throw new CannotDraw("No se entiende como Mermaid: no dibuja nada.");
  }

  dot(): string {
    const nodes = [...this.#classes].map(([key, one]) => `${quoted(key)} [label=<${boxOf(one)}>]`);
    const clusters = this.#groups.map(
      ({ title, classes }, n) =>
        `subgraph cluster${n} { label=${quoted(title)}; style=rounded; color=gray60; ${[...classes].join("; ")} }`,
    );
    const all = [...nodes, ...this.#notes, ...clusters, ...this.#links].join("; ");
    return `digraph { rankdir=${this.#direction}; node [shape=plain]; ${all} }`;
  }

  #classOf(written: string): Class {
    const key = keyOf(written);
    const known = this.#classes.get(key) ?? { title: key, kind: "", members: [] };
    // The title gets the parameters of its type once.
    const generic = /~(.+)~$/.exec(written)?.[1];
    if (generic && !known.title.includes("<")) known.title = `${known.title}<${generic.replace(/~(.+?)~/g, "<$1>")}>`;
    this.#classes.set(key, known);
    return known;
  }

  #open(written: string, title: string, isOpen: boolean): void {
    const one = this.#classOf(written);
    if (title) one.title = wordsOf(title);
    this.#group?.add(idOf(written));
    if (isOpen) this.#within = one;
  }

  #note(about: string, text: string): void {
    const id = quoted(` note ${this.#notes.length}`);
    this.#notes.push(`${id} [shape=note, style=filled, fillcolor="#fff6d6", label=${quoted(wordsOf(text))}]`);
    if (!about) return;
    this.#classOf(about);
    this.#links.push(`${idOf(about)} -> ${id} [style=dashed, dir=none]`);
  }

  #openGroup(title: string): void {
    this.#group = new Set();
    this.#groups.push({ title, classes: this.#group });
  }

  /** False where no namespace is open. */
  #closeGroup(): boolean {
    const wasOpen = this.#group !== undefined;
    this.#group = undefined;
    return wasOpen;
  }

  #relate(from = "", many = "", tail = "", kind = "", head = "", other = "", to = "", label = ""): void {
    this.#classOf(from);
    this.#classOf(to);
    const looks = [
      `dir=both, arrowtail=${ends[tail]}, arrowhead=${ends[head]}`,
      kind === ".." && "style=dashed",
      many && `taillabel=${quoted(many)}`,
      other && `headlabel=${quoted(other)}`,
      label && `label=${quoted(wordsOf(label))}`,
    ];
    this.#links.push(`${idOf(from)} -> ${idOf(to)} [${looks.filter(Boolean).join(", ")}]`);
  }
}

function addMember(one: Class, text: string): void {
  const kind = /^<<(.+)>>$/.exec(text)?.[1];
  if (kind) one.kind = kind;
  else one.members.push(typed(text));
}

/** A member with the parameters of its types in angles. */
const typed = (text: string) =>
  text
    .replace(/~([^~\s]+)~/g, "<$1>")
    .replace(/[*$]$/, "")
    .trim();

function boxOf({ title, kind, members }: Class): string {
  const isMethod = (one: string) => one.includes("(");
  const rows = (list: string[]) =>
    list.map((one) => `<tr><td align="left" border="0">${markedUp(one)}</td></tr>`).join("") ||
    `<tr><td border="0"> </td></tr>`;
  const part = (list: string[]) =>
    `<tr><td><table border="0" cellborder="0" cellspacing="0">${rows(list)}</table></td></tr>`;
  const head = `${kind ? `«${markedUp(kind)}»<br/>` : ""}<b>${markedUp(title)}</b>`;
  const body = members.length > 0 ? part(members.filter((one) => !isMethod(one))) + part(members.filter(isMethod)) : "";
  return `<table border="0" cellborder="1" cellspacing="0" bgcolor="white"><tr><td cellpadding="6">${head}</td></tr>${body}</table>`;
}
