import { CannotDraw } from "./drawing.server.ts";

/** A chart of Mermaid as Vega-Lite; undefined of another kind. Throws CannotDraw. */
export function chartOf(name: string, lines: string[]): object | undefined {
  if (name === "pie") return pie(lines);
  if (name.startsWith("xychart")) return columns(lines.slice(1));
  if (name === "gantt") return gantt(lines.slice(1));
  return undefined;
}

const titleOf = (lines: string[]) =>
  /\btitle\s+"?(.*?)"?\s*$/.exec(lines.find((line) => /^\s*(?:pie\s+(?:showData\s+)?)?title\s/.test(line)) ?? "")?.[1];

function pie(lines: string[]): object {
  const values = lines.flatMap((line) => {
    const [, parte, number] = /^\s*"([^"]*)"\s*:\s*([\d.]+)\s*$/.exec(line) ?? [];
    return number ? { parte, valor: Number(number) } : [];
  });
  if (values.length === 0)
    throw new CannotDraw('No se entiende: una tarta de Mermaid lleva líneas como «"Parte" : 10».');
  return {
    title: titleOf(lines),
    data: { values },
    encoding: {
      theta: { field: "valor", type: "quantitative", stack: true },
      order: { field: "valor", sort: "descending" },
      color: { field: "parte", sort: null, title: null },
    },
    layer: [
      { mark: { type: "arc", outerRadius: 110 } },
      { mark: { type: "text", radius: 128 }, encoding: { text: { field: "valor", type: "quantitative" } } },
    ],
  };
}

/** Lists are written `[a, "b c", d]`. */
const listIn = (line: string) =>
  [...(/\[(.*)\]/.exec(line)?.[1] ?? "").matchAll(/"([^"]*)"|[^,]+/g)].map(([whole, quoted]) =>
    (quoted ?? whole).trim(),
  );

function columns(lines: string[]): object {
  const axis = (name: string) => lines.find((line) => line.trimStart().startsWith(name)) ?? "";
  const names = listIn(axis("x-axis"));
  const drawn = lines.flatMap((line) => {
    const [, mark = "", label] = /^\s*(bar|line)\s*(?:"([^"]*)")?\s*\[/.exec(line) ?? [];
    return mark ? { mark, label, numbers: listIn(line).map(Number) } : [];
  });
  if (drawn.length === 0) throw new CannotDraw("No se entiende: le faltan los números de «bar» o «line».");
  const series = drawn.map(({ mark, label, numbers }, n) => ({ mark, name: label ?? `Serie ${n + 1}`, numbers }));
  const values = series.flatMap(({ name, numbers }) =>
    numbers.map((valor, at) => ({ serie: name, x: names[at] ?? String(at + 1), valor })),
  );
  const hasBarsBeside = series.filter(({ mark }) => mark === "bar").length > 1;
  const said = (line: string) => /axis\s+"([^"]*)"/.exec(line)?.[1] ?? null;
  return {
    title: titleOf(lines),
    width: { step: 48 },
    data: { values },
    encoding: {
      x: { field: "x", sort: null, title: said(axis("x-axis")), axis: { labelAngle: 0 } },
      y: { field: "valor", type: "quantitative", title: said(axis("y-axis")) },
      color: { field: "serie", sort: null, title: null, ...(series.length === 1 && { legend: null }) },
    },
    layer: series.map(({ mark, name }) => ({
      transform: [{ filter: { field: "serie", equal: name } }],
      mark: mark === "bar" ? "bar" : { type: "line", point: true },
      ...(mark === "bar" && hasBarsBeside && { encoding: { xOffset: { field: "serie" } } }),
    })),
  };
}

const day = 86_400_000;
const units: Record<string, number> = { h: day / 24, d: day, w: 7 * day, m: day / 1440 };

function gantt(lines: string[]): object {
  const ends = new Map<string, number>();
  const values: { tarea: string; parte: string; desde: string; hasta: string }[] = [];
  let section = "";
  let last = Number.NaN;
  for (const line of lines) {
    const text = line.trim();
    if (/^section\s/.test(text)) section = text.slice(8).trim();
    const at = text.indexOf(":");
    if (at < 0 || /^(?:title|section|dateFormat|axisFormat|excludes|todayMarker|tickInterval)\b/.test(text)) continue;
    const fields = text
      .slice(at + 1)
      .split(",")
      .map((one) => one.trim())
      .filter((one) => !/^(?:done|active|crit|milestone)$/.test(one));
    const times = fields.map((one) => timeOf(one, ends));
    const from = times.find((one) => one !== undefined) ?? last;
    const length = lengthOf(fields.at(-1) ?? "");
    const until = length === undefined ? times.at(-1) : from + length;
    if (!Number.isFinite(from) || until === undefined || !(until >= from)) continue;
    for (const field of fields) if (/^[A-Za-z]\w*$/.test(field)) ends.set(field, until);
    last = until;
    const iso = (time: number) => new Date(time).toISOString().slice(0, 16);
    values.push({ tarea: text.slice(0, at).trim(), parte: section, desde: iso(from), hasta: iso(until) });
  }
  if (values.length === 0)
    throw new CannotDraw("No se entiende: ninguna tarea tiene un día en que empieza y cuánto dura.");
  const hasSections = values.some(({ parte }) => parte);
  return {
    title: titleOf(lines),
    width: 480,
    height: { step: 26 },
    data: { values },
    mark: { type: "bar", cornerRadius: 3 },
    encoding: {
      y: { field: "tarea", sort: null, title: null, axis: { labelLimit: 260 } },
      x: { field: "desde", type: "temporal", title: null, axis: { format: "%e %b", labelOverlap: true } },
      x2: { field: "hasta" },
      ...(hasSections && { color: { field: "parte", sort: null, title: null } }),
    },
  };
}

/** A day, or the end of the tasks that a task comes after. */
function timeOf(field: string, ends: Map<string, number>): number | undefined {
  const after = /^after\s+(.*)$/.exec(field)?.[1];
  if (after) return Math.max(...after.split(/\s+/).map((name) => ends.get(name) ?? Number.NEGATIVE_INFINITY));
  const [, year, month, date, hour = "0", minute = "0"] =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d))?/.exec(field) ?? [];
  return year ? Date.UTC(Number(year), Number(month) - 1, Number(date), Number(hour), Number(minute)) : undefined;
}

/** How long a task takes, in ms: «3d», «2w». */
function lengthOf(field: string): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([hdwm])$/.exec(field) ?? [];
  return number ? Number(number) * (units[unit] ?? day) : undefined;
}
