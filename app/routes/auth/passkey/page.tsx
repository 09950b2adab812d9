import { use, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { FormToken } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";

export const meta = titled("Entrar con una llave de acceso");
// The sign-in page with the password needs no script, and stays light.
export const handle = { scripts: "needed" };

/** Coming in by a passkey, which only a script can ask a device for. */
export default function EnterByPasskey() {
  const [search] = useSearchParams();
  const volver = search.get("volver") ?? "";
  const formToken = use(FormToken);
  const [problem, setProblem] = useState("");
  const [waits, setWaits] = useState(false);
  const enter = async () => {
    setProblem("");
    setWaits(true);
    const { enterByPasskey } = await import("../../../ui/passkeys.ts");
    const message = await enterByPasskey(formToken);
    setWaits(false);
    if (message !== undefined) return setProblem(message);
    // A whole new document: all that the page knows of the person changes.
    location.assign(volver.startsWith("/") && !/^\/[/\\]/.test(volver) ? volver : "/conversation/chat");
  };
  return (
    <>
      <h1>Entrar con una llave de acceso</h1>
      <p>El dispositivo te pedirá la huella, la cara o el PIN.</p>
      <p className="unscripted">Para usar una llave hace falta JavaScript. Con la contraseña se entra sin él.</p>
      <p className="scripted">
        <button type="button" className="button primary" onClick={enter} disabled={waits}>
          {waits ? "Esperando al dispositivo…" : "Usar una llave"}
        </button>
      </p>
      <p role="status" className={problem ? "error" : ""}>
        {problem}
      </p>
      <p className="after">
        <Link to={`/auth/signin${volver && `?volver=${encodeURIComponent(volver)}`}`} reloadDocument>
          Entrar con la contraseña
        </Link>
      </p>
    </>
  );
}
