import type { ComponentProps } from "react";
import { Icon } from "./icon.tsx";

type Props = Omit<ComponentProps<"input">, "id" | "name"> & {
  name: string;
  label: string;
  hint?: string;
  error?: string | undefined;
};

/** A labelled input with its hint and its error, in that order. */
export function Field({ name, label, hint, error, ...input }: Props) {
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      {hint && (
        <p className="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="error" id={`${name}-error`}>
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      )}
      <input
        className="input"
        id={name}
        name={name}
        aria-invalid={error ? true : undefined}
        aria-describedby={described || undefined}
        {...input}
      />
    </div>
  );
}
