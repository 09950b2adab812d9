import { type Element, elementsIn, elementsOf, firstIn, textWithin, treeOf } from "../../../process/text/xml.server.ts";
import type { Archive } from "../archive.server.ts";

// Limits of one chart: a chart with more is data, not a picture to be read.
const pointsAtMost = 500;
const seriesAtMost = 100;

/** A chart as rows: its title, the names of its series, and each category with its values; empty without any text. */
export function chartRows(archive: Archive, path: string): string[][] {
  const chart = firstIn(treeOf(archive.text(path)), "c:chart");
  if (!chart) return [];
  const titleElement = elementsOf(chart).find(({ name }) => name === "c:title");
  const title = titleElement ? wordsIn(titleElement) : "";
  const series = [...elementsIn(chart, "c:ser")].slice(0, seriesAtMost).map((one) => ({
    name: cached(childOf(one, "c:tx")).join(" "),
    categories: cached(childOf(one, "c:cat") ?? childOf(one, "c:xVal")),
    values: cached(childOf(one, "c:val") ?? childOf(one, "c:yVal")),
  }));
  const categories = series.map((one) => one.categories).find((one) => one.length > 0) ?? [];
  const longest = series.reduce((most, { values }) => Math.max(most, values.length), categories.length);
  const count = Math.min(pointsAtMost, longest);
  const head = [["", ...series.map(({ name }) => name)]].filter((row) => row.some(Boolean));
  const points = Array.from({ length: count }, (_, n) => [
    categories[n] ?? String(n + 1),
    ...series.map(({ values }) => values[n] ?? ""),
  ]);
  const rows = [...head, ...points];
  return title || rows.length > 0 ? [[`Gráfico${title && `: ${title}`}`], ...rows] : [];
}

const childOf = (element: Element, name: string) => elementsOf(element).find((child) => child.name === name);

/** Texts or numbers that a chart keeps of the cells it is made of. Numbers have a decimal comma. */
function cached(data: Element | undefined): string[] {
  if (!data) return [];
  const texts: string[] = [];
  // Texts, such as the number of a clause, are not changed.
  const format = firstIn(data, "c:formatCode");
  const isGrouped = format !== undefined && textWithin(format).includes("#,##0");
  const shown = firstIn(data, "c:strCache") ? (value: string) => value : isGrouped ? groupedNumber : spokenNumber;
  for (const point of elementsIn(data, "c:pt")) {
    const at = Number(point.attributes.idx);
    const value = textWithin(firstIn(point, "c:v") ?? point).trim();
    if (Number.isInteger(at) && at >= 0 && at < pointsAtMost) texts[at] = shown(value);
  }
  const literal = firstIn(data, "c:v");
  if (texts.length === 0 && literal) texts.push(textWithin(literal).trim());
  if (texts.length === 0) texts.push(...[wordsIn(data)].filter(Boolean));
  return Array.from(texts, (text) => text ?? "");
}

const spokenNumber = (value: string) =>
  /^-?\d+\.\d+(?:E-?\d+)?$/i.test(value)
    ? Number(value).toLocaleString("es", { maximumFractionDigits: 6, useGrouping: false })
    : value;

/** A number that is shown with a sign between thousands. */
const groupedNumber = (value: string) =>
  /^-?\d+(?:\.\d+)?$/.test(value)
    ? Number(value).toLocaleString("es", { maximumFractionDigits: 6, useGrouping: "always" })
    : value;

/** The nodes of a diagram (SmartArt), in the order in which they are kept. */
export function diagramLines(archive: Archive, path: string): string[] {
  const data = treeOf(archive.text(path));
  const points = [...elementsIn(data, "dgm:pt")];
  const shown = points.filter(({ attributes }) => ["node", "asst", undefined].includes(attributes.type));
  const above = new Map(
    [...elementsIn(data, "dgm:cxn")]
      .filter(({ attributes }) => attributes.type === undefined || attributes.type === "parOf")
      .map(({ attributes }) => [attributes.destId, attributes] as const),
  );
  const byParent = Map.groupBy(shown, ({ attributes }) => above.get(attributes.modelId)?.srcId ?? "");
  const ids = new Set(shown.map(({ attributes }) => attributes.modelId));
  const lines: string[] = [];
  const written = new Set<Element>();
  const write = (point: Element, deep: number) => {
    if (written.has(point) || deep > deepest) return;
    written.add(point);
    const words = wordsIn(point);
    if (words) lines.push(`${"  ".repeat(deep)}- ${words}`);
    const below = byParent.get(point.attributes.modelId ?? "") ?? [];
    const placeOf = ({ attributes }: Element) => Number(above.get(attributes.modelId)?.srcOrd ?? 0);
    for (const one of below.toSorted((a, b) => placeOf(a) - placeOf(b))) write(one, deep + (words ? 1 : 0));
  };
  for (const point of shown) if (!ids.has(above.get(point.attributes.modelId)?.srcId)) write(point, 0);
  for (const point of shown) write(point, 0);
  return lines;
}

// Levels of a diagram; a damaged one may go in circles.
const deepest = 20;

/** A chart of an OpenDocument file as rows; empty if the object is none. `path`: of its content. */
export function objectRows(archive: Archive, path: string): string[][] {
  const tree = treeOf(archive.text(path.replace(/^\.\//, "")));
  if (!firstIn(tree, "chart:chart")) return [];
  const title = firstIn(tree, "chart:title");
  const isGrouped = isShownGrouped(tree);
  const rows = [...elementsIn(tree, "table:table-row")].slice(0, pointsAtMost).map((row) =>
    elementsOf(row)
      .filter(({ name }) => name === "table:table-cell")
      .map((cell) => textWithin(cell).trim().replace(/^NaN$/, ""))
      .map(isGrouped ? groupedNumber : spokenNumber),
  );
  return [[["Gráfico", title && textWithin(title).trim()].filter(Boolean).join(": ")], ...rows];
}

/** Whether a chart shows its numbers with a sign between thousands: as the style of its series or axes says. */
function isShownGrouped(tree: Element): boolean {
  const formats = [...elementsIn(tree, "number:number-style")].filter((format) =>
    elementsOf(format).some(({ attributes }) => attributes["number:grouping"] === "true"),
  );
  const names = new Set(formats.map(({ attributes }) => attributes["style:name"]));
  return [...elementsIn(tree, "style:style")].some(({ attributes }) => names.has(attributes["style:data-style-name"]));
}

/** The words of drawn text: a blank between paragraphs. */
export function wordsIn(element: Element): string {
  const paragraphs = [...elementsIn(element, "a:p")];
  const texts = (paragraphs.length > 0 ? paragraphs : [element]).map((one) =>
    [...elementsIn(one, "a:t")].map(textWithin).join(""),
  );
  return texts.join(" ").replace(/\s+/g, " ").trim();
}
