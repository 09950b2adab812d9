import { CannotDraw } from "../drawing.server.ts";
import { coloursOf, notUnderstood, quoted, wordsOf } from "./words.server.ts";

type Node = { label: string; shape: string; group: number | undefined; style: string[]; worn: string[] };
type Group = { id: string; title: string; above: number | undefined; nodes: string[] };
type Link = { from: string; to: string; text: string; style: string };

// Marks around a label, longest first, and the shape of Graphviz that they stand for.
const shapes: [open: string, close: string, shape: string][] = [
  ["(((", ")))", "doublecircle"],
  ["([", "])", "box,rounded"],
  ["[[", "]]", "box,bold"],
  ["[(", ")]", "cylinder"],
  ["((", "))", "circle"],
  ["{{", "}}", "hexagon"],
  ["[/", "/]", "parallelogram"],
  ["[/", "\\]", "trapezium"],
  ["[\\", "\\]", "parallelogram"],
  ["[\\", "/]", "invtrapezium"],
  ["[", "]", "box"],
  ["(", ")", "box,rounded"],
  ["{", "}", "diamond"],
  [">", "]", "cds"],
];
const namedShapes: Record<string, string> = {
  ...{
    diam: "diamond",
    decision: "diamond",
    diamond: "diamond",
    cyl: "cylinder",
    database: "cylinder",
    db: "cylinder",
  },
  ...{ circle: "circle", circ: "circle", stadium: "box,rounded", rounded: "box,rounded", terminal: "box,rounded" },
  ...{
    hex: "hexagon",
    hexagon: "hexagon",
    doc: "note",
    document: "note",
    rect: "box",
    rectangle: "box",
    process: "box",
  },
};
const heads: Record<string, string> = { ">": "normal", o: "odot", x: "tee", "": "none" };
const directions: Record<string, string> = { TD: "TB", TB: "TB", BT: "BT", LR: "LR", RL: "RL" };

/** A flowchart of Mermaid in Graphviz's language. Throws CannotDraw where any of it is not understood. */
export function flowAsDot(code: string): string {
  return new Flow(code).dot();
}

class Flow {
  readonly #source: string;
  #at = 0;
  #direction = "TB";
  readonly #nodes = new Map<string, Node>();
  readonly #groups: Group[] = [];
  readonly #links: Link[] = [];
  readonly #classes = new Map<string, string[]>();
  #group: number | undefined;

  constructor(source: string) {
    this.#source = source;
    const head = this.#take(/(?:graph|flowchart)(?:-elk)?[ \t]*(TD|TB|BT|LR|RL)?[ \t]*(?=[;\n]|$)/y);
    if (!head) throw notUnderstood(this.#line());
    this.#direction = directions[head[1] ?? "TD"] ?? "TB";
    for (this.#skip(); this.#at < source.length; this.#skip()) this.#statement();
  }

  dot(): string {
    if (this.#nodes.size === 0) throw new CannotDraw("No se entiende como Mermaid: no dibuja nada.");
    const within = (group: number | undefined): string => {
      const own = [...this.#nodes]
        .filter(([, node]) => node.group === group)
        .map(([id, node]) => {
          // Classes may be defined below the nodes that use them.
          const style = [
            ...(this.#classes.get("default") ?? []),
            ...node.worn.flatMap((one) => this.#classes.get(one) ?? []),
            ...node.style,
          ];
          return nodeLine(id, { ...node, style });
        });
      const inner = this.#groups.flatMap(({ title, above }, n) =>
        above === group ? `subgraph cluster_${n} { label=${quoted(title)}; ${within(n)} }` : [],
      );
      return [...own, ...inner].join("; ");
    };
    const links = this.#links.map((link) => this.#linkLine(link));
    return `digraph { compound=true; rankdir=${this.#direction}; ${within(undefined)}; ${links.join("; ")} }`;
  }

  #linkLine({ from, to, text, style }: Link): string {
    const tail = this.#end(from);
    const head = this.#end(to);
    const ends = [
      tail.cluster && `ltail=${tail.cluster}`,
      head.cluster && `lhead=${head.cluster}`,
      text && `label=${quoted(text)}`,
    ];
    return `${quoted(tail.id)} -> ${quoted(head.id)} [${[style, ...ends].filter(Boolean).join(", ")}]`;
  }

  /** The node that a link ends at; for a group, a node within the group, and its border. */
  #end(id: string): { id: string; cluster?: string } {
    const group = this.#groups.findIndex((one) => one.id === id);
    if (group < 0 || this.#nodes.get(id)?.group !== undefined) return { id };
    const inner = [...this.#nodes].find(([, node]) => this.#isWithin(node.group, group));
    if (!inner) throw new CannotDraw(`No se entiende como Mermaid: «${id}» no tiene nada dentro.`);
    return { id: inner[0], cluster: `cluster_${group}` };
  }

  #isWithin(group: number | undefined, outer: number): boolean {
    for (let one = group; one !== undefined; one = this.#groups[one]?.above) if (one === outer) return true;
    return false;
  }

  #statement(): void {
    const line = this.#line();
    if (this.#take(/subgraph\b[ \t]*/y)) {
      this.#openGroup(line);
      return;
    }
    if (this.#take(/end[ \t]*(?=[;\n]|$)/y)) {
      if (this.#group === undefined) throw notUnderstood(line);
      this.#group = this.#groups[this.#group]?.above;
      return;
    }
    // Each group has its own direction in Mermaid; Graphviz has one for the graph.
    if (this.#take(/direction[ \t]+\w+/y)) return;
    if (
      this.#take(
        /(?:click[ \t]+[\w-]+[ \t]+["\w]|linkStyle[ \t]+[\d,]|linkStyle[ \t]+default|acc(?:Title|Descr)[ \t]*:)[^\n]*/y,
      )
    )
      return;
    const [, defined, definition = ""] = this.#take(/classDef[ \t]+([\w,-]+)[ \t]+([^\n]*)/y) ?? [];
    if (defined) {
      for (const name of defined.split(",")) this.#classes.set(name, coloursOf(definition));
      return;
    }
    const [, classed, worn = ""] = this.#take(/class[ \t]+([^\n]+?)[ \t]+([\w-]+)[ \t]*(?=[;\n]|$)/y) ?? [];
    if (classed) {
      for (const id of classed.split(",")) this.#nodes.get(id.trim())?.worn.push(worn);
      return;
    }
    const [, styled, style = ""] = this.#take(/style[ \t]+(\S+)[ \t]+([^\n]*)/y) ?? [];
    if (styled) {
      for (const id of styled.split(",")) this.#nodes.get(id)?.style.push(...coloursOf(style));
      return;
    }
    this.#chain(line);
  }

  /** Nodes with links between them: `A --> B & C --> D`. */
  #chain(line: string): void {
    let from = this.#several(line);
    for (this.#blank(); !this.#isOver(); this.#blank()) {
      const { text, style } = this.#link(line);
      this.#blank();
      const to = this.#several(line);
      for (const a of from) for (const b of to) this.#links.push({ from: a, to: b, text, style });
      from = to;
    }
  }

  #openGroup(line: string): void {
    const id = this.#take(name)?.[0];
    this.#blank();
    const label = this.#label();
    const rest = this.#take(/[^\n;]*/y)?.[0].trim() ?? "";
    if (!id && !rest && !label) throw notUnderstood(line);
    const title = label?.text ?? wordsOf(`${id ?? ""} ${rest}`);
    this.#groups.push({ id: id && !rest ? id : title, title, above: this.#group, nodes: [] });
    this.#group = this.#groups.length - 1;
  }

  /** Nodes that stand side by side with `&`. */
  #several(line: string): string[] {
    const ids = [this.#node(line)];
    for (this.#blank(); this.#take(/&[ \t]*/y); this.#blank()) ids.push(this.#node(line));
    return ids;
  }

  #node(line: string): string {
    const id = this.#take(name)?.[0];
    if (!id) throw notUnderstood(line);
    const isGroup = this.#groups.some((one) => one.id === id);
    const known = this.#nodes.get(id);
    const label = this.#label() ?? this.#attributes(id);
    if (!known && !isGroup) {
      const node = { label: label?.text ?? id, shape: label?.shape ?? "box", group: this.#group, style: [], worn: [] };
      this.#nodes.set(id, node);
    } else if (known && label) Object.assign(known, { label: label.text, shape: label.shape });
    const worn = this.#take(/:::([\w-]+)/y)?.[1];
    if (worn) this.#nodes.get(id)?.worn.push(worn);
    return id;
  }

  #label(): { text: string; shape: string } | undefined {
    const here = shapes.filter(([open]) => this.#source.startsWith(open, this.#at));
    for (const [open, close, shape] of here) {
      const from = this.#at + open.length;
      const isQuoted = this.#source[from] === '"';
      const end = isQuoted ? this.#source.indexOf(`"${close}`, from + 1) : this.#source.indexOf(close, from);
      if (end < 0) continue;
      const text = this.#source.slice(from, isQuoted ? end + 1 : end);
      // A mark within the words belongs to another label, or to another shape.
      if (!isQuoted && (/[[\]{}]|\(\(|\)\)/.test(text) || text.split("\n").length > 6)) continue;
      this.#at = end + close.length + (isQuoted ? 1 : 0);
      return { text: wordsOf(text), shape };
    }
    return undefined;
  }

  /** Label and shape in the newer syntax: `id@{ shape: …, label: "…" }`. */
  #attributes(id: string): { text: string; shape: string } | undefined {
    const given = this.#take(/@\{([^{}]*)\}/y)?.[1];
    if (given === undefined) return undefined;
    const label = /label:\s*"([^"]*)"/.exec(given)?.[1] ?? /label:\s*([^,"]+)/.exec(given)?.[1];
    const shape = /shape:\s*([\w-]+)/.exec(given)?.[1] ?? "rect";
    return { text: wordsOf(label ?? id), shape: namedShapes[shape] ?? "box" };
  }

  #link(line: string): { text: string; style: string } {
    this.#take(/\w+@(?=[-=<])/y);
    const closed = this.#take(
      /(<)?(?:(-{2,}(?=>)|-{2,}(?=[ox][ \t"|])|-{3,})|(={2,}(?=>)|={2,}(?=[ox][ \t"|])|={3,})|(-\.+-)|(~~~))([>ox](?![\p{L}\p{N}_])|>)?/uy,
    );
    const open = closed
      ? undefined
      : this.#take(
          /(<)?(?:(--)(?!-)|(==)(?!=)|(-\.)(?![.-]))[ \t]*([^\n|]+?)[ \t]*(?:-{2,}|={2,}|\.+-)([>ox](?![\p{L}\p{N}_])|>)?/uy,
        );
    const found = closed ?? open;
    if (!found) throw notUnderstood(line);
    const [, back, , thick, dotted] = found;
    const head = heads[found[6] ?? ""] ?? "none";
    const hidden = closed?.[5];
    const inline = closed ? this.#take(/[ \t]*\|([^|\n]*)\|/y)?.[1] : open?.[5];
    const style = [
      `arrowhead=${head}`,
      back && "dir=both, arrowtail=normal",
      thick && "penwidth=2.5",
      dotted && "style=dashed",
      hidden && "style=invis",
    ];
    return { text: wordsOf(inline ?? ""), style: style.filter(Boolean).join(", ") };
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    if (found) this.#at += found[0].length;
    return found;
  }

  #blank(): void {
    this.#take(/[ \t]+/y);
  }

  /** Blanks, ends of lines and statements, and what was commented out. */
  #skip(): void {
    this.#take(/(?:[\s;]|%%[^\n]*)+/y);
  }

  #isOver(): boolean {
    return this.#at >= this.#source.length || /^(?:[\n;]|%%)/.test(this.#source.slice(this.#at, this.#at + 2));
  }

  #line(): string {
    return this.#source.slice(this.#at).split("\n", 1)[0] ?? "";
  }
}

// A point or a dash belongs to a name only between letters: `A-->B` and `A.-B`.
const name = /[\p{L}\p{N}_](?:[\p{L}\p{N}_]|[.:/-](?=[\p{L}\p{N}_]))*/uy;

function nodeLine(id: string, { label, shape, style }: Node): string {
  const [figure, look = ""] = shape.split(",");
  const looks = ["filled", look].filter(Boolean).join(",");
  return `${quoted(id)} [${[`label=${quoted(label || " ")}`, `shape=${figure}`, `style=${quoted(looks)}`, ...style].join(", ")}]`;
}
