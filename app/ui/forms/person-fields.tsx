import type { ComponentProps } from "react";
import { limits } from "../../process/limits.ts";
import { Field } from "./field.tsx";

/** What may differ between the forms that ask for the same thing about a person. */
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
