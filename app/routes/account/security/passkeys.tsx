import { Link } from "react-router";

type Passkey = { id: string; name: string; used: string };

/** The person's passkeys, with which they sign in instead of the password. */
export function Passkeys({ passkeys }: { passkeys: Passkey[] }) {
  return (
    <div className="stack">
      <p className="text-text-2">
        Con una llave de acceso se entra con la huella, la cara o el PIN del dispositivo, sin escribir la contraseña ni
        el código. Hace falta JavaScript; la contraseña sigue valiendo. Al cambiar la contraseña, las llaves se
        eliminan.
      </p>
      {passkeys.length > 0 && (
        <ul className="rows">
          {passkeys.map(({ id, name, used }) => (
            <li key={id} className="row">
              <div>
                <p className="title">{name}</p>
                <p className="line">{used}</p>
              </div>
              <Link className="button small" to={`/user/seguridad/llaves/${id}/eliminar`} preventScrollReset>
                Eliminar<span className="sr-only"> {name}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div className="buttons scripted">
        <Link className="button" to="/user/seguridad/llaves/crear" preventScrollReset>
          Añadir llave
        </Link>
      </div>
    </div>
  );
}
