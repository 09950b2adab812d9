import { Link } from "react-router";

/** Whether signing in asks for a code, and the way to change that. */
export function Authenticator({ enabled, recoveryCodesLeft }: { enabled: boolean; recoveryCodesLeft: number }) {
  return (
    <div className="stack">
      {enabled ? (
        <p>
          <span className="badge good">Activada</span>{" "}
          <span className="text-text-2">
            {recoveryCodesLeft === 0
              ? "No te quedan códigos de recuperación: desactívala y actívala otra vez para tener nuevos."
              : `Te quedan ${recoveryCodesLeft} ${recoveryCodesLeft === 1 ? "código" : "códigos"} de recuperación.`}
          </span>
        </p>
      ) : (
        <p className="text-text-2">
          Al entrar se pide, además de la contraseña, un código de una aplicación de tu teléfono. Quien adivine la
          contraseña no podrá entrar.
        </p>
      )}
      <div className="buttons">
        {enabled ? (
          <Link className="button" to="/user/seguridad/verificacion/eliminar" preventScrollReset>
            Desactivar
          </Link>
        ) : (
          <Link className="button" to="/user/seguridad/verificacion/crear" preventScrollReset>
            Activar
          </Link>
        )}
      </div>
    </div>
  );
}
