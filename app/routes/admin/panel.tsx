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
  const figures = await read(context.get(apiContext).api.usage.figures.$get({ query: { days } }));
  const total = figures.days.reduce((sum, { messages }) => sum + messages, 0);
  const counts: [label: string, text: string, to?: string][] = [
    ["Personas", figures.people.toLocaleString("es"), "/admin/user"],
    ["Activas hoy", figures.activeToday.toLocaleString("es"), "/admin/user"],
    ["Mensajes", total.toLocaleString("es"), "/admin/message"],
    ["Respuestas fallidas", figures.failed.toLocaleString("es"), "/admin/message?status=failed"],
    ["Archivos", sizeInWords(figures.storedBytes)],
  ];
  return {
    days,
    counts,
    plot: total > 0 ? barPlot(figures.days.map(({ day, messages }) => ({ day, value: messages }))) : undefined,
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

export default function Panel({ loaderData: { days, counts, plot, tables } }: Route.ComponentProps) {
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
            <h2 className="sr-only">Mensajes</h2>
            {plot ? (
              <BarPlot plot={plot} title={`Mensajes de los últimos ${days} días`} unit={["mensaje", "mensajes"]} />
            ) : (
              <p className="text-text-2">Aún no hay mensajes en estos días.</p>
            )}
          </section>
          {tables.map((table) => (
            <Uses key={table.title} {...table} />
          ))}
        </div>
      </main>
    </>
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
