import { useNavigation } from "react-router";
import { SelectField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import type { TriedAgain } from "./try-again.server.ts";

type Props = { models: { id: string; name: string }[]; reply: string; result: TriedAgain | undefined };

/** Puts the question of an opinion to another model; the new answer stands beside the judged one. */
export function TryAgain({ models, reply, result }: Props) {
  const asking = useNavigation().state === "submitting";
  if (models.length === 0) return null;
  const tried = result && "tried" in result ? result.tried : undefined;
  return (
    <section className="given">
      <h2>Probar de nuevo</h2>
      <PostForm className="fields mt-5" preventScrollReset>
        <Fields id="probar" result={result && "errors" in result ? result : undefined}>
          <SelectField
            name="modelId"
            label="Con el modelo"
            hint="Se le manda solo la pregunta, sin lo que iba antes, y no se guarda nada."
            choices={models}
          />
        </Fields>
        <p className="buttons">
          <button type="submit" className="button small">
            {asking ? "Probando…" : "Probar"}
          </button>
        </p>
      </PostForm>
      {tried && (
        <div className="side-by-side" role="status">
          <section className="given">
            <h3>La respuesta de entonces</h3>
            <pre tabIndex={-1}>{reply}</pre>
          </section>
          <section className="given">
            <h3>{tried.ok ? `Lo que contesta ${tried.model}` : `${tried.model} no ha contestado`}</h3>
            <pre tabIndex={-1}>{tried.answer}</pre>
          </section>
        </div>
      )}
    </section>
  );
}
