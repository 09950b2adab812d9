import { CannotDraw } from "../drawing.server.ts";
import { directionLine, directionOf, type LineKind, quoted, readLine, wordsOf } from "./words.server.ts";

type State = { label: string; look: string; scope: number };
type Scope = { title: string; above: number | undefined; id: string };
type Link = { from: string; to: string; text: string; look?: string };

const plain = 'shape=box, style="filled,rounded"';
const looks: Record<string, string> = {
  choice: 'shape=diamond, label="", width=0.3, height=0.3, fixedsize=true',
  fork: 'shape=box, label="", style=filled, fillcolor=black, width=1, height=0.06, fixedsize=true',
  join: 'shape=box, label="", style=filled, fillcolor=black, width=1, height=0.06, fixedsize=true',
};
const begin = 'shape=circle, label="", style=filled, fillcolor=black, width=0.18, fixedsize=true';
const end = 'shape=doublecircle, label="", style=filled, fillcolor=black, width=0.14, fixedsize=true';

/** A diagram of states of Mermaid in Graphviz's language. Throws CannotDraw where any of it is not understood. */
export function statesAsDot(lines: string[]): string {
  return new States(lines).dot();
}

class States {
  readonly #states = new Map<string, State>();
  readonly #scopes: Scope[] = [{ title: "", above: undefined, id: "" }];
  readonly #links: Link[] = [];
  #scope = 0;
  #direction = "TB";
  #note: { of: string; words: string[] } | undefined;

  readonly #kinds: LineKind[] = [
    [
      /^(\S+?)(?::::[\w-]+)?\s*-->\s*(\S+?)(?::::[\w-]+)?\s*(?::\s*(.*))?$/,
      (from, to, text) =>
        this.#links.push({ from: this.#idOf(from, false), to: this.#idOf(to, true), text: wordsOf(text) }),
    ],
    [/^state\s+(?:"([^"]+)"\s+as\s+)?(\S+?)\s*\{$/, (title, id) => this.#open(title, id)],
    [/^\}$/, () => this.#close()],
    [/^state\s+"([^"]+)"\s+as\s+(\S+)$/, (label, id) => this.#set(id, wordsOf(label), plain)],
    [
      /^state\s+(\S+)\s+(?:<<|\[\[)(choice|fork|join)(?:>>|\]\])$/,
      (id, look) => this.#set(id, "", looks[look] ?? plain),
    ],
    [/^note\s+(?:right|left)\s+of\s+(\S+?)\s*:\s*(.+)$/, (of, words) => this.#addNote(of, words)],
    [/^note\s+(?:right|left)\s+of\s+(\S+?)\s*$/, (of) => this.#beginNote(of)],
    [directionLine, (to) => this.#turn(to)],
    [/^state\s+(\S+)$/, (id) => this.#idOf(id, false)],
    [/^([^\s:]+)\s*:\s*(.+)$/, (id, label) => this.#describe(id, wordsOf(label))],
    [/^([^\s:>-]+)$/, (id) => this.#idOf(id, false)],
    [/^(?:classDef|class|style|hide empty description|accTitle|accDescr)\b/, () => true],
  ];

  /** Throws CannotDraw where a line is not understood. */
  constructor(lines: string[]) {
    for (const line of lines) if (!this.#isInNote(line.trim())) readLine(line, this.#kinds);
    if (this.#scope !== 0 || this.#note) throw new CannotDraw("No se entiende como Mermaid: le falta el final.");
  }

  #isInNote(text: string): boolean {
    if (!this.#note) return false;
    if (text !== "end note") this.#note.words.push(text);
    else {
      this.#addNote(this.#note.of, this.#note.words.join("\n"));
      this.#note = undefined;
    }
    return true;
  }

  /** The id of a state, which is added if it is new. Beginnings and ends are both named `[*]`. */
  #idOf(name: string, isEnd: boolean): string {
    const id = name === "[*]" ? `[*] ${this.#scope} ${isEnd}` : name;
    if (!this.#states.has(id) && !this.#scopes.some((one) => one.id === id)) {
      if (name === "[*]") this.#set(id, "", isEnd ? end : begin);
      else this.#set(id, wordsOf(name), plain);
    }
    return id;
  }

  #set(id: string, label: string, look: string): void {
    this.#states.set(id, { label, look, scope: this.#scope });
  }

  #open(title: string, id: string): void {
    const known = this.#states.get(id);
    this.#states.delete(id);
    this.#scopes.push({ title: wordsOf(title || (known?.label ?? id)), above: this.#scope, id });
    this.#scope = this.#scopes.length - 1;
  }

  #close(): boolean {
    const above = this.#scopes[this.#scope]?.above;
    if (above === undefined) return false;
    this.#scope = above;
    return true;
  }

  #beginNote(of: string): void {
    this.#note = { of, words: [] };
  }

  #addNote(of: string, words: string): void {
    const id = `note ${this.#states.size}`;
    this.#idOf(of, false);
    this.#set(id, wordsOf(words), 'shape=note, style=filled, fillcolor="#fff6d6"');
    this.#links.push({ from: of, to: id, text: "", look: "style=dashed, arrowhead=none" });
  }

  #turn(to: string): void {
    this.#direction = directionOf(to);
  }

  #describe(id: string, label: string): void {
    const inside = this.#scopes.find((one) => one.id === id);
    if (inside) inside.title = label;
    else Object.assign(this.#states.get(this.#idOf(id, false)) ?? {}, { label });
  }

  dot(): string {
    const links = this.#links.map((link) => this.#linkLine(link));
    return `digraph { compound=true; rankdir=${this.#direction}; ${this.#within(0)}; ${links.join("; ")} }`;
  }

  #within(n: number): string {
    const own = [...this.#states].flatMap(([id, { label, look, scope }]) =>
      scope === n ? `${quoted(id)} [${look.includes('label=""') ? "" : `label=${quoted(label)}, `}${look}]` : [],
    );
    const inner = this.#scopes.flatMap(({ title, above }, k) =>
      above === n ? `subgraph cluster_${k} { label=${quoted(title)}; ${this.#within(k)} }` : [],
    );
    return [...own, ...inner].join("; ");
  }

  #linkLine({ from, to, text, look }: Link): string {
    const [tail, head] = [this.#nodeOf(from), this.#nodeOf(to)];
    const marks = [
      look,
      text && `label=${quoted(text)}`,
      tail.cluster && `ltail=${tail.cluster}`,
      head.cluster && `lhead=${head.cluster}`,
    ];
    return `${quoted(tail.id)} -> ${quoted(head.id)} [${marks.filter(Boolean).join(", ")}]`;
  }

  /** The node that a link ends at; for a state with inner states, one of these, and the outer state's border. */
  #nodeOf(id: string): { id: string; cluster?: string } {
    const n = this.#scopes.findIndex((one) => one.id === id);
    if (n <= 0) return { id };
    const inner = [...this.#states].find(([, one]) => one.scope === n);
    if (!inner) throw new CannotDraw(`No se entiende como Mermaid: «${id}» no tiene nada dentro.`);
    return { id: inner[0], cluster: `cluster_${n}` };
  }
}
