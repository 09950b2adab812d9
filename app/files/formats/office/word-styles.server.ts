import { elementsOf, firstIn, treeOf } from "../../../process/text/xml.server.ts";

/** Properties that a style sets: level of a heading from 1, numbering, and whether its text is raised or not shown. */
export type WordStyle = {
  heading?: number | undefined;
  numId?: string | undefined;
  level?: number | undefined;
  isHidden?: boolean | undefined;
  isRaised?: boolean | undefined;
};

// Longest chain of styles that are based on each other.
const basedAtMost = 20;

/** The styles of a Word document by their ids, with what they take over from others. */
export function stylesIn(xml: string | undefined): Map<string, WordStyle> {
  const root = firstIn(treeOf(xml ?? ""), "w:styles");
  const own = new Map<string, WordStyle & { basedOn: string | undefined }>();
  for (const style of root ? elementsOf(root) : []) {
    const id = style.attributes["w:styleId"];
    if (style.name !== "w:style" || !id) continue;
    const value = (name: string) => firstIn(style, name)?.attributes["w:val"];
    const [, named] = /^(?:heading|título|encabezado) ([1-9])$/i.exec(value("w:name") ?? "") ?? [];
    const outline = Number(value("w:outlineLvl") ?? 9);
    const level = value("w:ilvl");
    own.set(id, {
      heading: named
        ? Number(named)
        : outline < 9
          ? outline + 1
          : /^title$/i.test(value("w:name") ?? "")
            ? 1
            : undefined,
      numId: value("w:numId"),
      level: level === undefined ? undefined : Number(level),
      isHidden: firstIn(style, "w:vanish") ? !/^(?:0|false|off)$/.test(value("w:vanish") ?? "") : undefined,
      isRaised: firstIn(style, "w:vertAlign") ? value("w:vertAlign") === "superscript" : undefined,
      basedOn: value("w:basedOn"),
    });
  }
  const whole = new Map<string, WordStyle>();
  for (const id of own.keys()) {
    const style: WordStyle = {};
    const seen = new Set<string>();
    for (let at: string | undefined = id; at && !seen.has(at) && seen.size < basedAtMost; at = own.get(at)?.basedOn) {
      seen.add(at);
      const { heading, numId, level, isHidden, isRaised } = own.get(at) ?? {};
      style.isHidden ??= isHidden;
      style.isRaised ??= isRaised;
      style.heading ??= heading;
      style.level ??= level;
      style.numId ??= numId;
    }
    whole.set(id, style);
  }
  return whole;
}
