import { Link } from "react-router";
import { TableHead } from "../../../ui/table-head.tsx";
import type { DueNow } from "./due.server.ts";

/** Items that a rule of retention would delete now, to be looked at before it does. */
export function Due({ total, items }: DueNow) {
  return (
    <section className="mt-7">
      <h2>Lo que borraría ahora</h2>
      <p className="mt-2 text-text-2">
        {total === 0 ? "Nada." : `En total: ${total.toLocaleString("es")}.`}
        {total > items.length && items.length > 0 && ` Aquí, lo más antiguo.`}
      </p>
      {items.length > 0 && (
        <table className="table cards mt-4">
          <TableHead texts={["Nombre", "Última vez"]} />
          <tbody>
            {items.map(({ id, name, to, at }) => (
              <tr key={id}>
                <th scope="row">{to ? <Link to={to}>{name || "Sin título"}</Link> : name}</th>
                <td data-label="Última vez">{at}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
