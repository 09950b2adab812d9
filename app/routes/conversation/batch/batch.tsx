import { redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { Callout } from "../../../ui/callout.tsx";
import { spentInWords, sumInWords } from "../../../ui/figures/spent.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { type FormResult, sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { DeletionButtons } from "../deletion-buttons.tsx";
import type { Route } from "./+types/batch";
import { stateInWords } from "./state-in-words.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, loaderData?.batch.title ?? "Preguntas en serie");

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  return { batch: await read(context.get(apiContext).api.batch[":id"].$get({ param: { id } })) };
}

const fields = z.object({ does: z.enum(["stop", "resume", "delete"]), budget: z.string().default("") });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ does, budget }) => {
    const one = context.get(apiContext).api.batch[":id"];
    if (does === "stop") await accepted(one.stop.$post({ param: { id } }));
    if (does === "resume") await accepted(one.resume.$post({ param: { id }, json: { budget } }));
    if (does === "delete") await accepted(one.$delete({ param: { id } }));
    return redirect(does === "delete" ? "/conversation/serie" : `/conversation/serie/${id}`, 303);
  });

/** How far a series of questions has come, and its result. */
export default function Batch({ loaderData: { batch }, actionData }: Route.ComponentProps) {
  const { id, title, state, total, answered, failed, cost, budget, problem } = batch;
  const isRunning = state === "running";
  const told = actionData?.message ?? problem;
  return (
    <Leaf back={["/conversation/serie", "Volver a las preguntas en serie"]} title={title}>
      {isRunning && <meta httpEquiv="refresh" content="5" />}
      {told && (
        <Callout type="warning">
          <p>{told}</p>
        </Callout>
      )}
      <p className="mt-4" role="status">
        {[`Está ${stateInWords(batch)}`, spentInWords(cost, budget)].filter(Boolean).join("; ")}.
        {isRunning && " Puedes cerrar esta página: se sigue haciendo."}
      </p>
      <progress className="advance mt-4" value={answered + failed} max={total} aria-label="Preguntas contestadas" />
      <p className="buttons mt-6">
        <a className="button primary" href={`/conversation/serie/${id}/descargar`}>
          {isRunning ? "Descargar lo que hay" : "Descargar la tabla"}
        </a>
      </p>
      <p className="mt-3 text-text-2">
        Es un CSV: tus columnas, la respuesta de cada fila y, si no la hay, por qué. La ha escrito una IA: comprueba lo
        importante.
      </p>
      <NextSteps batch={batch} result={actionData ?? undefined} />
    </Leaf>
  );
}

type NextProps = { batch: Route.ComponentProps["loaderData"]["batch"]; result: FormResult | undefined };

/** Buttons that stop the series, let it go on with another budget, or delete it. */
function NextSteps({ batch: { id, state, answered, total, budget }, result }: NextProps) {
  const [search] = useSearchParams();
  return (
    <PostForm className="fields mt-6">
      {state === "paused" && budget !== null && (
        <Fields id="seguir" result={result}>
          <Field
            name="budget"
            label="Puede costar, como mucho"
            hint={`Con lo que ya ha costado. Ahora, ${sumInWords(budget)}.`}
            inputMode="decimal"
            maxLength={20}
          />
        </Fields>
      )}
      <div className="buttons">
        {state === "running" ? (
          <button type="submit" className="button" name="does" value="stop">
            Parar
          </button>
        ) : (
          answered < total && (
            <button type="submit" className="button" name="does" value="resume">
              Seguir con las que faltan
            </button>
          )
        )}{" "}
        <DeletionButtons
          asked={search.has("eliminar")}
          at={`/conversation/serie/${id}`}
          words="Eliminar la tabla y sus respuestas"
        />
      </div>
    </PostForm>
  );
}
