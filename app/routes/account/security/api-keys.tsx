import { Link } from "react-router";

type Key = { id: string; name: string; start: string; scope: string; used: string };

/** The keys of a person's other programs. */
export function ApiKeys({ keys }: { keys: Key[] }) {
  return (
    <div className="stack">
      <p className="text-text-2">
        Con una clave, otro programa usa tus conversaciones y los modelos de aquí, también los que hablan con la API de
        OpenAI: su dirección es la de esta página y <code>/v1</code>. <a href="/v1/docs">Documentación</a>
      </p>
      {keys.length > 0 && (
        <ul className="rows">
          {keys.map(({ id, name, start, scope, used }) => (
            <li key={id} className="row">
              <div>
                <p className="title">{name}</p>
                <p className="line">
                  <code>{start}…</code> · {scope} · {used}
                </p>
              </div>
              <Link className="button small" to={`/user/seguridad/claves/${id}/eliminar`} preventScrollReset>
                Eliminar<span className="sr-only"> {name}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div className="buttons">
        <Link className="button" to="/user/seguridad/claves/crear" preventScrollReset>
          Crear clave
        </Link>
      </div>
    </div>
  );
}
