import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { TableHead } from "../../../ui/table-head.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/ens";
import { type Coverage, measuresOfEns } from "./ens.server.ts";

export const meta = titled("Medidas del ENS");

const said: Record<Coverage, string> = { covered: "Cubierta", missing: "Falta", house: "De la organización" };

export async function loader({ context }: Route.LoaderArgs) {
  const { security } = await read(context.get(apiContext).api.system.processing.$get());
  const measures = measuresOfEns(security);
  const count = (coverage: Coverage) => measures.filter((one) => one.coverage === coverage).length;
  return {
    measures: measures.map(({ coverage, ...one }) => ({ ...one, state: said[coverage] })),
    counts: { covered: count("covered"), missing: count("missing"), house: count("house") },
  };
}

/** The measures of the ENS and how the settings stand to each: a beginning of the statement of applicability, on paper too. */
export default function Ens({ loaderData: { measures, counts } }: Route.ComponentProps) {
  return (
    <DashboardPage width="document" up={["/admin/tratamiento", "Tratamiento de datos"]}>
      <h1>Medidas del Esquema Nacional de Seguridad</h1>
      <p className="mt-2 text-text-2">
        Real Decreto 311/2022, anexo II, con los ajustes de ahora: {counts.covered} cubiertas, {counts.missing} que
        faltan y {counts.house} de la organización. La categoría del sistema y lo que se aplica los decide ella: esto es
        el borrador de su declaración de aplicabilidad.
      </p>
      <table className="table cards mt-6">
        <TableHead texts={["Medida", "Estado", "Cómo"]} />
        <tbody>
          {measures.map(({ code, name, state, text }) => (
            <tr key={code}>
              <th scope="row">
                {code} {name}
              </th>
              <td data-label="Estado">{state}</td>
              <td data-label="Cómo">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </DashboardPage>
  );
}
