import { type ComponentProps, use } from "react";
import { limits } from "../../process/limits.ts";
import { Field } from "./field.tsx";
import { FormFields } from "./fields.tsx";

/** Options in which forms for the same field of a person differ. */
type Own = Partial<
  Pick<ComponentProps<typeof Field>, "label" | "hint" | "defaultValue" | "autoFocus" | "autoComplete">
>;

export const NameField = (own: Own) => (
  <Field name="name" label="Nombre" autoComplete="name" required maxLength={limits.name} {...own} />
);

export const EmailField = (own: Own) => (
  <Field
    name="email"
    label="Correo electrónico"
    type="email"
    autoComplete="email"
    required
    maxLength={limits.email}
    {...own}
  />
);

/** A password that is being chosen. */
export const NewPasswordField = (own: Own) => (
  <Field
    name="password"
    label="Contraseña"
    hint={`${limits.passwordMin} caracteres o más. Mejor una frase que una palabra.`}
    type="password"
    autoComplete="new-password"
    required
    minLength={limits.passwordMin}
    maxLength={limits.passwordMax}
    {...own}
  />
);

/** The password that confirms who is asking. */
export const CurrentPasswordField = ({ required = true, ...own }: Own & { required?: boolean }) => (
  <Field
    name="currentPassword"
    label="Contraseña actual"
    type="password"
    autoComplete="current-password"
    required={required}
    {...own}
  />
);

/** Replaces `CurrentPasswordField` for a person who signs in by a provider and has no password. */
export function JustCameIn() {
  const { id } = use(FormFields);
  return (
    <p id={`${id}-currentPassword`} tabIndex={-1}>
      Tu cuenta no tiene contraseña. Para confirmar que eres tú hace falta que hayas entrado hace menos de diez minutos.
    </p>
  );
}
