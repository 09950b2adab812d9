import { Link } from "react-router";

type Account = { id: string; name: string; usable: boolean; connected: string | undefined; problem: string | null };

/** The person's accounts at tool servers that need an account for each person. `connected`: since when. */
export function ToolAccounts({ accounts }: { accounts: Account[] }) {
  return (
    <div className="stack">
      <p className="text-text-2">
        Con tu cuenta en estos servicios, los modelos los usan por ti en tus conversaciones. Nadie más usa la tuya.
      </p>
      <ul className="rows">
        {accounts.map(({ id, name, usable, connected, problem }) => (
          <li key={id} className="row">
            <div>
              <p className="title">{name}</p>
              <p className="line">{problem ?? (connected ? `Conectada ${connected}` : "Sin conectar")}</p>
            </div>
            {usable && (!connected || problem) && (
              <a className="button small" href={`/user/cuentas/${id}`}>
                Conectar<span className="sr-only"> tu cuenta de {name}</span>
              </a>
            )}
            {connected && (
              <Link className="button small" to={`/user/seguridad/cuentas/${id}/eliminar`} preventScrollReset>
                Desconectar<span className="sr-only"> tu cuenta de {name}</span>
              </Link>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
