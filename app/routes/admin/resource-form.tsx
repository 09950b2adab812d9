import { Field, TextField } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { ResourceResult } from "./form-values.server.ts";
import type { Field as Described } from "./resource.server.ts";

type Props = {
  fields: Described[];
  values: Record<string, string>;
  result: ResourceResult | undefined;
  people: { email: string; name: string }[];
  projects: { id: string; name: string }[];
};

/** The inputs of a resource, by their kinds; after a conflict, what is stored stands beside what was typed. */
export function ResourceFields({ fields, values, result, people, projects }: Props) {
  const current = { ...values, ...result?.values };
  return (
    <Fields id="recurso" result={result}>
      {fields.map((field) => (
        <div key={field.name} className="contents">
          <Input field={field} value={current[field.name] ?? ""} projects={projects} />
          {result?.theirs && field.name in result.theirs && (
            <Theirs field={field} value={result.theirs[field.name] ?? ""} />
          )}
        </div>
      ))}
      {fields.some(({ kind }) => kind === "person") && (
        <datalist id="personas">
          {people.map(({ email, name }) => (
            <option key={email} value={email}>
              {name}
            </option>
          ))}
        </datalist>
      )}
      {result?.preview !== undefined && (
        <section className="previewed" aria-label="Vista previa">
          {/* Safe: it is our own Markdown renderer's, which lets no HTML through. */}
          <div className="prose" dangerouslySetInnerHTML={{ __html: result.preview || "<p>Nada que enseñar.</p>" }} />
        </section>
      )}
    </Fields>
  );
}

function Input({ field, value, projects }: { field: Described; value: string; projects: Props["projects"] }) {
  const { name, label, kind = "text", hint, choices, required } = field;
  const common = { name, label, hint, required, defaultValue: value };
  if (kind === "flag") {
    return (
      <label className="check">
        <input type="checkbox" name={name} value="true" defaultChecked={value === "true"} />
        <span>{label}</span>
      </label>
    );
  }
  if (kind === "choice" || kind === "project") {
    const offered =
      kind === "project"
        ? [["", "Ninguno"], ...projects.map(({ id, name: said }) => [id, said])]
        : Object.entries(choices ?? {});
    return (
      <div className="field">
        <label htmlFor={`recurso-${name}`}>{label}</label>
        {hint && <p className="hint">{hint}</p>}
        <span className="select">
          <select className="input" id={`recurso-${name}`} name={name} defaultValue={value}>
            {offered.map(([choice, said]) => (
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
  if (kind === "moment") return <Field {...common} type="datetime-local" />;
  if (kind === "person")
    return <Field {...common} list="personas" placeholder="correo@ejemplo.es" autoComplete="off" />;
  return <Field {...common} />;
}

/** What somebody else has stored meanwhile, to be kept instead. */
function Theirs({ field: { name, label, kind, choices }, value }: { field: Described; value: string }) {
  const said = kind === "flag" ? (value === "true" ? "Sí" : "No") : (choices?.[value] ?? value);
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
