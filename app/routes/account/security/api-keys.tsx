import { Link } from "react-router";

/** `start`: first letters of a key that the person has made; undefined for a program that has connected by OAuth. */
type Key = { id: string; name: string; start: string | undefined; scope: string; used: string };

/** Keys and connections of a person's other programs. */
export function ApiKeys({ keys }: { keys: Key[] }) {
  return (
    <div className="stack">
      <p className="text-text-2">
        Con una clave, otro programa usa tus conversaciones y los modelos de aquí, también los que hablan con la API de
        OpenAI o la de Anthropic: su dirección es la de esta página y <code>/v1</code>. Los que se conectan por MCP no
        necesitan clave: dales la de esta página y <code>/mcp</code>, y te piden permiso.{" "}
        <a href="/v1/docs">Documentación</a>
      </p>
      {keys.length > 0 && (
        <ul className="rows">
          {keys.map(({ id, name, start, scope, used }) => (
            <li key={id} className="row">
              <div>
                <p className="title">{name}</p>
                <p className="line">
                  {start === undefined ? "Conectado" : <code>{start}…</code>} · {scope} · {used}
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
