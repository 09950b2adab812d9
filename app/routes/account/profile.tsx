import { Link } from "react-router";
import { limits } from "../../process/limits.ts";
import { Field } from "../../ui/forms/field.tsx";
import { Fields } from "../../ui/forms/fields.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import type { FormResult } from "../../web/forms/form.server.ts";

/** Name and e-mail; the password only confirms a new e-mail. */
export function Profile({ user, result }: { user: { name: string; email: string }; result: FormResult | undefined }) {
  return (
    <PostForm className="fields" preventScrollReset>
      <Fields id="perfil-campos" result={result}>
        <Field
          name="name"
          label="Nombre"
          autoComplete="name"
          required
          maxLength={limits.name}
          defaultValue={user.name}
        />
        <Field
          name="email"
          label="Correo electrónico"
          type="email"
          autoComplete="email"
          required
          maxLength={limits.email}
          defaultValue={user.email}
        />
        <Field
          name="currentPassword"
          label="Contraseña actual"
          hint="Solo hace falta para cambiar el correo."
          type="password"
          autoComplete="current-password"
        />
      </Fields>
      <div className="buttons">
        <button type="submit" className="button">
          Guardar perfil
        </button>{" "}
        <Link className="button quiet" to="/user/contrasena" preventScrollReset>
          Cambiar contraseña
        </Link>
      </div>
    </PostForm>
  );
}
