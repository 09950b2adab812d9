import { Link } from "react-router";
import { read } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { sizeInWords } from "../../shown-file.server.ts";
import { Bar } from "../../ui/bar.tsx";
import { barPlot } from "../../ui/plot.server.ts";
import { BarPlot } from "../../ui/plot.tsx";
import type { Route } from "./+types/panel";

export const meta: Route.MetaFunction = () => [{ title: "Administración · Tertulia" }];

const ranges = ["7", "30", "90"];

export async function loader({ context, url }: Route.LoaderArgs) {
  const asked = url.searchParams.get("dias") ?? "";
  const days = ranges.includes(asked) ? asked : "30";
  const { api } = context.get(apiContext);
  const [figures, system] = await Promise.all([
    read(api.usage.figures.$get({ query: { days } })),
    read(api.system.$get()),
  ]);
  const { underway, storage } = system;
  const total = figures.days.reduce((sum, { messages }) => sum + messages, 0);
  const counts: [label: string, text: string, to?: string][] = [
    ["Personas", figures.people.toLocaleString("es"), "/admin/user"],
    ["Activas hoy", figures.activeToday.toLocaleString("es"), "/admin/user"],
    ["Mensajes", total.toLocaleString("es"), "/admin/message"],
    ["Respuestas fallidas", figures.failed.toLocaleString("es"), "/admin/message?status=failed"],
    ["Respuestas en curso", underway.replies.toLocaleString("es"), "/admin/message?status=streaming"],
    ["Archivos por leer", underway.files.toLocaleString("es")],
    ["Correos por enviar", underway.emails.toLocaleString("es"), "/admin/email"],
    ["Espacio de archivos", sizeInWords(figures.storedBytes)],
    ["Espacio libre", sizeInWords(storage.free), "/admin/sistema"],
  ];
  return {
    days,
    counts,
    plots: plotted.flatMap(({ what, title, unit }) =>
      figures.days.some((day) => day[what] > 0)
        ? [{ title, unit, plot: barPlot(figures.days.map((row) => ({ day: row.day, value: row[what] }))) }]
        : [],
    ),
    health: figures.health.map((model) => ({ ...model, ...stateOf(model) })),
    tables: [
      {
        title: "Por modelo",
        head: "Modelo",
        rows: figures.models.map((row) => ({
          id: row.modelId,
          name: row.name ?? "eliminado",
          to: `/admin/model/${row.modelId}`,
          ...said(row),
        })),
      },
      {
        title: "Por persona",
        head: "Persona",
        rows: figures.users.map((row) => ({
          id: row.userId,
          name: row.name,
          to: `/admin/user/${row.userId}`,
          ...said(row),
        })),
      },
    ],
  };
}

const said = ({ messages, tokens, cost }: { messages: number; tokens: number; cost: number }) => ({
  messages: messages.toLocaleString("es"),
  tokens: tokens.toLocaleString("es"),
  cost: cost.toLocaleString("es", { maximumFractionDigits: 2 }),
});

const plotted: { what: "messages" | "tokens" | "cost"; title: string; unit: [string, string] }[] = [
  { what: "messages", title: "Mensajes", unit: ["mensaje", "mensajes"] },
  { what: "tokens", title: "Tokens", unit: ["token", "tokens"] },
  { what: "cost", title: "Coste", unit: ["de coste", "de coste"] },
];

type Health = { answered: number; failed: number; lastAnsweredAt: string | null; lastFailedAt: string | null };

/** By what came last: a model that has answered since it failed is well again. */
function stateOf({ lastAnsweredAt, lastFailedAt }: Health): { state: string; fails: boolean } {
  if (lastFailedAt && lastFailedAt > (lastAnsweredAt ?? "")) return { state: "Falla", fails: true };
  return { state: lastAnsweredAt ? "Responde" : "Nadie le ha preguntado", fails: false };
}

export default function Panel({ loaderData: { days, counts, plots, health, tables } }: Route.ComponentProps) {
  return (
    <>
      <Bar>
        <span className="flex-1" />
      </Bar>
      <main className="page" id="contenido">
        <div className="in listing">
          <div className="head">
            <h1>Administración</h1>
            <nav className="buttons" aria-label="Días">
              {ranges.map((range) => (
                <Link
                  key={range}
                  className="button small"
                  to={`?dias=${range}`}
                  aria-current={range === days ? "true" : undefined}
                >
                  {`${range} días`}
                </Link>
              ))}
            </nav>
          </div>
          <ul className="counts">
            {counts.map(([label, text, to]) => (
              <li key={label}>
                {to ? <Link to={to}>{label}</Link> : <span>{label}</span>} <strong>{text}</strong>
              </li>
            ))}
          </ul>
          <section className="mt-7">
            <h2>{`Los últimos ${days} días`}</h2>
            {plots.length === 0 && <p className="mt-4 text-text-2">Aún no hay mensajes en estos días.</p>}
            <div className="plots">
              {plots.map((one) => (
                <BarPlot key={one.title} {...one} />
              ))}
            </div>
          </section>
          <Healths models={health} />
          {tables.map((table) => (
            <Uses key={table.title} {...table} />
          ))}
        </div>
      </main>
    </>
  );
}

type Model = Health & { modelId: string; name: string; state: string; fails: boolean; lastError: string | null };

function Healths({ models }: { models: Model[] }) {
  return (
    <section className="mt-7">
      <h2>Modelos, últimas 24 horas</h2>
      <table className="table cards mt-4">
        <thead>
          <tr>
            <th scope="col">Modelo</th>
            <th scope="col">Estado</th>
            <th scope="col" className="num">
              Respuestas
            </th>
            <th scope="col" className="num">
              Fallos
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map(({ modelId, name, state, fails, lastError, answered, failed }) => (
            <tr key={modelId}>
              <th scope="row">
                <Link to={`/admin/model/${modelId}`}>{name}</Link>
              </th>
              <td data-label="Estado">
                {fails ? <strong className="text-red">{state}</strong> : state}
                {fails && lastError && `: ${lastError}`}
              </td>
              <td className="num" data-label="Respuestas">
                {answered.toLocaleString("es")}
              </td>
              <td className="num" data-label="Fallos">
                {failed.toLocaleString("es")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type Row = { id: string; name: string; to: string; messages: string; tokens: string; cost: string };

function Uses({ title, head, rows }: { title: string; head: string; rows: Row[] }) {
  if (rows.length === 0) return null;
  return (
    <section className="mt-7">
      <h2>{title}</h2>
      <table className="table cards mt-4">
        <thead>
          <tr>
            {[head, "Mensajes", "Tokens", "Coste"].map((label, index) => (
              <th key={label} scope="col" className={index > 0 ? "num" : undefined}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, to, messages, tokens, cost }) => (
            <tr key={id}>
              <th scope="row">
                <Link to={to}>{name}</Link>
              </th>
              <td className="num" data-label="Mensajes">
                {messages}
              </td>
              <td className="num" data-label="Tokens">
                {tokens}
              </td>
              <td className="num" data-label="Coste">
                {cost}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
