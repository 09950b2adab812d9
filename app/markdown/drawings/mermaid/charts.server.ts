import { CannotDraw } from "../drawing.server.ts";
import { notUnderstood } from "./words.server.ts";

/** A chart of Mermaid as Vega-Lite; undefined for another kind of diagram. Throws CannotDraw. */
export function chartOf(name: string, lines: string[]): object | undefined {
  if (name === "pie") return pie(lines);
  if (/^xychart(?:-beta)?$/.test(name)) {
    const [head = "", ...rest] = lines;
    return columns(rest, /\bhorizontal\b/.test(head));
  }
  if (name === "gantt") return gantt(lines.slice(1));
  return undefined;
}

const titleOf = (lines: string[]) =>
  /\btitle\s+"?(.*?)"?\s*$/.exec(lines.find((line) => /^\s*(?:pie\s+(?:showData\s+)?)?title\s/.test(line)) ?? "")?.[1];

/** A number as Mermaid writes it. Throws CannotDraw for any other notation, which might be read as another number. */
function numberIn(text: string, line: string): number {
  // Some people read three digits behind a point as thousands.
  if (!/^[+-]?\d+(?:\.\d+)?$/.test(text) || /^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(text)) throw notUnderstood(line);
  return Number(text);
}

function pie(lines: string[]): object {
  const values = lines.flatMap((line, n) => {
    if (n === 0 ? !/^\s*pie\s*"/.test(line) : /^\s*(?:title\b|showData\b|acc(?:Title|Descr)\b)/.test(line)) return [];
    const [, parte, number] = /^\s*(?:pie\s*)?"([^"]*)"\s*:\s*(\S+)\s*$/.exec(line) ?? [];
    if (parte === undefined || number === undefined) throw notUnderstood(line);
    return { parte, valor: numberIn(number, line) };
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
  [...line.replace(/^.*?\[|\][^\]]*$/g, "").matchAll(/\s*(?:"([^"]*)"|([^,"]+))\s*(?:,|$)/g)].map(
    ([, quoted, plain = ""]) => (quoted ?? plain).trim(),
  );

type Series = { mark: string; name: string; numbers: number[] };

function columns(lines: string[], isSideways: boolean): object {
  const series: Series[] = [];
  let names: string[] | undefined;
  const titles: { x: string | null; y: string | null } = { x: null, y: null };
  for (const line of lines) {
    const axis = /^\s*([xy])-axis\s*(?:"([^"]*)"|([^[\d"-][^[\d]*))?\s*(\[.*\]|-?[\d.]+\s*-->\s*-?[\d.]+)?\s*$/.exec(
      line,
    );
    const [, mark, name = `Serie ${series.length + 1}`] =
      /^\s*(bar|line)\s*(?:"([^"]*)")?\s*\[[^\]]*\]\s*$/.exec(line) ?? [];
    if (axis) {
      const [, letter, quoted, plain, range = ""] = axis;
      titles[letter === "x" ? "x" : "y"] = quoted ?? plain?.trim() ?? null;
      if (letter === "x" && range.startsWith("[")) names = listIn(range);
      // A scale of numbers along x is another chart.
      else if (letter === "x" && range) throw notUnderstood(line);
    } else if (mark) {
      series.push({ mark, name, numbers: listIn(line).map((one) => numberIn(one, line)) });
    } else if (!/^\s*(?:title|acc(?:Title|Descr))\b/.test(line)) throw notUnderstood(line);
  }
  const [first] = series;
  if (!first) throw new CannotDraw("No se entiende: le faltan los números de «bar» o «line».");
  const count = names?.length ?? first.numbers.length;
  if (series.some(({ numbers }) => numbers.length !== count)) {
    throw new CannotDraw("No se entiende: no hay tantos números como nombres.");
  }
  const values = series.flatMap(({ name, numbers }) =>
    numbers.map((valor, at) => ({ serie: name, x: names?.[at] ?? String(at + 1), valor })),
  );
  const hasBarsBeside = series.filter(({ mark }) => mark === "bar").length > 1;
  const [along, across, offset] = isSideways ? ["y", "x", "yOffset"] : ["x", "y", "xOffset"];
  return {
    title: titleOf(lines),
    [isSideways ? "height" : "width"]: {
      step: isSideways ? 30 : Math.max(48, ...values.map(({ x }) => x.length * 7 + 12)),
    },
    data: { values },
    encoding: {
      [along ?? "x"]: { field: "x", sort: null, title: titles.x, axis: { labelAngle: 0 } },
      [across ?? "y"]: { field: "valor", type: "quantitative", title: titles.y },
      color: { field: "serie", sort: null, title: null, ...(series.length === 1 && { legend: null }) },
    },
    layer: series.map(({ mark, name }) => ({
      transform: [{ filter: { field: "serie", equal: name } }],
      mark: mark === "bar" ? "bar" : { type: "line", point: true },
      ...(mark === "bar" && hasBarsBeside && { encoding: { [offset ?? "xOffset"]: { field: "serie" } } }),
    })),
  };
}

const day = 86_400_000;
const units: Record<string, number> = { h: day / 24, d: day, w: 7 * day, m: day / 1440 };

// Ten years from the beginning of a task: where all seven days are excluded, it would never end.
const skippedWithin = 3650 * day;
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

const clock = "(?:[T ](?<hour>\\d\\d):(?<minute>\\d\\d))?$";
const dates: Record<string, RegExp | undefined> = {
  "YYYY-MM-DD": new RegExp(`^(?<year>\\d{4})-(?<month>\\d\\d)-(?<date>\\d\\d)${clock}`),
  "YYYY/MM/DD": new RegExp(`^(?<year>\\d{4})/(?<month>\\d\\d)/(?<date>\\d\\d)${clock}`),
  "DD-MM-YYYY": new RegExp(`^(?<date>\\d\\d)-(?<month>\\d\\d)-(?<year>\\d{4})${clock}`),
  "DD/MM/YYYY": new RegExp(`^(?<date>\\d\\d)/(?<month>\\d\\d)/(?<year>\\d{4})${clock}`),
};

type Task = { tarea: string; parte: string; desde: string; hasta: string; fila: number; hito: boolean };

const ganttWords =
  /^(?:title|section|dateFormat|excludes|weekend|axisFormat|todayMarker|tickInterval|weekday|inclusiveEndDates|acc(?:Title|Descr))\b/;

function gantt(lines: string[]): object {
  const tasks = new Tasks();
  for (const line of lines) {
    const text = line.trim();
    const [, word, said = ""] = /^(excludes|dateFormat)\s+(.+)$/.exec(text) ?? [];
    const isKnown = word === "excludes" ? tasks.exclude(said) : word !== "dateFormat" || tasks.writeDatesAs(said);
    // Weekends that begin on Friday are not drawn.
    if (!isKnown || /^weekend\s+friday/.test(text)) throw notUnderstood(line);
    if (/^section\s/.test(text)) tasks.section = text.slice(8).trim();
    if (!ganttWords.test(text)) tasks.add(line);
  }
  if (tasks.all.length === 0) throw new CannotDraw("No se entiende: no tiene ninguna tarea.");
  const hasSections = tasks.all.some(({ parte }) => parte);
  // Two tasks of one name have a row each.
  const names = tasks.all.map(({ tarea }) => tarea);
  const rows = {
    field: "fila",
    type: "ordinal",
    title: null,
    axis: { labelExpr: `${JSON.stringify(names)}[datum.value]`, labelLimit: 260 },
  };
  const colour = hasSections && { color: { field: "parte", sort: null, title: null } };
  const when = { field: "desde", type: "temporal", title: null, axis: { format: "%e %b", labelOverlap: true } };
  return {
    title: titleOf(lines),
    width: 480,
    height: { step: 26 },
    data: { values: tasks.all },
    encoding: { y: rows, x: when, ...colour },
    layer: [
      {
        transform: [{ filter: "!datum.hito" }],
        mark: { type: "bar", cornerRadius: 3 },
        encoding: { x2: { field: "hasta" } },
      },
      { transform: [{ filter: "datum.hito" }], mark: { type: "point", shape: "diamond", filled: true, size: 160 } },
    ],
  };
}

class Tasks {
  readonly all: Task[] = [];
  section = "";
  readonly #ends = new Map<string, number>();
  readonly #excluded = new Set<string>();
  #date = dates["YYYY-MM-DD"];
  #last = Number.NaN;

  /** Takes the days that tasks skip: weekends, days of the week, dates. False if any is not understood. */
  exclude(said: string): boolean {
    const days = said
      .toLowerCase()
      .split(/[\s,]+/)
      .flatMap((one) => (one === "weekends" ? ["saturday", "sunday"] : one));
    for (const one of days) this.#excluded.add(one);
    return days.every((one) => weekdays.includes(one) || /^\d{4}-\d\d-\d\d$/.test(one));
  }

  /** Sets how dates are written, as «DD/MM/YYYY». False for a way that is not known. */
  writeDatesAs(said: string): boolean {
    this.#date = dates[said.replace(/[T ]HH:mm$/, "")];
    return this.#date !== undefined;
  }

  /** A task by its line: «Name :states, id, beginning, end». Throws CannotDraw. */
  add(line: string): void {
    const [, name, written = ""] = /^([^:]*):(.*)$/.exec(line.trim()) ?? [];
    if (name === undefined) throw notUnderstood(line);
    const fields = written.split(",").map((one) => one.trim());
    const given = fields.filter((one) => !/^(?:done|active|crit|milestone|vert)$/.test(one));
    // Fields of a task: its id, if it has one; its beginning, unless it follows the task before; its end.
    const last = given.pop() ?? "";
    const length = lengthOf(last);
    const begins = given.map((one) => this.#timeOf(one));
    const from = begins.find((one) => one !== undefined) ?? this.#last;
    const ids = given.filter((_, n) => begins[n] === undefined);
    const end = (length === undefined ? this.#timeOf(last) : this.#endOf(from, from + length)) ?? Number.NaN;
    // A comparison with NaN is false, so an unknown time is refused.
    const isKnown = end >= from && end < Number.POSITIVE_INFINITY && ids.length <= 1;
    if (!isKnown || ids.some((one) => !/^[\w-]+$/.test(one))) throw notUnderstood(line);
    for (const id of ids) this.#ends.set(id, end);
    this.#last = end;
    this.all.push({
      ...{ tarea: name.trim(), parte: this.section, desde: minuteOf(from), hasta: minuteOf(end) },
      ...{ fila: this.all.length, hito: fields.includes("milestone") || end === from },
    });
  }

  /** The end of a task of so many days without those that are excluded. As in Mermaid, the first day counts in any case. */
  #endOf(from: number, end: number): number {
    let last = end;
    const until = from + skippedWithin;
    for (let at = from + day; this.#excluded.size > 0 && at <= Math.min(last, until); at += day) {
      const date = new Date(at);
      const names = [weekdays[date.getUTCDay()] ?? "", date.toISOString().slice(0, 10)];
      if (names.some((name) => this.#excluded.has(name))) last += day;
    }
    return last;
  }

  /** The time of a date, or the end of the tasks that are named behind «after»; undefined for anything else. */
  #timeOf(field: string): number | undefined {
    const after = /^after\s+(.*)$/.exec(field)?.[1];
    if (after) {
      const times = after
        .trim()
        .split(/\s+/)
        .map((name) => this.#ends.get(name));
      return times.every((one) => one !== undefined) ? Math.max(...times) : Number.NaN;
    }
    const { year, month, date, hour = "0", minute = "0" } = this.#date?.exec(field)?.groups ?? {};
    return year ? Date.UTC(Number(year), Number(month) - 1, Number(date), Number(hour), Number(minute)) : undefined;
  }
}

const minuteOf = (time: number) => new Date(time).toISOString().slice(0, 16);

/** How long a task takes, in ms: «3d», «2w». */
function lengthOf(field: string): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(h|d|w|m)$/.exec(field) ?? [];
  return number ? Number(number) * (units[unit] ?? day) : undefined;
}
