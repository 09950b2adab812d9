import { Field, TextField } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { ResourceResult } from "./form-values.server.ts";
import type { Found } from "./references.server.ts";
import type { Field as Described } from "./resource.server.ts";

type Props = { fields: Described[]; values: Record<string, string>; result: ResourceResult | undefined };

/** The inputs of a resource, by their kinds; after a conflict, what is stored stands beside what was typed. */
export function ResourceFields({ fields, values, result }: Props) {
  const current = result ? { ...values, ...noPicks(result), ...result.values } : values;
  return (
    <Fields id="recurso" result={result}>
      {fields.map((field) => {
        const theirs = result?.theirs?.[field.name];
        return (
          <div key={field.name} className="contents">
            <Input field={field} values={current} found={result?.found?.[field.name]} />
            {theirs && <Theirs name={field.name} label={field.label} {...theirs} />}
          </div>
        );
      })}
      {result?.preview !== undefined && (
        <section className="previewed" aria-label="Vista previa">
          {/* Safe: it is our own Markdown renderer's, which lets no HTML through. */}
          <div className="prose" dangerouslySetInnerHTML={{ __html: result.preview || "<p>Nada que enseñar.</p>" }} />
        </section>
      )}
    </Fields>
  );
}

/** What is offered anew is not picked yet. */
const noPicks = ({ found = {} }: ResourceResult) =>
  Object.fromEntries(Object.keys(found).map((name) => [`pick.${name}`, ""]));

type InputProps = { field: Described; values: Record<string, string>; found: Found[] | undefined };

function Input({ field, values, found }: InputProps) {
  const { name, label, kind = "text", hint, choices, required } = field;
  const value = values[name] ?? "";
  const common = { name, label, hint, required, defaultValue: value };
  if (kind === "flag") {
    return (
      <label className="check">
        <input type="checkbox" name={name} value="true" defaultChecked={value === "true"} />
        <span>{label}</span>
      </label>
    );
  }
  if (kind === "choice") {
    return (
      <div className="field">
        <label htmlFor={`recurso-${name}`}>{label}</label>
        {hint && <p className="hint">{hint}</p>}
        <span className="select">
          <select className="input" id={`recurso-${name}`} name={name} defaultValue={value}>
            {Object.entries(choices ?? {}).map(([choice, said]) => (
              <option key={choice} value={choice}>
                {said}
              </option>
            ))}
          </select>
          <Icon name="chevron" />
        </span>
      </div>
    );
  }
  if (kind === "area") return <TextField {...common} />;
  if (kind === "markdown") {
    return (
      <>
        <TextField {...common} rows={10} />
        <div>
          <button type="submit" className="button small" name="intent" value="preview" formNoValidate>
            Vista previa
          </button>
        </div>
      </>
    );
  }
  if (kind === "secret") return <Field {...common} type="password" autoComplete="new-password" />;
  if (kind === "number") return <Field {...common} inputMode="decimal" size={16} />;
  if (kind === "moment") {
    return (
      <>
        <Field {...common} type="datetime-local" />
        <input type="hidden" name={`at.${name}`} value={values[`at.${name}`] ?? ""} />
        <input type="hidden" name={`zone.${name}`} value={values[`zone.${name}`] ?? ""} />
      </>
    );
  }
  if (kind === "text") return <Field {...common} />;
  return <ReferenceField {...common} values={values} found={found} />;
}

type ReferenceProps = Omit<InputProps, "field"> & Pick<Described, "label" | "hint" | "required"> & { name: string };

/** Something that exists already, looked for by its name: «Buscar» shows what there is, and one is picked. */
function ReferenceField({ values, found, ...field }: ReferenceProps) {
  const { name, label } = field;
  return (
    <div className="grid gap-2">
      {/* Keyed by what it stands for: the server may have written something else into it. */}
      <Field
        key={values[`for.${name}`]}
        {...field}
        required={field.required && !found?.length}
        defaultValue={values[name]}
        autoComplete="off"
      />
      <input type="hidden" name={`for.${name}`} value={values[`for.${name}`] ?? ""} />
      {found && found.length > 0 ? (
        <fieldset className="checks">
          <legend className="sr-only">{`${label}: elige`}</legend>
          {found.map(({ id, said, detail }) => (
            <label className="check" key={id}>
              <input type="radio" name={`pick.${name}`} value={id} defaultChecked={found.length === 1} />
              <span>
                {said} <span className="text-text-3">{detail}</span>
              </span>
            </label>
          ))}
        </fieldset>
      ) : (
        <input type="hidden" name={`pick.${name}`} value={values[`pick.${name}`] ?? ""} />
      )}
      <div>
        <button type="submit" className="button small" name="intent" value={`find.${name}`} formNoValidate>
          Buscar<span className="sr-only"> {label}</span>
        </button>
      </div>
    </div>
  );
}

/** What somebody else has stored meanwhile, to be kept instead. */
function Theirs({ name, label, value, said }: { name: string; label: string; value: string; said: string }) {
  return (
    <fieldset className="theirs">
      <legend>{label}: también lo ha cambiado otra persona</legend>
      <input type="hidden" name={`theirs.${name}`} value={value} />
      <label className="check">
        <input type="radio" name={`keep.${name}`} value="mine" defaultChecked />
        <span>Lo que he escrito yo</span>
      </label>
      <label className="check">
        <input type="radio" name={`keep.${name}`} value="theirs" />
        <span>Lo guardado: «{said || "vacío"}»</span>
      </label>
    </fieldset>
  );
}
