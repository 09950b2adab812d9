import { redirect } from "react-router";
import { ReceivedForm } from "../../../http/received-form.server.ts";
import { limits } from "../../../process/limits.ts";
import { blanksIn } from "../../../process/text/blanks.ts";
import { Field, SelectField } from "../../../ui/forms/field.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { UploadField } from "../../../ui/forms/upload-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { ago } from "../../../ui/times.ts";
import { read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext, filesContext, formContext } from "../../../web/context.ts";
import { type FormResult, textOf } from "../../../web/forms/form.server.ts";
import { typedFields } from "../../../web/forms/unsent-form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { listModels } from "../models.server.ts";
import { OwnLeaf } from "../own-list.tsx";
import type { Route } from "./+types/batches";
import { stateInWords } from "./state-in-words.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Preguntas en serie");

export async function loader({ context }: Route.LoaderArgs) {
  const { api } = context.get(apiContext);
  const [{ items }, templates, models] = await Promise.all([
    read(api.batch.$get()),
    read(api.template.$get({ query: { limit: String(limits.listMax) } })),
    listModels(context),
  ]);
  const now = Date.now();
  return {
    batches: items.map((batch) => ({
      id: batch.id,
      name: batch.title,
      line: `${stateInWords(batch)} · ${ago(batch.createdAt, now)}`,
    })),
    templates: templates.items
      .map(({ id, title, content }) => ({ id, title, blanks: blanksIn(content) }))
      .filter(({ blanks }) => blanks.length > 0),
    models: models.filter(({ local }) => !local),
  };
}

export async function action({ context }: Route.ActionArgs): Promise<FormResult> {
  const form = context.get(formContext);
  const fields = Object.fromEntries(
    ["templateId", "modelId", "budget", "looksIn"].map((name) => [name, textOf(form, name)]),
  );
  const body = new ReceivedForm(fields, context.get(filesContext).slice(0, 1));
  let id: string;
  try {
    ({ id } = await read(context.get(apiContext).api.batch.$post(undefined, { init: { body } })));
  } catch (error) {
    const { errors = {}, detail } = refusalIn(error, [404]);
    return { values: typedFields(form), errors, ...(Object.keys(errors).length === 0 && { message: detail }) };
  }
  throw redirect(`/conversation/serie/${id}`, 303);
}

/** A person's questions in series, and the form that begins some: a template over a table. */
export default function Batches({ loaderData: { batches, templates, models }, actionData }: Route.ComponentProps) {
  return (
    <OwnLeaf
      back={["/conversation/template", "Volver a las plantillas"]}
      title="Preguntas en serie"
      about="Una plantilla con huecos y una tabla: cada fila es una pregunta, y al final tienes la tabla con las respuestas. Se hacen una tras otra, también con la página cerrada, y cuentan en tu plan."
      at="/conversation/serie"
      rows={batches}
    >
      <h2 className="mt-8">Empezar una serie</h2>
      {templates.length === 0 ? (
        <p className="mt-3">
          Hace falta una plantilla con huecos, como {"{{ciudad}}"}.{" "}
          <a href="/conversation/template/crear">Crear plantilla</a>
        </p>
      ) : models.length === 0 ? (
        <p className="mt-3">No hay ningún modelo que pueda contestarlas. Avisa a quien administra.</p>
      ) : (
        <NewBatch templates={templates} models={models} result={actionData ?? undefined} />
      )}
    </OwnLeaf>
  );
}

type NewBatchProps = Pick<Route.ComponentProps["loaderData"], "templates" | "models"> & {
  result: FormResult | undefined;
};

/** The form that begins a series: its table, its template, and what is done with each row. */
function NewBatch({ templates, models, result }: NewBatchProps) {
  return (
    <PostForm className="fields mt-4" encType="multipart/form-data">
      <UploadField
        id="serie"
        result={result}
        label="Tabla"
        hint={`Un CSV de hasta 2 MB y ${limits.batchRows.toLocaleString("es")} filas, como los que guarda una hoja de cálculo. La primera fila lleva los nombres de los huecos.`}
        accept=".csv,.tsv,.txt,text/csv"
      >
        <SelectField
          name="templateId"
          label="Plantilla"
          choices={templates.map(({ id, title, blanks }) => ({ id, name: `${title} (${blanks.join(", ")})` }))}
        />
        <SelectField
          name="modelId"
          label="Modelo"
          defaultValue={models.find(({ isDefault }) => isDefault)?.id}
          choices={models}
        />
        <SelectField
          name="looksIn"
          label="Qué se hace con cada fila"
          hint={`Como encargos, hasta ${limits.batchErrands} filas: cada una se busca, se lee y se escribe, y tarda.`}
          none="Se pregunta al modelo"
          choices={[
            { id: "web,documents", name: "Un encargo, con la web y mis documentos" },
            { id: "web", name: "Un encargo, solo con la web" },
            { id: "documents", name: "Un encargo, solo con mis documentos" },
          ]}
        />
        <Field
          name="budget"
          label="Puede costar, como mucho"
          hint="En la moneda de los precios del modelo. Al llegar se para, y decides si sigue. Vacío: lo que dé tu plan."
          inputMode="decimal"
          maxLength={20}
        />
      </UploadField>
      <div className="buttons">
        <button type="submit" className="button primary">
          Empezar
        </button>
      </div>
    </PostForm>
  );
}
