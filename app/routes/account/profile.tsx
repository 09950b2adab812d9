import { Fields } from "../../ui/forms/fields.tsx";
import { CurrentPasswordField, EmailField, NameField } from "../../ui/forms/person-fields.tsx";
import { PostForm } from "../../ui/forms/post-form.tsx";
import type { FormResult } from "../../web/forms/form.server.ts";

type Props = {
  user: { name: string; email: string; hasPassword: boolean };
  result: FormResult | undefined;
};

/** Name and e-mail; the password only confirms a new e-mail. */
export function Profile({ user, result }: Props) {
  return (
    <PostForm className="fields" preventScrollReset>
      <Fields id="perfil-campos" result={result}>
        <NameField defaultValue={user.name} />
        <EmailField defaultValue={user.email} />
        {user.hasPassword && <CurrentPasswordField required={false} hint="Solo hace falta para cambiar el correo." />}
      </Fields>
      <div>
        <button type="submit" className="button primary">
          Guardar perfil
        </button>
      </div>
    </PostForm>
  );
}
