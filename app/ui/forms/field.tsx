import { type ComponentProps, type FocusEvent, type FormEvent, type ReactNode, use } from "react";
import { Icon } from "../icon.tsx";
import { sentenceFor } from "./constraints.ts";
import { FormFields } from "./fields.tsx";
import { type Choices, Select } from "./select.tsx";

type Own = { name: string; label: string; hint?: ReactNode };
type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** A labelled input with its hint and its error, in that order. */
export function Field({ label, hint, ...input }: Omit<ComponentProps<"input">, "id" | "name"> & Own) {
  const { defaultValue, ...control } = useControl(input.name, label, hint !== undefined, input.defaultValue);
  return (
    <Labelled name={input.name} label={label} hint={hint}>
      <input className="input" size={40} {...input} {...control} {...(input.type !== "password" && { defaultValue })} />
    </Labelled>
  );
}

/** A labelled field for text of several lines. */
export function TextField({ label, hint, ...input }: Omit<ComponentProps<"textarea">, "id" | "name"> & Own) {
  const control = useControl(input.name, label, hint !== undefined, input.defaultValue);
  return (
    <Labelled name={input.name} label={label} hint={hint}>
      <textarea className="input" rows={6} cols={60} {...input} {...control} />
    </Labelled>
  );
}

/** A field in which one of several is chosen. */
export function SelectField({ label, hint, ...select }: Omit<ComponentProps<"select">, "id" | "name"> & Own & Choices) {
  const control = useControl(select.name, label, hint !== undefined, select.defaultValue);
  return (
    <Labelled name={select.name} label={label} hint={hint}>
      <Select {...select} {...control} />
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

/** Validates with HTML constraints and Spanish sentences on blur and change, never while typing. */
function useControl(name: string, label: string, hinted: boolean, initial: ComponentProps<"input">["defaultValue"]) {
  const { id, values, errors, report } = use(FormFields);
  const error = errors[name];
  const lookAt = (field: Control) => {
    // Delayed: an appearing sentence would move the button that is being pressed.
    if (!document.querySelector(":is(button, a):active")) report(name, sentenceFor(field, label), false);
  };
  const described = [hinted && `${id}-${name}-hint`, error && `${id}-${name}-error`].filter(Boolean).join(" ");
  return {
    id: `${id}-${name}`,
    defaultValue: values[name] ?? initial,
    "aria-invalid": error ? true : undefined,
    "aria-describedby": described || undefined,
    // The native change event, which React does not expose: dates are picked and fields are autofilled without blur.
    ref(field: Control | null) {
      const look = () => field && lookAt(field);
      field?.addEventListener("change", look);
      return () => field?.removeEventListener("change", look);
    },
    onInput({ currentTarget: field }: FormEvent<Control>) {
      field.dataset.touched = "";
    },
    onBlur({ currentTarget: field }: FocusEvent<Control>) {
      // An empty required field that was only tabbed through is not reported yet.
      if (error || "touched" in field.dataset) lookAt(field);
    },
    onInvalid(event: FormEvent<Control>) {
      event.preventDefault();
      report(name, sentenceFor(event.currentTarget, label), true);
    },
  };
}
