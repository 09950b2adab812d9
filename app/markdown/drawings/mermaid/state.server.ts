import { CannotDraw } from "../drawing.server.ts";
import { notUnderstood, quoted, wordsOf } from "./words.server.ts";

type State = { label: string; look: string; scope: number };
type Scope = { title: string; above: number | undefined; states: string[]; id: string };

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
  const states = new Map<string, State>();
  const scopes: Scope[] = [{ title: "", above: undefined, states: [], id: "" }];
  const links: { from: string; to: string; text: string; look?: string }[] = [];
  let scope = 0;
  let direction = "TB";
  let note: { of: string; words: string[] } | undefined;
  const stateOf = (name: string, isEnd: boolean): string => {
    const id = name === "[*]" ? `[*] ${scope} ${isEnd}` : name;
    if (!states.has(id) && !scopes.some((one) => one.id === id)) {
      const look = name === "[*]" ? (isEnd ? end : begin) : plain;
      states.set(id, { label: name === "[*]" ? "" : wordsOf(name), look, scope });
    }
    return id;
  };
  const addNote = (of: string, words: string) => {
    const id = `note ${states.size}`;
    stateOf(of, false);
    states.set(id, { label: wordsOf(words), look: 'shape=note, style=filled, fillcolor="#fff6d6"', scope });
    links.push({ from: of, to: id, text: "", look: "style=dashed, arrowhead=none" });
  };
  for (const line of lines) {
    const text = line.trim();
    if (note) {
      if (/^end note$/.test(text)) {
        addNote(note.of, note.words.join("\n"));
        note = undefined;
      } else note.words.push(text);
      continue;
    }
    const link = /^(\S+?)(?::::[\w-]+)?\s*-->\s*(\S+?)(?::::[\w-]+)?\s*(?::\s*(.*))?$/.exec(text);
    const opened = /^state\s+(?:"([^"]+)"\s+as\s+)?(\S+?)\s*\{$/.exec(text);
    const named = /^state\s+"([^"]+)"\s+as\s+(\S+)$/.exec(text);
    const special = /^state\s+(\S+)\s+(?:<<|\[\[)(choice|fork|join)(?:>>|\]\])$/.exec(text);
    const noted = /^note\s+(?:right|left)\s+of\s+(\S+?)\s*(?::\s*(.+))?$/.exec(text);
    const said = /^([^\s:]+)\s*:\s*(.+)$/.exec(text);
    if (link)
      links.push({
        from: stateOf(link[1] ?? "", false),
        to: stateOf(link[2] ?? "", true),
        text: wordsOf(link[3] ?? ""),
      });
    else if (opened) {
      const id = opened[2] ?? "";
      const known = states.get(id);
      states.delete(id);
      scopes.push({ title: wordsOf(opened[1] ?? known?.label ?? id), above: scope, states: [], id });
      scope = scopes.length - 1;
    } else if (text === "}" && scope > 0) scope = scopes[scope]?.above ?? 0;
    else if (named) states.set(named[2] ?? "", { label: wordsOf(named[1] ?? ""), look: plain, scope });
    else if (special) states.set(special[1] ?? "", { label: "", look: looks[special[2] ?? ""] ?? plain, scope });
    else if (noted?.[2]) addNote(noted[1] ?? "", noted[2]);
    else if (noted) note = { of: noted[1] ?? "", words: [] };
    else if (/^direction\s+(?:TB|TD|BT|LR|RL)$/.test(text)) direction = text.endsWith("D") ? "TB" : text.slice(-2);
    else if (/^state\s+\S+$/.test(text)) stateOf(text.slice(6).trim(), false);
    else if (said) {
      const inside = scopes.find((one) => one.id === said[1]);
      if (inside) inside.title = wordsOf(said[2] ?? "");
      else Object.assign(states.get(stateOf(said[1] ?? "", false)) ?? {}, { label: wordsOf(said[2] ?? "") });
    } else if (/^[^\s:>-]+$/.test(text)) stateOf(text, false);
    else if (!/^(?:classDef|class|style|hide empty description|accTitle|accDescr)\b/.test(text))
      throw notUnderstood(line);
  }
  if (scope !== 0 || note) throw new CannotDraw("No se entiende como Mermaid: le falta el final.");
  const nodeOf = (id: string): { id: string; cluster?: string } => {
    const n = scopes.findIndex((one) => one.id === id);
    if (n <= 0) return { id };
    const inner = [...states].find(([, one]) => one.scope === n);
    if (!inner) throw new CannotDraw(`No se entiende como Mermaid: «${id}» no tiene nada dentro.`);
    return { id: inner[0], cluster: `cluster_${n}` };
  };
  const within = (n: number): string =>
    [
      ...[...states].flatMap(([id, { label, look, scope: own }]) =>
        own === n ? `${quoted(id)} [${look.includes('label=""') ? "" : `label=${quoted(label)}, `}${look}]` : [],
      ),
      ...scopes.flatMap(({ title, above }, k) =>
        above === n ? `subgraph cluster_${k} { label=${quoted(title)}; ${within(k)} }` : [],
      ),
    ].join("; ");
  const drawn = links.map(({ from, to, text, look }) => {
    const [tail, head] = [nodeOf(from), nodeOf(to)];
    const marks = [
      look,
      text && `label=${quoted(text)}`,
      tail.cluster && `ltail=${tail.cluster}`,
      head.cluster && `lhead=${head.cluster}`,
    ];
    return `${quoted(tail.id)} -> ${quoted(head.id)} [${marks.filter(Boolean).join(", ")}]`;
  });
  return `digraph { compound=true; rankdir=${direction}; ${within(0)}; ${drawn.join("; ")} }`;
}
