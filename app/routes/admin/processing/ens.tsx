import { TableHead } from "../../../ui/table-head.tsx";
import type { ensOf } from "./ens.server.ts";

/** The measures of the ENS and how the settings stand to each: a beginning of the statement of applicability, on paper too. */
export function Ens({ day, controller, missing, measures, counts }: ReturnType<typeof ensOf>) {
  return (
    <>
      <h1>Medidas del Esquema Nacional de Seguridad</h1>
      <p className="mt-2 text-text-2">
        {`Real Decreto 311/2022, anexo II. Sistema de ${controller}, con sus ajustes a ${day}: ${counts.covered} cubiertas, ${
          counts.missing === 0 ? "ninguna que falte" : `${counts.missing} que faltan`
        } y ${counts.house} de la organización.`}{" "}
        La categoría del sistema y lo que se aplica los decide ella: esto es el borrador de su declaración de
        aplicabilidad.
      </p>
      {missing.length > 0 && (
        <section className="mt-7">
          <h2>Lo que falta</h2>
          <ul className="prose mt-4">
            {missing.map(({ code, text }) => (
              <li key={code}>
                {text} ({code})
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="mt-7">
        <h2>Medida a medida</h2>
        <table className="table cards mt-4">
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
      </section>
    </>
  );
}
