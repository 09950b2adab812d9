import { Link } from "react-router";
import { DashboardPage } from "../../ui/dashboard-page.tsx";
import { BarPlot } from "../../ui/figures/plot.tsx";
import { Icon } from "../../ui/icon.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { TableHead } from "../../ui/table-head.tsx";
import { read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import type { Route } from "./+types/panel";
import { nowIn, plotsOf, totalsOf } from "./figures.server.ts";
import { type FirstStep, firstSteps } from "./first-steps.server.ts";

export const meta = titled("Panel");

const ranges = ["7", "30", "90"];

export async function loader({ context, url }: Route.LoaderArgs) {
  const asked = url.searchParams.get("dias");
  const days = ranges.find((range) => range === asked) ?? "30";
  const { api } = context.get(apiContext);
  const [figures, system] = await Promise.all([
    read(api.usage.figures.$get({ query: { days } })),
    read(api.system.$get()),
  ]);
  const { underway, storage } = system;
  return {
    days,
    steps: await firstSteps(context, {
      answers: figures.models.some(({ tokens }) => tokens > 0),
      mails: system.mail,
      copies: system.engine === "sqlite",
    }),
    totals: totalsOf(figures, storage.free),
    now: nowIn(underway),
    plots: plotsOf(figures),
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
      // Most installations have no groups.
      ...(figures.groups.length === 0
        ? []
        : [
            {
              title: "Por grupo",
              head: "Grupo",
              rows: figures.groups.map((row) => ({
                id: row.groupId,
                name: row.name,
                to: `/admin/group/${row.groupId}`,
                ...said(row),
              })),
            },
          ]),
    ],
  };
}

const said = ({ messages, tokens, cost }: { messages: number; tokens: number; cost: number }) => ({
  messages: messages.toLocaleString("es"),
  tokens: tokens.toLocaleString("es"),
  cost: cost.toLocaleString("es", { maximumFractionDigits: 2 }),
});

type Health = { answered: number; failed: number; lastAnsweredAt: string | null; lastFailedAt: string | null };

/** A model's state is that of its latest reply: one answered reply after a failure is enough for «Responde». */
function stateOf({ lastAnsweredAt, lastFailedAt }: Health): { state: string; tone: "good" | "bad" | "off" } {
  if (lastFailedAt && (!lastAnsweredAt || lastFailedAt > lastAnsweredAt)) return { state: "Falla", tone: "bad" };
  return lastAnsweredAt ? { state: "Responde", tone: "good" } : { state: "Sin uso", tone: "off" };
}

export default function Panel({
  loaderData: { days, steps, totals, now, plots, health, tables },
}: Route.ComponentProps) {
  return (
    <DashboardPage width="listing">
      <div className="head">
        <h1>Panel</h1>
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
      {steps.length > 0 && <FirstSteps steps={steps} />}
      <dl className="totals">
        {totals.map(({ label, figure, line, to }) => (
          <div key={label}>
            <dt>{to ? <Link to={to}>{label}</Link> : label}</dt>
            <dd className="figure">{figure}</dd>
            <dd className="line">{line}</dd>
          </div>
        ))}
      </dl>
      {now && <p className="mt-4 text-text-2">{now}</p>}
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
    </DashboardPage>
  );
}

/** Shown until all steps are done. */
function FirstSteps({ steps }: { steps: FirstStep[] }) {
  return (
    <section className="steps" id="primeros-pasos" aria-labelledby="pasos">
      <h2 id="pasos">Primeros pasos</h2>
      <ol>
        {steps.map(({ name, line, to, done }) => (
          <li key={name} data-done={done || undefined}>
            <Icon name="check" label={done ? "Hecho:" : "Por hacer:"} />{" "}
            <div>
              {done ? <p>{name}</p> : <Link to={to}>{name}</Link>}
              {!done && <p className="hint">{line}</p>}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

type ShownHealth = Health & { modelId: string; name: string; state: string; tone: string; lastError: string | null };

function Healths({ models }: { models: ShownHealth[] }) {
  return (
    <section className="mt-7">
      <h2>Modelos, últimas 24 horas</h2>
      <table className="table cards mt-4">
        <TableHead texts={["Modelo", "Estado"]} numbers={["Respuestas", "Fallos"]} />
        <tbody>
          {models.map(({ modelId, name, state, tone, lastError, answered, failed }) => (
            <tr key={modelId}>
              <th scope="row">
                <Link to={`/admin/model/${modelId}`}>{name}</Link>
              </th>
              <td data-label="Estado">
                <span className={`badge ${tone}`}>{state}</span>
                {tone === "bad" && lastError && <p className="text-text-2">{lastError}</p>}
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

type DashboardRow = { id: string; name: string; to: string; messages: string; tokens: string; cost: string };

function Uses({ title, head, rows }: { title: string; head: string; rows: DashboardRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section className="mt-7">
      <h2>{title}</h2>
      <table className="table cards mt-4">
        <TableHead texts={[head]} numbers={["Mensajes", "Tokens", "Coste"]} />
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
