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
const member = new RegExp(`^${name}\\s*:\\s*(.+)$`, "u");

/** A diagram of classes of Mermaid in Graphviz's language. Throws CannotDraw where any of it is not understood. */
export function classesAsDot(lines: string[]): string {
  const classes = new Map<string, Class>();
  const links: string[] = [];
  const groups: { title: string; classes: Set<string> }[] = [];
  let within: Class | undefined;
  let group: Set<string> | undefined;
  let direction = "TB";
  const classOf = (written: string): Class => {
    const key = written.replaceAll("`", "").replace(/~.*$/, "");
    const known = classes.get(key) ?? { title: key, kind: "", members: [] };
    // The title gets the parameters of its type once.
    const generic = /~(.+)~$/.exec(written)?.[1];
    if (generic && !known.title.includes("<")) known.title = `${known.title}<${generic.replace(/~(.+?)~/g, "<$1>")}>`;
    classes.set(key, known);
    return known;
  };
  const idOf = (written: string) => quoted(written.replaceAll("`", "").replace(/~.*$/, ""));
  const add = (one: Class, text: string) => {
    const kind = /^<<(.+)>>$/.exec(text)?.[1];
    if (kind) one.kind = kind;
    else one.members.push(typed(text));
  };
  const relate = (from = "", many = "", tail = "", kind = "", head = "", other = "", to = "", label = "") => {
    classOf(from);
    classOf(to);
    const looks = [
      `dir=both, arrowtail=${ends[tail]}, arrowhead=${ends[head]}`,
      kind === ".." && "style=dashed",
      many && `taillabel=${quoted(many)}`,
      other && `headlabel=${quoted(other)}`,
      label && `label=${quoted(wordsOf(label))}`,
    ];
    links.push(`${idOf(from)} -> ${idOf(to)} [${looks.filter(Boolean).join(", ")}]`);
  };
  const open = (written: string, title: string, brace: string, closed: string) => {
    const one = classOf(written);
    if (title) one.title = wordsOf(title);
    group?.add(idOf(written));
    if (brace && !closed) within = one;
  };
  const notes: string[] = [];
  const note = (about: string, text: string) => {
    const id = quoted(` note ${notes.length}`);
    if (about) classOf(about);
    notes.push(`${id} [shape=note, style=filled, fillcolor="#fff6d6", label=${quoted(wordsOf(text))}]`);
    if (about) links.push(`${idOf(about)} -> ${id} [style=dashed, dir=none]`);
  };
  const openGroup = (title: string) => {
    group = new Set();
    groups.push({ title, classes: group });
  };
  const closeGroup = () => {
    if (!group) return false;
    group = undefined;
  };
  const kinds: LineKind[] = [
    [new RegExp(`^note\\s+(?:for\\s+${name}\\s+)?"([^"]*)"$`, "u"), note],
    [/^namespace\s+([^\s{]+)\s*\{$/, openGroup],
    [/^\}$/, closeGroup],
    [relation, relate],
    [opened, open],
    [/^<<(.+)>>\s+(\S+)$/, (kind, written) => Object.assign(classOf(written), { kind })],
    [member, (written, text) => add(classOf(written), text)],
    [directionLine, (to) => (direction = directionOf(to))],
    [/^(?:classDef|cssClass|style|click|link|callback|accTitle|accDescr)\b/, () => true],
  ];
  for (const line of lines) {
    const text = line.trim().replace(/;$/, "");
    if (!within) readLine(line, kinds);
    else if (text === "}") within = undefined;
    else add(within, text);
  }
  if (within || group) throw new CannotDraw("No se entiende como Mermaid: le falta una llave.");
  if (classes.size === 0) throw new CannotDraw("No se entiende como Mermaid: no dibuja nada.");
  const nodes = [...classes].map(([key, one]) => `${quoted(key)} [label=<${boxOf(one)}>]`);
  const clusters = groups.map(
    ({ title, classes }, n) =>
      `subgraph cluster${n} { label=${quoted(title)}; style=rounded; color=gray60; ${[...classes].join("; ")} }`,
  );
  return `digraph { rankdir=${direction}; node [shape=plain]; ${[...nodes, ...notes, ...clusters, ...links].join("; ")} }`;
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
