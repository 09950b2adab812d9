import type { ComponentProps } from "react";
import { Icon } from "../icon.tsx";

type Choice = { id: string; name: string };
export type Choices = {
  choices: Choice[];
  /** Label of the empty choice. Without it, one of the choices is always selected. */
  none?: string | undefined;
  /** Choices of another kind, under a heading. */
  others?: { label: string; choices: Choice[] };
};

/** Choices from a table of values and their names. */
export const choicesOf = (names: Record<string, string> = {}): Choice[] =>
  Object.entries(names).map(([id, name]) => ({ id, name }));

/** A native select with our arrow. */
export function Select({ choices, none, others, ...select }: Choices & ComponentProps<"select">) {
  return (
    <span className="select">
      <select className="input" {...select}>
        {none && <option value="">{none}</option>}
        {choices.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        {others && others.choices.length > 0 && (
          <optgroup label={others.label}>
            {others.choices.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
      </select>
      <Icon name="chevron" />
    </span>
  );
}
