import { redirect } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { numberTyped } from "../../../process/text/number-typed.ts";
import { TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { ago } from "../../../ui/times.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { listModels } from "../models.server.ts";
import { OwnLeaf } from "../own-list.tsx";
import type { Route } from "./+types/errands";
import { Bounds } from "./bounds.tsx";
import { placeNames, placesOf, stateWords } from "./errand-words.ts";
import { Places } from "./places.tsx";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta = titled("Encargos");

export async function loader({ context }: Route.LoaderArgs) {
  const [{ items }, models] = await Promise.all([read(context.get(apiContext).api.errand.$get()), listModels(context)]);
  const now = Date.now();
  return {
    errands: items.map(({ id, title, state, updatedAt }) => ({
      ...{ id, name: title },
      line: `${stateWords[state]} · ${ago(updatedAt, now)}`,
    })),
    models: models.filter(({ local }) => !local),
  };
}

const fields = z.object({
  question: z.string().default(""),
  modelId: z.string().default(""),
  looksIn: z.enum(placeNames).default("both"),
  budget: z.string().default(""),
  stepsAtMost: z.string().default(""),
  minutesAtMost: z.string().default(""),
  notifies: z.string().default(""),
});

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ modelId, looksIn, notifies, question, ...bounds }) => {
    const steps = numberTyped(bounds.stepsAtMost);
    const minutes = numberTyped(bounds.minutesAtMost);
    const json = {
      ...{ question, looksIn: placesOf(looksIn), budget: numberTyped(bounds.budget), notifies: notifies !== "" },
      ...(modelId && { modelId }),
      ...(steps !== null && { stepsAtMost: steps }),
      ...(minutes !== null && { minutesAtMost: minutes }),
    };
    const { id } = await read(context.get(apiContext).api.errand.$post({ json }));
    return redirect(`/conversation/encargo/${id}`, 303);
  });

/** A person's errands, and the form that begins one. */
export default function Errands({ loaderData: { errands, models }, actionData }: Route.ComponentProps) {
  return (
    <OwnLeaf
      back={["/conversation/chat", "Volver a las conversaciones"]}
      title="Encargos"
      about="Una pregunta que lleva tiempo: se hace un plan, que tú cambias y apruebas, y después se busca, se lee y se escribe un informe con sus fuentes, también con la página cerrada. Cuenta en tu plan."
      at="/conversation/encargo"
      rows={errands}
    >
      <h2 className="mt-8">Hacer un encargo</h2>
      {models.length === 0 ? (
        <p className="mt-3">No hay ningún modelo que pueda hacerlo. Avisa a quien administra.</p>
      ) : (
        <PostForm className="fields mt-4">
          <Fields id="encargo" result={actionData ?? undefined}>
            <TextField
              name="question"
              label="Qué quieres saber"
              hint="Cuanto más concreto, mejor: para qué es, de qué lugar, de qué años."
              rows={4}
              required
              maxLength={limits.message}
            />
            <Places models={models} />
            <Bounds />
          </Fields>
          <div className="buttons">
            <button type="submit" className="button primary">
              Preparar el plan
            </button>
          </div>
        </PostForm>
      )}
    </OwnLeaf>
  );
}
