import { barPlot } from "../../ui/figures/plot.server.ts";
import { sizeInWords } from "../../web/file-display.server.ts";

type Day = {
  day: string;
  messages: number;
  tokens: number;
  cost: number;
  failed: number;
  people: number;
  storedBytes: number;
  models: Record<string, number>;
};
type Figures = {
  people: number;
  activeToday: number;
  newPeople: number;
  failed: number;
  storedBytes: number;
  days: Day[];
  models: { modelId: string; name: string | null }[];
};
type Total = { label: string; figure: string; line: string; to?: string };

/**
 * The totals of the installation, each with a figure to compare it with. `free` is the free disk space in bytes, or null if
 * it is not known.
 */
export function totalsOf(figures: Figures, free: number | null): Total[] {
  const { days } = figures;
  const [today, yesterday] = [days.at(-1), days.at(-2)];
  const tokens = sum(days, "tokens");
  const cost = sum(days, "cost");
  const failedToday = today?.failed ?? 0;
  return [
    {
      label: "Personas",
      figure: say(figures.people),
      line: `${say(figures.activeToday)} hoy, ${say(figures.newPeople)} ${figures.newPeople === 1 ? "nueva" : "nuevas"} esta semana`,
      to: "/admin/user",
    },
    {
      label: "Mensajes hoy",
      figure: say(today?.messages ?? 0),
      line: `ayer, ${say(yesterday?.messages ?? 0)}`,
      to: "/admin/message",
    },
    {
      label: `Tokens en ${days.length} días`,
      figure: short(tokens),
      line: `${short(tokens / days.length)} al día`,
    },
    ...(cost > 0
      ? [{ label: `Coste en ${days.length} días`, figure: money(cost), line: `${money(cost / days.length)} al día` }]
      : []),
    {
      label: `Fallos en ${days.length} días`,
      figure: say(figures.failed),
      line: failedToday === 0 ? "hoy, ninguno" : `hoy, ${say(failedToday)}`,
      to: "/admin/message?status=failed",
    },
    {
      label: "Archivos",
      figure: sizeInWords(figures.storedBytes),
      line: free === null ? "" : `quedan ${sizeInWords(free)}`,
      to: "/admin/sistema",
    },
  ];
}

/** Work at this moment, in a sentence; empty: nothing. */
export function nowIn({ replies, files, emails }: { replies: number; files: number; emails: number }): string {
  const parts = [
    replies > 0 && `${say(replies)} ${replies === 1 ? "respuesta" : "respuestas"} en curso`,
    files > 0 && `${say(files)} ${files === 1 ? "archivo pendiente" : "archivos pendientes"} de procesar`,
    emails > 0 && `${say(emails)} ${emails === 1 ? "correo" : "correos"} por enviar`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? "" : `Ahora: ${parts.join(", ")}.`;
}

// Models with a colour of their own in a plot: nobody can tell more colours apart.
const modelsShown = 2;

/** The plots of the days; a figure that is zero on all days has no plot. */
export function plotsOf({ days, models }: Figures) {
  const one = (what: "messages" | "failed" | "people" | "cost", title: string, unit: [string, string]) =>
    sum(days, what) === 0
      ? []
      : [{ title, unit, plot: barPlot(days.map((row) => ({ day: row.day, values: [row[what]] }))) }];
  return [
    ...one("messages", "Mensajes al día", ["mensaje", "mensajes"]),
    ...byModel(days, models),
    ...one("failed", "Respuestas fallidas al día", ["fallida", "fallidas"]),
    ...one("people", "Personas que escriben al día", ["persona", "personas"]),
    ...uploads(days),
    ...one("cost", "Coste al día", ["de coste", "de coste"]),
  ];
}

const sizes: [name: string, bytes: number][] = [
  ["MB", 1024 * 1024],
  ["kB", 1024],
  ["bytes", 1],
];

function uploads(days: Day[]) {
  const most = days.reduce((all, { storedBytes }) => Math.max(all, storedBytes), 0);
  const [name, bytes] = sizes.find(([, bytes]) => most >= bytes) ?? [];
  if (name === undefined || bytes === undefined) return [];
  const plot = barPlot(days.map(({ day, storedBytes }) => ({ day, values: [storedBytes / bytes] })));
  return [{ title: `Archivos que llegan al día, en ${name}`, unit: [name, name] as const, plot }];
}

/** Tokens of the most used models, and of the others together. */
function byModel(days: Day[], models: Figures["models"]) {
  if (sum(days, "tokens") === 0) return [];
  const shown = models.slice(0, modelsShown);
  const others = models.length > modelsShown;
  const points = days.map((row) => {
    const values = shown.map(({ modelId }) => row.models[modelId] ?? 0);
    const rest = Math.max(0, row.tokens - values.reduce((all, value) => all + value, 0));
    return { day: row.day, values: others ? [...values, rest] : values };
  });
  const series = [...shown.map(({ name }) => name ?? "Modelo eliminado"), ...(others ? ["Otros"] : [])];
  return [{ title: "Tokens por modelo y día", unit: ["token", "tokens"] as const, plot: barPlot(points), series }];
}

const sum = (days: Day[], what: "messages" | "tokens" | "cost" | "failed" | "people" | "storedBytes") =>
  days.reduce((all, row) => all + row[what], 0);
const say = (value: number) => value.toLocaleString("es");
const short = (value: number) => value.toLocaleString("es", { notation: "compact", maximumFractionDigits: 1 });
const money = (value: number) => value.toLocaleString("es", { maximumFractionDigits: 2 });
