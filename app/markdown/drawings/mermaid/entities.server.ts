import { CannotDraw } from "../drawing.server.ts";
import {
  directionLine,
  directionOf,
  type LineKind,
  markedUp,
  notUnderstood,
  quoted,
  readLine,
  wordsOf,
} from "./words.server.ts";

type Attribute = { type: string; name: string; keys: string; comment: string };
type Entity = { title: string; attributes: Attribute[] };

// Cardinality at an end of a relation, as crow's feet of Graphviz: the mark nearest to the entity comes first.
const left: Record<string, string> = { "|o": "teeodot", "||": "teetee", "}o": "crowodot", "}|": "crowtee" };
const right: Record<string, string> = { "o|": "teeodot", "||": "teetee", "o{": "crowodot", "|{": "crowtee" };

const name = '("[^"]+"|[\\p{L}\\p{N}_-]+?)(?:\\[(?:"([^"]+)"|([^\\]"]+))\\])?';
const relation = new RegExp(
  `^${name}\\s*(\\|o|\\|\\||\\}o|\\}\\|)(--|\\.\\.)(o\\||\\|\\||o\\{|\\|\\{)\\s*${name}\\s*(?::\\s*(.*))?$`,
  "u",
);
const opened = new RegExp(`^${name}\\s*\\{\\s*(\\})?$`, "u");
const alone = new RegExp(`^${name}$`, "u");
const attribute = /^([^\s"]+)\s+([^\s"]+)((?:\s*,?\s*(?:PK|FK|UK))*)\s*(?:"([^"]*)")?$/u;

/** A diagram of entities of Mermaid in Graphviz's language. Throws CannotDraw where any of it is not understood. */
export function entitiesAsDot(lines: string[]): string {
  const entities = new Map<string, Entity>();
  const links: string[] = [];
  let within: Entity | undefined;
  let direction = "LR";
  const entityOf = (written: string, title: string): string => {
    const key = written.replaceAll('"', "");
    const known = entities.get(key) ?? { title: key, attributes: [] };
    if (title) known.title = wordsOf(title);
    entities.set(key, known);
    return key;
  };
  const kinds: LineKind[] = [
    [
      relation,
      (from, quotedFrom, plainFrom, tail = "", kind, head = "", to = "", quotedTo = "", plainTo = "", label = "") => {
        const a = entityOf(from, quotedFrom || plainFrom);
        const b = entityOf(to, quotedTo || plainTo);
        const looks = [
          `dir=both, arrowtail=${left[tail]}, arrowhead=${right[head]}`,
          kind === ".." && "style=dashed",
          label && `label=${quoted(wordsOf(label))}`,
        ];
        links.push(`${quoted(a)} -> ${quoted(b)} [${looks.filter(Boolean).join(", ")}]`);
      },
    ],
    [
      opened,
      (written, quotedTitle, plainTitle, closed) => {
        const one = entities.get(entityOf(written, quotedTitle || plainTitle));
        if (!closed) within = one;
      },
    ],
    [directionLine, (to) => (direction = directionOf(to))],
    [alone, (written, quotedTitle, plainTitle) => entityOf(written, quotedTitle || plainTitle)],
    [/^(?:classDef|class|style|title|accTitle|accDescr)\b/, () => true],
  ];
  for (const line of lines) {
    const text = line.trim();
    if (!within) readLine(line, kinds);
    else if (text === "}") within = undefined;
    else within.attributes.push(attributeOf(line));
  }
  if (within) throw new CannotDraw("No se entiende como Mermaid: le falta una llave.");
  if (entities.size === 0) throw new CannotDraw("No se entiende como Mermaid: no dibuja nada.");
  const nodes = [...entities].map(([key, one]) => `${quoted(key)} [label=<${boxOf(one)}>]`);
  return `digraph { rankdir=${direction}; nodesep=0.5; ranksep=1; node [shape=plain]; ${nodes.join("; ")}; ${links.join("; ")} }`;
}

function attributeOf(line: string): Attribute {
  const [, type = "", name = "", keys = "", comment = ""] = attribute.exec(line.trim()) ?? [];
  if (!name) throw notUnderstood(line);
  return { type, name, keys: keys.replace(/[\s,]+/g, " ").trim(), comment };
}

function boxOf({ title, attributes }: Entity): string {
  const cell = (text: string) => `<td align="left">${markedUp(text) || " "}</td>`;
  const hasKeys = attributes.some(({ keys }) => keys);
  const hasComments = attributes.some(({ comment }) => comment);
  const width = 2 + Number(hasKeys) + Number(hasComments);
  const rows = attributes.map(
    (one) =>
      `<tr>${cell(one.type)}${cell(one.name)}${hasKeys ? cell(one.keys) : ""}${hasComments ? cell(one.comment) : ""}</tr>`,
  );
  return `<table border="0" cellborder="1" cellspacing="0" cellpadding="4" bgcolor="white"><tr><td colspan="${width}"><b>${markedUp(title)}</b></td></tr>${rows.join("")}</table>`;
}
