import { notUnderstood, quoted, wordsOf } from "./words.server.ts";

/** A mind map in Graphviz's language; the indentation of its lines gives the tree. Throws CannotDraw. */
export function mindmapAsDot(lines: string[]): string {
  const above: { indent: number; n: number }[] = [];
  const out: string[] = [];
  for (const [n, line] of lines.entries()) {
    // Icons and classes of the thought before.
    if (/^\s*::/.test(line)) continue;
    const indent = line.length - line.trimStart().length;
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= indent) above.pop();
    const { n: parent } = above.at(-1) ?? {};
    if (parent === undefined && out.length > 0) throw notUnderstood(line);
    out.push(`${n} [label=${quoted(thoughtIn(line))}${parent === undefined ? ", penwidth=2" : ""}]`);
    if (parent !== undefined) out.push(`${parent} -- ${n}`);
    above.push({ indent, n });
  }
  if (out.length === 0) throw notUnderstood("mindmap");
  return `graph { rankdir=LR; node [shape=box, style="filled,rounded"]; ${out.join("; ")} }`;
}

/** The words of a thought without its name and the marks of its shape. */
function thoughtIn(line: string): string {
  const text = line.trim().replace(/:::[\w-]+$/, "");
  const [, within] = /^[\w-]*(?:\(\(|\{\{|\)\)|\[|\(|\))([\s\S]*?)(?:\)\)|\}\}|\(\(|\]|\)|\()$/.exec(text) ?? [];
  return wordsOf(within ?? text);
}
