import { use } from "react";
import { Field, SelectField, TextField } from "../../../ui/forms/field.tsx";
import { Fields, FormFields } from "../../../ui/forms/fields.tsx";
import { choicesOf } from "../../../ui/forms/select.tsx";
import { Icon } from "../../../ui/icon.tsx";
import type { FoundReference } from "../resources/references.server.ts";
import type { ShownField as Described, ResourceResult } from "./form-values.server.ts";
import { hidden } from "./hidden-fields.ts";

type Props = {
  fields: Described[];
  values: Record<string, string>;
  presets: { name: string; label: string }[];
  /** Suggestions for fields that refer to something. */
  suggestions: Record<string, string[]>;
  result: ResourceResult | undefined;
};

/** The inputs of a resource, by their kinds; after a conflict, the stored values stand beside the typed ones. */
export function ResourceFields({ fields, values, presets, suggestions, result }: Props) {
  const current = result ? { ...values, ...noPicks(result), ...result.values } : values;
  const shown = (field: Described) => {
    const { name, label } = field;
    const theirs = result?.theirs?.[name];
    return (
      <div key={name} className={field.half ? "half" : "whole"}>
        <Input field={field} values={current} found={result?.found?.[name]} suggested={suggestions[name] ?? []} />
        {theirs && <Theirs name={name} label={label} {...theirs} />}
      </div>
    );
  };
  const folded = fields.filter((field) => field.folded);
  const wrong = folded.some(({ name }) => result?.errors[name] ?? result?.theirs?.[name]);
  return (
    <Fields id="recurso" result={result}>
      <div className="halves" key={result?.filled}>
        {fields.filter((field) => !field.folded).map(shown)}
      </div>
      {presets.length > 0 && (
        <fieldset className="buttons">
          <legend className="hint mb-2">Los límites habituales de cada plan</legend>
          {presets.map(({ name, label }) => (
            <button
              key={name}
              type="submit"
              className="button small"
              name="intent"
              value={`preset.${name}`}
              formNoValidate
            >
              {label}
            </button>
          ))}
        </fieldset>
      )}
      {folded.length > 0 && (
        <details className="more" open={wrong || undefined}>
          <summary>
            Más opciones <Icon name="chevron" />
          </summary>
          <div className="halves mt-4">{folded.map(shown)}</div>
        </details>
      )}
      {result?.preview !== undefined && (
        <section className="previewed" aria-label="Vista previa">
          {/* Safe: made by our own Markdown renderer, which lets no HTML through. */}
          <div className="prose" dangerouslySetInnerHTML={{ __html: result.preview || "<p>Nada que enseñar.</p>" }} />
        </section>
      )}
    </Fields>
  );
}

/** Clears the picked ids of reference fields with new search results: none of these has been picked yet. */
const noPicks = ({ found = {} }: ResourceResult) =>
  Object.fromEntries(Object.keys(found).map((name) => [hidden.picked(name), ""]));

type InputProps = {
  field: Described;
  values: Record<string, string>;
  found: FoundReference[] | undefined;
  suggested: string[];
};

function Input({ field, values, found, suggested }: InputProps) {
  const { name, label, kind = "text", hint, choices, required, rules } = field;
  const value = values[name] ?? "";
  const common = { name, label, hint, required, defaultValue: value };
  if (kind === "flag") {
    return (
      <div>
        <label className="check">
          <input
            type="checkbox"
            name={name}
            value="true"
            defaultChecked={value === "true"}
            aria-describedby={hint && `${name}-hint`}
          />
          <span>{label}</span>
        </label>
        {hint && (
          <p className="hint" id={`${name}-hint`}>
            {hint}
          </p>
        )}
      </div>
    );
  }
  if (kind === "choice") {
    return <SelectField {...common} choices={choicesOf(choices)} />;
  }
  if (kind === "groups") return <Groups {...common} choices={choices ?? {}} />;
  const { type, min, max, ...lengths } = rules;
  if (kind === "area") return <TextField {...common} {...lengths} />;
  if (kind === "markdown") {
    return (
      <>
        <TextField {...common} {...lengths} rows={10} />
        <div>
          <button type="submit" className="button small" name="intent" value="preview" formNoValidate>
            Vista previa
          </button>
        </div>
      </>
    );
  }
  if (kind === "secret") return <Field {...common} {...lengths} type="password" autoComplete="new-password" />;
  if (kind === "number") {
    return <Field {...common} inputMode="decimal" size={16} pattern={number} data-min={min} data-max={max} />;
  }
  if (kind === "moment") {
    return (
      <>
        <Field {...common} type="datetime-local" />
        <input type="hidden" name={hidden.moment(name)} value={values[hidden.moment(name)]} />
        <input type="hidden" name={hidden.zone(name)} value={values[hidden.zone(name)]} />
      </>
    );
  }
  if (kind === "text") return <Field {...common} {...lengths} type={type} />;
  return <ReferenceField {...common} values={values} found={found} suggested={suggested} />;
}

// Decimals after a comma or a point.
const number = "\\s*-?\\d+([.,]\\d+)?\\s*";

type GroupsProps = {
  name: string;
  label: string;
  hint: string | undefined;
  defaultValue: string;
  choices: Record<string, string>;
};

/** Choice of the groups that a thing is for, among all groups. */
function Groups({ name, label, hint, defaultValue, choices }: GroupsProps) {
  const chosen = new Set(defaultValue.split("\n"));
  const { errors } = use(FormFields);
  return (
    <fieldset className="field groups">
      <legend className="label">{label}</legend>
      <p className="hint">{Object.keys(choices).length > 0 ? hint : "Todavía no hay grupos."}</p>
      {errors[name] && (
        <p className="error">
          <Icon name="alert" />
          <span>{errors[name]}</span>
        </p>
      )}
      <div className="checks">
        {Object.entries(choices).map(([id, group]) => (
          <label className="check" key={id}>
            <input type="checkbox" name={name} value={id} defaultChecked={chosen.has(id)} />
            <span>{group}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

type ReferenceProps = Omit<InputProps, "field"> & Pick<Described, "label" | "hint" | "required"> & { name: string };

/** A field that refers to an existing item: «Buscar» shows the items that match the text, and the person picks one. */
function ReferenceField({ values, found, suggested, ...field }: ReferenceProps) {
  const { name, label } = field;
  return (
    <div className="grid gap-2">
      {/* The key remounts the input when the server answers with another text: `defaultValue` applies only on mount. */}
      <Field
        key={values[hidden.pickedFor(name)]}
        {...field}
        required={field.required && !found?.length}
        defaultValue={values[name]}
        autoComplete="off"
        list={suggested.length > 0 ? `posibles-${name}` : undefined}
      />
      {suggested.length > 0 && (
        <datalist id={`posibles-${name}`}>
          {suggested.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
      <input type="hidden" name={hidden.pickedFor(name)} value={values[hidden.pickedFor(name)]} />
      {found && found.length > 0 ? (
        <fieldset className="checks">
          <legend className="sr-only">{`${label}: elige`}</legend>
          {found.map(({ id, said, detail }) => (
            <label className="check" key={id}>
              <input type="radio" name={hidden.picked(name)} value={id} defaultChecked={found.length === 1} />
              <span>
                {said} <span className="text-text-3">{detail}</span>
              </span>
            </label>
          ))}
        </fieldset>
      ) : (
        <input type="hidden" name={hidden.picked(name)} value={values[hidden.picked(name)]} />
      )}
      <div>
        <button type="submit" className="button small" name="intent" value={`find.${name}`} formNoValidate>
          Buscar<span className="sr-only"> {label}</span>
        </button>
      </div>
    </div>
  );
}

/** Choice between the typed value and the one that somebody else has stored meanwhile. */
function Theirs({ name, label, value, said }: { name: string; label: string; value: string; said: string }) {
  return (
    <fieldset className="theirs">
      <legend>{label}: también lo ha cambiado otra persona</legend>
      <input type="hidden" name={hidden.theirs(name)} value={value} />
      <label className="check">
        <input type="radio" name={hidden.keep(name)} value="mine" defaultChecked />
        <span>Lo que he escrito yo</span>
      </label>
      <label className="check">
        <input type="radio" name={hidden.keep(name)} value="theirs" />
        <span>Lo guardado: «{said || "vacío"}»</span>
      </label>
    </fieldset>
  );
}
