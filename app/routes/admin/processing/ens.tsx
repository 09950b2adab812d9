import { TableHead } from "../../../ui/table-head.tsx";
import type { ensOf } from "./ens.server.ts";

/** The measures of the ENS and how the settings stand to each: a beginning of the statement of applicability, on paper too. */
export function Ens({ measures, counts }: ReturnType<typeof ensOf>) {
  return (
    <>
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
    </>
  );
}
