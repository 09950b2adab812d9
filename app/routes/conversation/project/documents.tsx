import { Link } from "react-router";
import { Icon } from "../../../ui/icon.tsx";
import { ListPages } from "./list-pages.tsx";

type ProjectDocument = {
  id: string;
  name: string;
  detail: string;
  problem: string | null;
  author: string | undefined;
  mayDelete: boolean;
};

type Props = {
  here: string;
  items: ProjectDocument[];
  total: number;
  unlisted: number;
  earlier: boolean;
  next: string | null;
};

/** The documents of a project: unread documents come first, with the reason. */
export function Documents({ here, items, total, unlisted, earlier, next }: Props) {
  if (items.length === 0 && !earlier) {
    return <p className="text-text-2">No hay. El modelo responde también con lo que digan los que añadas.</p>;
  }
  return (
    <>
      <ul className="rows">
        {items.map(({ id, name, detail, problem, author, mayDelete }) => (
          <li key={id} className="row">
            <Icon name="document" />
            <div>
              <Link className="title clip" to={`/user/file/${id}`}>
                {name}
              </Link>
              <p className="line">{author ? `${detail} · de ${author}` : detail}</p>
              {problem !== null && <p className="line">No se ha podido leer: {problem}</p>}
            </div>{" "}
            {mayDelete && (
              <span className="end">
                <Link className="button quiet small only" to={`${here}/documentos/${id}/eliminar`} preventScrollReset>
                  <Icon name="trash" label={`Eliminar documento ${name}`} />
                </Link>
              </span>
            )}
          </li>
        ))}
      </ul>
      {unlisted > 0 && <p className="text-text-2">Y {unlisted.toLocaleString("es")} más que aún no están leídos.</p>}
      {!earlier && next && <p className="text-text-2">{total.toLocaleString("es")} documentos en total.</p>}
      <ListPages of="documentos" label="Más documentos" earlier={earlier} next={next} />
    </>
  );
}
