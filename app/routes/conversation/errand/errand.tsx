import { redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { renderedText } from "../../../markdown/rendered.server.ts";
import { digitalSource } from "../../../process/text/digital-source.ts";
import { Callout } from "../../../ui/callout.tsx";
import { spentInWords } from "../../../ui/figures/spent.ts";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { DeletionButtons } from "../deletion-buttons.tsx";
import type { Route } from "./+types/errand";
import { stateWords } from "./errand-words.ts";
import { Steps } from "./steps.tsx";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, loaderData?.errand.title ?? "Encargo");

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { report, ...errand } = await read(context.get(apiContext).api.errand[":id"].$get({ param: { id } }));
  const html = report && (await renderedText(`errand:${id}`, report, { docId: id }, id));
  return { errand, html };
}

const fields = z.object({ does: z.enum(["start", "finish", "stop", "delete"]) });

export const action = ({ context, params: { id } }: Route.ActionArgs) =>
  sendFields(context, fields, async ({ does }) => {
    const one = context.get(apiContext).api.errand[":id"];
    const param = { id };
    if (does === "stop") await accepted(one.stop.$post({ param }));
    else if (does === "delete") await accepted(one.$delete({ param }));
    else await accepted(one.start.$post({ param, json: { finish: does === "finish" } }));
    return redirect(does === "delete" ? "/conversation/encargo" : `/conversation/encargo/${id}`, 303);
  });

/** An errand: its plan, what has been done and found so far, and the report as it grows. */
export default function Errand({ loaderData: { errand, html }, actionData }: Route.ComponentProps) {
  const { id, title, question, state, problem, plan, steps, stepsInAll, artifactId } = errand;
  const isAtWork = state === "planning" || state === "running";
  const told = actionData?.message ?? problem;
  return (
    <Leaf back={["/conversation/encargo", "Volver a los encargos"]} title={title}>
      {isAtWork && <meta httpEquiv="refresh" content="5" />}
      {question !== title && <p className="mt-3 text-text-2 break-words whitespace-pre-wrap">{question}</p>}
      {told && (
        <Callout type="warning">
          <p>{told}</p>
        </Callout>
      )}
      <p className="mt-4" role="status">
        {stateInWords(errand)}
        {isAtWork && " Puedes cerrar esta página: se sigue haciendo."}
      </p>
      {steps > 0 && (
        <progress className="advance mt-4" value={steps} max={Math.max(1, stepsInAll)} aria-label="Pasos dados" />
      )}
      <Actions
        id={id}
        state={state}
        artifactId={artifactId}
        planned={plan.length > 0}
        left={errand.stepsTaken.some((one) => one.state !== "done")}
      />
      {!isAtWork && (
        <p className="mt-3">
          <a href={`/conversation/encargo/${id}/plan`}>Cambiar el plan, el modelo y los límites</a>
        </p>
      )}
      {plan.length > 0 && (
        <section className="mt-8" aria-label="Plan">
          <h2>{state === "planned" ? "Plan" : "Qué se ha hecho"}</h2>
          <Steps plan={plan} steps={errand.stepsTaken} showNotes={!isAtWork} />
        </section>
      )}
      {html && (
        <article className="mt-8" aria-label="Informe" data-digital-source-type={digitalSource.generated}>
          <h2>{state === "done" ? "Informe" : "Informe, hasta ahora"}</h2>
          {/* Safe: made by our own Markdown, which has no HTML of others. */}
          <div className="prose mt-4" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
        </article>
      )}
    </Leaf>
  );
}

type Errand = Route.ComponentProps["loaderData"]["errand"];

function stateInWords({ state, steps, minutes, cost, budget }: Errand): string {
  const said = [
    steps > 0 && `${steps.toLocaleString("es")} ${steps === 1 ? "paso" : "pasos"}`,
    minutes > 0 && `${minutes.toLocaleString("es")} min de trabajo`,
    spentInWords(cost, budget),
  ].filter(Boolean);
  return `${[stateWords[state], ...said].join(" · ")}.`;
}

type ActionsProps = Pick<Errand, "id" | "state" | "artifactId"> & { planned: boolean; left: boolean };

function Actions({ id, state, artifactId, planned, left }: ActionsProps) {
  const [search] = useSearchParams();
  const isAtWork = state === "planning" || state === "running";
  const again = state === "paused" || state === "stopped" || (state === "done" && left);
  const words = !planned ? "Preparar el plan" : state === "planned" ? "Empezar" : "Seguir";
  return (
    <PostForm className="fields mt-6">
      <div className="buttons">
        {artifactId && state === "done" && (
          <a className="button primary" href={`/conversation/escrito/${artifactId}`}>
            Abrir el informe
          </a>
        )}{" "}
        {isAtWork && (
          <button type="submit" className="button" name="does" value="stop">
            Parar
          </button>
        )}
        {(state === "planned" || again) && (
          <button type="submit" className={state === "done" ? "button" : "button primary"} name="does" value="start">
            {words}
          </button>
        )}{" "}
        {again && planned && (
          <button type="submit" className="button" name="does" value="finish">
            Escribir con lo que hay
          </button>
        )}{" "}
        <DeletionButtons
          asked={search.has("eliminar")}
          at={`/conversation/encargo/${id}`}
          words="Eliminar el encargo y lo que encontró"
        />
      </div>
    </PostForm>
  );
}
