import { type ComponentProps, type FocusEvent, type FormEvent, type ReactNode, use } from "react";
import { sentenceFor } from "./constraints.ts";
import { FormFields } from "./fields.tsx";
import { Icon } from "./icon.tsx";

type Own = { name: string; label: string; hint?: ReactNode };
type Control = HTMLInputElement | HTMLTextAreaElement;

/** A labelled input with its hint and its error, in that order. */
export function Field({ label, hint, ...input }: Omit<ComponentProps<"input">, "id" | "name"> & Own) {
  const { defaultValue, ...control } = useControl(input.name, label, hint !== undefined, input.defaultValue);
  return (
    <Labelled name={input.name} label={label} hint={hint}>
      <input className="input" size={40} {...input} {...control} {...(input.type !== "password" && { defaultValue })} />
    </Labelled>
  );
}

/** The same, for text of several lines. */
export function TextField({ label, hint, ...input }: Omit<ComponentProps<"textarea">, "id" | "name"> & Own) {
  const control = useControl(input.name, label, hint !== undefined, input.defaultValue);
  return (
    <Labelled name={input.name} label={label} hint={hint}>
      <textarea className="input" rows={6} cols={60} {...input} {...control} />
    </Labelled>
  );
}

function Labelled({ name, label, hint, children }: Own & { children: ReactNode }) {
  const { id, errors } = use(FormFields);
  const error = errors[name];
  return (
    <div className="field">
      <label htmlFor={`${id}-${name}`}>{label}</label>
      {hint && (
        <p className="hint" id={`${id}-${name}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="error" id={`${id}-${name}-error`}>
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      )}
      {children}
    </div>
  );
}

/** The browser's own constraints, in our words: looked at when a field is left or chosen, never while typing. */
function useControl(name: string, label: string, hinted: boolean, initial: ComponentProps<"input">["defaultValue"]) {
  const { id, values, errors, report } = use(FormFields);
  const error = errors[name];
  const described = [hinted && `${id}-${name}-hint`, error && `${id}-${name}-error`].filter(Boolean).join(" ");
  return {
    id: `${id}-${name}`,
    defaultValue: values[name] ?? initial,
    "aria-invalid": error ? true : undefined,
    "aria-describedby": described || undefined,
    onBlur({ currentTarget: field }: FocusEvent<Control>) {
      // A field that was only passed through is no mistake yet; and a sentence that appears would push away what is being pressed.
      const pressed = document.querySelector(":is(button, a):active");
      if ((field.value || error) && !pressed) report(name, sentenceFor(field, label), false);
    },
    onInvalid(event: FormEvent<Control>) {
      event.preventDefault();
      report(name, sentenceFor(event.currentTarget, label), true);
    },
  };
}
