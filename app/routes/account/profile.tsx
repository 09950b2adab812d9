import { Link } from "react-router";
import { Fields } from "../../ui/forms/fields.tsx";
import { CurrentPasswordField, EmailField, NameField } from "../../ui/forms/person-fields.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import type { FormResult } from "../../web/forms/form.server.ts";

type Props = {
  user: { name: string; email: string; hasPassword: boolean };
  mayHavePassword: boolean;
  result: FormResult | undefined;
};

/** Name and e-mail; the password only confirms a new e-mail. */
export function Profile({ user, mayHavePassword, result }: Props) {
  return (
    <PostForm className="fields" preventScrollReset>
      <Fields id="perfil-campos" result={result}>
        <NameField defaultValue={user.name} />
        <EmailField defaultValue={user.email} />
        {user.hasPassword && <CurrentPasswordField required={false} hint="Solo hace falta para cambiar el correo." />}
      </Fields>
      <div className="buttons">
        <button type="submit" className="button">
          Guardar perfil
        </button>{" "}
        {mayHavePassword && (
          <Link className="button quiet" to="/user/contrasena" preventScrollReset>
            {user.hasPassword ? "Cambiar contraseña" : "Poner una contraseña"}
          </Link>
        )}
      </div>
    </PostForm>
  );
}
