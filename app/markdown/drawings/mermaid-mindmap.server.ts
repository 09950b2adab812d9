/** The lines of a mind map, whose indentation says what belongs to what, as a graph in DOT. */
export function mindmapAsDot(lines: string[]): string {
  const above: { indent: number; n: number }[] = [];
  const out: string[] = [];
  for (const [n, line] of lines.entries()) {
    // Icons and classes of the thought before.
    if (/^\s*::/.test(line)) continue;
    const indent = line.length - line.trimStart().length;
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= indent) above.pop();
    const { n: parent } = above.at(-1) ?? {};
    out.push(`${n} [label=${JSON.stringify(wordsOf(line))}${parent === undefined ? ",penwidth=2" : ""}]`);
    if (parent !== undefined) out.push(`${parent} -- ${n}`);
    above.push({ indent, n });
  }
  return `graph { rankdir=LR; node [shape=box, style=rounded]; ${out.join("; ")} }`;
}

/** The words of a thought without its name and the marks of its shape. */
function wordsOf(line: string): string {
  const [, within] =
    /^\s*[\w-]*(?:\(\(|\{\{|\)\)|\[|\(|\))["`]*(.*?)["`]*(?:\)\)|\}\}|\(\(|\]|\)|\()\s*$/.exec(line) ?? [];
  return (within ?? line).trim();
}
