import { Link } from "react-router";
import type { Cell } from "./cells.server.ts";

type Head = {
  name: string;
  label: string;
  number: boolean;
  to: string | undefined;
  order: "ascending" | "descending" | undefined;
};
type Props = {
  path: string;
  /** What the address of the list asks for, so that whoever comes back from a dialog finds it as it was. */
  here: string;
  many: string;
  count: string;
  readOnly: boolean;
  heads: Head[];
  rows: { id: string; cells: Cell[] }[];
  verbs: { name: string; label: string }[];
};

/** The rows of a list; on narrow screens each is a card. Those that are marked can be changed together. */
export function ResourceTable({ path, here, many, readOnly, count, heads, rows, verbs }: Props) {
  return (
    <>
      <table className="table cards">
        <caption className="sr-only">{`${many}, ${count}`}</caption>
        <thead>
          <tr>
            {!readOnly && (
              <th scope="col">
                <span className="sr-only">Marcar</span>
              </th>
            )}
            {heads.map(({ name, label, number, to, order }) => (
              <th key={name} scope="col" className={number ? "num" : undefined} aria-sort={order}>
                {to ? (
                  <Link to={to} preventScrollReset>
                    {label}
                  </Link>
                ) : (
                  label
                )}
              </th>
            ))}
            {!readOnly && (
              <th scope="col">
                <span className="sr-only">Acciones</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, cells }) => (
            <Row key={id} path={path} here={here} readOnly={readOnly} id={id} cells={cells} heads={heads} />
          ))}
        </tbody>
      </table>
      {!readOnly && (
        <div className="buttons picks-do">
          {verbs.map(({ name, label }) => (
            <button key={name} type="submit" className="button small" name="intent" value={name}>
              {label}
            </button>
          ))}{" "}
          <button type="submit" className="button small danger" name="intent" value="delete">
            Eliminar los marcados
          </button>
        </div>
      )}
    </>
  );
}

function Row({
  path,
  here,
  readOnly,
  id,
  cells,
  heads,
}: Pick<Props, "path" | "here" | "readOnly" | "heads"> & Props["rows"][number]) {
  const [first, ...others] = cells;
  const name = first?.text || "sin nombre";
  return (
    <tr>
      {!readOnly && (
        <td className="pick">
          <input type="checkbox" name="item" value={id} aria-label={`Marcar ${name}`} />
        </td>
      )}
      <th scope="row">
        <Link to={`/admin/${path}/${id}`}>{name}</Link>
      </th>
      {others.map(({ text, to, number }, index) => (
        <td key={heads[index + 1]?.name} className={number ? "num" : undefined} data-label={heads[index + 1]?.label}>
          {to ? <Link to={to}>{text}</Link> : text || "—"}
        </td>
      ))}
      {!readOnly && (
        <td className="ends">
          <span className="actions">
            <Link className="action" to={`/admin/${path}/${id}/editar${here}`} preventScrollReset>
              Editar<span className="sr-only"> {name}</span>
            </Link>{" "}
            <Link className="action" to={`/admin/${path}/${id}/eliminar${here}`} preventScrollReset>
              Eliminar<span className="sr-only"> {name}</span>
            </Link>
          </span>
        </td>
      )}
    </tr>
  );
}
