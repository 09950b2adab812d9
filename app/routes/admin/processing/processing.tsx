import { Link } from "react-router";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { TableHead } from "../../../ui/table-head.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { zoneContext } from "../zone.server.ts";
import type { Route } from "./+types/processing";
import { inWords } from "./in-words.server.ts";

export const meta = titled("Tratamiento de datos");

export const loader = async ({ context }: Route.LoaderArgs) =>
  inWords(await read(context.get(apiContext).api.system.processing.$get()), context.get(zoneContext));

/** Stored data, how long it is kept and where it goes, for the person responsible; on paper too. */
export default function Processing({ loaderData }: Route.ComponentProps) {
  const { day, facts, kept, holds, recipients, security } = loaderData;
  return (
    <DashboardPage width="document" up={["/admin", "Panel"]}>
      <h1>Registro de actividades de tratamiento</h1>
      <p className="text-text-2">
        Artículo 30 del RGPD, con lo que esta instalación sabe de sí misma a {day}. Se imprime tal cual.
      </p>
      <p className="mt-4">
        <Link to="/admin/tratamiento/impacto">Evaluación de impacto</Link> ·{" "}
        <Link to="/admin/tratamiento/ens">Medidas del ENS</Link> ·{" "}
        <Link to="/admin/tratamiento/familias">Carta a las familias</Link>
      </p>
      <dl className="facts">
        {facts.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <section className="mt-7">
        <h2>Qué se guarda y cuánto tiempo</h2>
        <Kept kept={kept} />
        <p className="mt-4">
          {holds} Los plazos se ponen en <Link to="/admin/retention">Conservación</Link>. Las copias de cada noche se
          guardan doce meses como mucho; las demás, las borra quien aloja la instalación.
        </p>
      </section>
      <section className="mt-7">
        <h2>A dónde va</h2>
        <Recipients recipients={recipients} />
        <p className="mt-4">
          La empresa es la que dicen sus condiciones públicas; en qué país trata los datos, y con qué garantías si no es
          de la Unión Europea, lo dice su contrato: esta página no puede saberlo.
        </p>
      </section>
      <section className="mt-7">
        <h2>Medidas de seguridad</h2>
        <ul className="prose mt-4">
          {security.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </section>
    </DashboardPage>
  );
}

type Shown = Route.ComponentProps["loaderData"];

function Kept({ kept }: Pick<Shown, "kept">) {
  return (
    <table className="table cards mt-4">
      <TableHead texts={["Datos", "Cuánto tiempo"]} numbers={["Cuántos"]} />
      <tbody>
        {kept.map(({ what, time, count }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td data-label="Cuánto tiempo">{time}</td>
            <td data-label="Cuántos" className="num">
              {count}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Recipients({ recipients }: Pick<Shown, "recipients">) {
  return (
    <table className="table cards mt-4">
      <TableHead texts={["Destinatario", "Dónde", "Qué recibe", "Para quién"]} />
      <tbody>
        {recipients.map(({ key, name, host, company, gets, whose }) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            <td data-label="Dónde">
              {host}
              {company && <span className="text-text-3"> · {company}</span>}
            </td>
            <td data-label="Qué recibe">{gets}</td>
            <td data-label="Para quién">{whose}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
