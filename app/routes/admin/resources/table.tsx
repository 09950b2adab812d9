import { Fragment } from "react";
import { Link, useNavigation } from "react-router";
import type { Tried as TrialResult } from "../models/try-model.server.ts";
import { CellText } from "./cell.tsx";
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
  /** Search of the list's address, so that a dialog leads back to the list as it was. */
  here: string;
  many: string;
  count: string;
  readOnly: boolean;
  heads: Head[];
  /** `tries`: whether the item can be tried. */
  rows: { id: string; cells: Cell[]; tries: boolean }[];
  verbs: { name: string; label: string }[];
  feminine: boolean;
  /** Whether all rows come marked; `markTo`: the address at which it is the other way round. */
  marked: boolean;
  markTo: string;
  /** Answer of the item that was tried. */
  tried?: (TrialResult & { id: string }) | undefined;
};

/** The rows of a list; on narrow screens each is a card. Those that are marked can be changed together. */
export function ResourceTable(props: Props) {
  const { path, here, many, readOnly, count, heads, rows, verbs, feminine, marked, markTo, tried } = props;
  return (
    <>
      <div className="listed-rows">
        <table className="table cards">
          <caption className="sr-only">{`${many}, ${count}`}</caption>
          <Heads heads={heads} readOnly={readOnly} />
          <tbody>
            {rows.map(({ id, cells, tries }) => (
              <Fragment key={`${id}${marked}`}>
                <Row
                  path={path}
                  here={here}
                  readOnly={readOnly}
                  id={id}
                  cells={cells}
                  heads={heads}
                  marked={marked}
                  tries={tries}
                />
                {tried?.id === id && (
                  <tr>
                    <td className="trial" colSpan={heads.length + 2}>
                      <Tried {...tried} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {!readOnly && <Verbs verbs={verbs} feminine={feminine} marked={marked} markTo={markTo} />}
    </>
  );
}

function Heads({ heads, readOnly }: Pick<Props, "heads" | "readOnly">) {
  return (
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
  );
}

function Verbs({ verbs, feminine, marked, markTo }: Pick<Props, "verbs" | "feminine" | "marked" | "markTo">) {
  const [all, those] = feminine ? ["todas", "las marcadas"] : ["todos", "los marcados"];
  return (
    <div className="buttons picks">
      <Link className="button quiet small" to={markTo} preventScrollReset replace>
        {marked ? `Desmarcar ${all}` : `Marcar ${all}`}
      </Link>{" "}
      {verbs.map(({ name, label }) => (
        <button key={name} type="submit" className="button small once-marked" name="intent" value={name}>
          {`${label} ${those}`}
        </button>
      ))}{" "}
      <button type="submit" className="button small danger once-marked" name="intent" value="delete">
        {`Eliminar ${those}`}
      </button>
    </div>
  );
}

function Row({
  path,
  here,
  readOnly,
  id,
  cells,
  heads,
  marked,
  tries,
}: Pick<Props, "path" | "here" | "readOnly" | "heads" | "marked"> & Props["rows"][number]) {
  const trying = useNavigation().formData?.get("test") === id;
  const [first, ...others] = cells;
  const name = first?.text || "sin nombre";
  return (
    <tr>
      {!readOnly && (
        <td className="pick">
          <input type="checkbox" name="item" value={id} defaultChecked={marked} aria-label={`Marcar ${name}`} />
        </td>
      )}
      <th scope="row">
        <Link to={`/admin/${path}/${id}`}>{name}</Link>
      </th>
      {others.map(({ number, ...cell }, index) => (
        <td key={heads[index + 1]?.name} className={number ? "num" : undefined} data-label={heads[index + 1]?.label}>
          {cell.text && <CellText {...cell} />}
        </td>
      ))}
      {!readOnly && (
        <td className="ends">
          <span className="actions">
            {tries && (
              <>
                <button className="action" type="submit" name="test" value={id}>
                  {trying ? "Probando…" : "Probar"}
                  <span className="sr-only"> {name}</span>
                </button>{" "}
              </>
            )}
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

/** A model's answer to a trial. */
export function Tried({ ok, facts, html }: TrialResult) {
  return (
    <div className="tried" role="status">
      <p>
        <span className={`badge ${ok ? "good" : "bad"}`}>{ok ? "Responde" : "No responde"}</span> {facts}
      </p>
      {/* Safe: our own Markdown renderer lets no HTML through. */}
      <div className="prose" dangerouslySetInnerHTML={{ __html: html }} />
    </div>
  );
}
