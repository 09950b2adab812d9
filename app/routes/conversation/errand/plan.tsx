import { redirect } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { numberTyped } from "../../../process/text/number-typed.ts";
import { Field, TextField } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { PostForm } from "../../../ui/forms/post-form.tsx";
import { Leaf } from "../../../ui/leaf.tsx";
import { named } from "../../../ui/navigation/page-title.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext } from "../../../web/context.ts";
import { sendFields, textOf } from "../../../web/forms/form.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import { listModels } from "../models.server.ts";
import type { Route } from "./+types/plan";
import { Bounds } from "./bounds.tsx";
import { placeNames, placesOf } from "./errand-words.ts";
import { Places } from "./places.tsx";
import { planAsText, planFromText } from "./plan-text.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];
export const meta: Route.MetaFunction = ({ loaderData, matches }) =>
  named(matches, `Plan de «${loaderData?.errand.title ?? "encargo"}»`);

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const errand = await read(context.get(apiContext).api.errand[":id"].$get({ param: { id } }));
  if (errand.state === "planning" || errand.state === "running") throw redirect(`/conversation/encargo/${id}`);
  const models = (await listModels(context)).filter(({ local }) => !local);
  return { errand, text: planAsText(errand.plan), models };
}

const fields = z.object({
  title: z.string().default(""),
  modelId: z.string().default(""),
  looksIn: z.enum(placeNames).default("both"),
  plan: z.string().default(""),
  budget: z.string().default(""),
  stepsAtMost: z.string().default(""),
  minutesAtMost: z.string().default(""),
  notifies: z.string().default(""),
});

export const action = ({ context, params: { id } }: Route.ActionArgs) => {
  const form = context.get(formContext);
  return sendFields(context, fields, async ({ title, plan, modelId, looksIn, notifies, ...bounds }) => {
    const json = {
      ...{ title, notifies: notifies !== "", budget: numberTyped(bounds.budget), looksIn: placesOf(looksIn) },
      ...(form.has("plan") && { plan: planFromText(plan) }),
      ...(modelId && { modelId }),
      stepsAtMost: numberTyped(bounds.stepsAtMost) ?? -1,
      minutesAtMost: numberTyped(bounds.minutesAtMost) ?? -1,
    };
    const one = context.get(apiContext).api.errand[":id"];
    const options = { headers: { "If-Match": `"${textOf(form, "version")}"` } };
    await accepted(one.$patch({ param: { id }, json }, options));
    if (textOf(form, "does") === "start") await accepted(one.start.$post({ param: { id }, json: {} }));
    return redirect(`/conversation/encargo/${id}`, 303);
  });
};

/** The plan of an errand and how far it may go, to be changed and agreed to. */
export default function Plan({ loaderData: { errand, text, models }, actionData }: Route.ComponentProps) {
  const { id, title, updatedAt } = errand;
  return (
    <Leaf back={[`/conversation/encargo/${id}`, "Volver sin guardar"]} title={`Plan de «${title}»`}>
      <PostForm className="fields mt-6">
        <input type="hidden" name="version" value={updatedAt} />
        <Fields id="plan" result={actionData ?? undefined}>
          <Field name="title" label="Título del informe" defaultValue={title} required maxLength={limits.chatTitle} />
          {text && (
            <TextField
              name="plan"
              label="Partes"
              hint={`Una línea para cada parte, ${limits.errandParts} como mucho, y debajo lo que se busca para ella, cada búsqueda detrás de un guion.`}
              defaultValue={text}
              rows={14}
              required
            />
          )}
          <Places models={models} modelId={errand.modelId ?? undefined} looksIn={errand.looksIn} />
          <Bounds errand={errand} />
        </Fields>
        <div className="buttons">
          <button type="submit" className="button primary" name="does" value="start">
            Guardar y empezar
          </button>{" "}
          <button type="submit" className="button" name="does" value="save">
            Guardar
          </button>
        </div>
      </PostForm>
    </Leaf>
  );
}
