import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { decisionPath } from "./call-words.ts";
import { fieldName, type SchemaField } from "./schema-fields.ts";

export type ShownDecision = {
  replyId: string;
  n: number;
  /** Hash that the consent is bound to. */
  hash: string;
  title: string;
  /** The tool's question; without it, the form asks for permission. */
  question: string | undefined;
  fields: SchemaField[];
  /** Whether the call can't be allowed for the whole chat. */
  onceOnly: boolean;
};

type Props = {
  decision: ShownDecision;
  /** Typed values, and the errors in them. */
  values?: Record<string, string>;
  errors?: Record<string, string>;
};

/**
 * Asks the person about a call: shows exactly what would be done, in fields that they may change. It is a plain form, because it is also
 * written into pages that no router renders.
 */
export function DecisionForm({ decision, values = {}, errors = {} }: Props) {
  const { replyId, n, hash, title, question, fields, onceOnly } = decision;
  const id = `decidir-${replyId}-${n}`;
  return (
    <form className="decision" method="post" action={decisionPath(replyId, n)} aria-labelledby={id} data-decision-form>
      <FormTokenField />
      <input type="hidden" name="hash" value={hash} />
      <h3 id={id}>
        <Icon name="shield" />
        {title}
      </h3>
      {question && (
        <p dir="auto" className="asked">
          {question}
        </p>
      )}
      {fields.length > 0 && (
        <div className="fields">
          {fields.map((field) => (
            <SchemaInput
              key={field.name}
              id={`${id}-${field.name}`}
              field={field}
              typed={values[fieldName(field.name)]}
              error={errors[fieldName(field.name)]}
            />
          ))}
        </div>
      )}
      <div className="buttons">
        <button className="button primary" type="submit" name="decision" value="once">
          {question ? "Contestar" : "Permitir una vez"}
        </button>
        {!onceOnly && (
          <button className="button" type="submit" name="decision" value="chat">
            Permitir en esta conversación
          </button>
        )}
      </div>
      <div className="refusing">
        <label htmlFor={`${id}-porque`}>{question ? "No contestar, porque…" : "No permitir, porque…"}</label>
        <input
          className="input"
          id={`${id}-porque`}
          name="why"
          maxLength={300}
          defaultValue={values.why}
          placeholder="Si quieres decirle por qué"
        />
        <button className="button" type="submit" name="decision" value="no" formNoValidate>
          {question ? "No contestar" : "No permitir"}
        </button>
      </div>
    </form>
  );
}

type FieldProps = { id: string; field: SchemaField; typed: string | undefined; error: string | undefined };

/** A field for one property of a tool's input. */
export function SchemaInput({ id, field, typed, error }: FieldProps) {
  const { label, hint, kind, value } = field;
  if (kind === "fixed") {
    return (
      <div className="field">
        <p className="label">{label}</p>
        <pre dir="auto">{value}</pre>
      </div>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="error" id={`${id}-error`}>
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      )}
      <Control id={id} field={field} value={typed ?? value} error={error} />
    </div>
  );
}

function Control({
  id,
  field,
  value,
  error,
}: {
  id: string;
  field: SchemaField;
  value: string;
  error: string | undefined;
}) {
  const { name, hint, kind, choices, required } = field;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  const common = {
    id,
    name: fieldName(name),
    defaultValue: value,
    "aria-describedby": described,
    "aria-invalid": error ? true : undefined,
  };
  if (kind === "flag") {
    const answers = [
      { id: "", name: "No" },
      { id: "1", name: "Sí" },
    ];
    return <Select {...common} choices={answers} />;
  }
  if (kind === "choice") {
    const named = choices.map((choice) => ({ id: choice, name: choice }));
    return <Select {...common} choices={named} none={required ? undefined : "—"} />;
  }
  if (kind === "area") return <textarea className="input" rows={5} cols={60} dir="auto" {...common} />;
  return (
    <input className="input" size={40} dir="auto" inputMode={kind === "number" ? "decimal" : undefined} {...common} />
  );
}
