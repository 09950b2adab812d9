import { Link } from "react-router";

type Account = { id: string; name: string; username: string | null };

/** The person's accounts at servers of files. */
export function DriveAccounts({ accounts }: { accounts: Account[] }) {
  return (
    <div className="stack">
      <p className="text-text-2">Con tu cuenta en estos servidores se leen las carpetas que añades a tus proyectos.</p>
      <ul className="rows">
        {accounts.map(({ id, name, username }) => (
          <li key={id} className="row">
            <div>
              <p className="title">{name}</p>
              <p className="line">Cuenta de {username}</p>
            </div>
            <Link className="button small" to={`/user/seguridad/cuentas/${id}/eliminar`} preventScrollReset>
              Desconectar<span className="sr-only"> tu cuenta de {name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
