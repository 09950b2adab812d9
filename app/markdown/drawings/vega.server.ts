import { parse, type Spec, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";
import { listOf, recordOf } from "../../process/text/json.ts";
import { CannotDraw, type DrawnTable } from "./drawing.server.ts";
import { font, ink, series, shade } from "./palette.server.ts";

const look = {
  background: "transparent",
  font,
  axis: { labelColor: ink, titleColor: ink, gridColor: shade(0.12), domainColor: shade(0.5), tickColor: shade(0.5) },
  legend: { labelColor: ink, titleColor: ink },
  title: { color: ink, subtitleColor: shade(0.8) },
  view: { stroke: "transparent" },
  range: { category: series },
  mark: { color: series[0] },
};
const days = ["domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"];
const months = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" ");
const short = (name: string) => name.slice(0, 3);
const locale = {
  number: { decimal: ",", thousands: ".", grouping: [3], currency: ["", " €"] },
  time: {
    ...{ dateTime: "%A, %e de %B de %Y, %X", date: "%d/%m/%Y", time: "%H:%M:%S", periods: ["a. m.", "p. m."] },
    ...{ days, shortDays: days.map(short), months, shortMonths: months.map(short) },
  },
};

// Bounds of the table beside a picture.
const rowsAtMost = 50;
const columnsAtMost = 8;

/** Vega or Vega-Lite as SVG, with its data. Nothing is fetched, and expressions are interpreted, not run. Throws CannotDraw. */
export async function drawVega(code: string): Promise<{ svg: string; table: DrawnTable | undefined }> {
  const given = parsed(code);
  if (isElsewhere(given)) throw new CannotDraw("Sus datos están en otro sitio, y no se piden: tienen que venir en él.");
  const isEmpty = recordOf(given.data) && !Object.keys(recordOf(given.data) ?? {}).some((name) => sources.has(name));
  const table = tableOf(given.data);
  const wanted = fieldsOf(given);
  const missing = table && !given.transform && wanted.find((one) => !table.columns.includes(one));
  if (isEmpty || table?.rows.length === 0) throw new CannotDraw("No tiene datos.");
  if (missing) throw new CannotDraw(`Sus datos no tienen «${missing.slice(0, 60)}».`);
  const isLite = !/\/vega\/v\d/.test(String(given.$schema ?? ""));
  try {
    const spec = isLite
      ? compile(given as unknown as TopLevelSpec, { config: look as object, logger: silent }).spec
      : given;
    const runtime = parse(spec as Spec, isLite ? {} : (look as object), { ast: true });
    const view = new View(runtime, {
      renderer: "none",
      expr: expressionInterpreter,
      loader: closed,
      logger: silent,
      locale,
    } as object);
    // Links lead nowhere from a picture.
    return { svg: (await view.toSVG()).replace(/<\/?a\b[^>]*>/g, ""), table };
  } catch {
    throw new CannotDraw("No se entiende como Vega-Lite: falta algo, o algo no es lo que se espera.");
  }
}

function parsed(code: string): Record<string, unknown> {
  try {
    const spec = recordOf(JSON.parse(code));
    if (spec) return spec;
  } catch {
    throw new CannotDraw("No se entiende: no es un JSON válido.");
  }
  throw new CannotDraw("No se entiende: no es un objeto de JSON.");
}

/** Whether some part of a drawing takes its data from an address. */
function isElsewhere(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  if ("url" in part && typeof part.url === "string") return true;
  // The drawing's own rows are not searched, as they may have a column of addresses.
  return Object.entries(part).some(([name, inner]) => name !== "values" && name !== "datasets" && isElsewhere(inner));
}

const refuse = () => Promise.reject(new Error("nothing is fetched"));
const nowhere = () => Promise.resolve({ href: "#" });
const closed = { load: refuse, sanitize: nowhere, http: refuse, file: refuse };
const sources = new Set(["values", "sequence", "sphere", "graticule"]);
/** Warnings are of no use to anybody here. */
const silent = Object.fromEntries(
  ["level", "error", "warn", "info", "debug"].map((name) => [name, () => silent]),
) as never;

/** The fields that a plain drawing shows of its data. */
function fieldsOf({ encoding, layer }: Record<string, unknown>): string[] {
  if (layer !== undefined) return [];
  return Object.values(recordOf(encoding) ?? {}).flatMap((one) => {
    const { field, aggregate } = recordOf(one) ?? {};
    return typeof field === "string" && aggregate === undefined && /^[\p{L}\p{N}_ ]+$/u.test(field) ? [field] : [];
  });
}

/** The values that stand in a drawing, as a table; undefined without any. */
function tableOf(data: unknown): DrawnTable | undefined {
  const values = listOf(recordOf(Array.isArray(data) ? data[0] : data)?.values)
    .map(recordOf)
    .filter((row) => row !== undefined);
  const columns = [...new Set(values.flatMap((row) => Object.keys(row)))].slice(0, columnsAtMost);
  if (columns.length === 0) return undefined;
  const said = (value: unknown) =>
    typeof value === "number" ? value.toLocaleString("es", { maximumFractionDigits: 6 }) : String(value ?? "");
  return { columns, rows: values.slice(0, rowsAtMost).map((row) => columns.map((name) => said(row[name]))) };
}
