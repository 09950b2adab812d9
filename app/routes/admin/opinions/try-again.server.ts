import { z } from "zod";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, type Context } from "../../../web/context.ts";
import { type FormResult, sendFields } from "../../../web/forms/form.server.ts";

/** Another model's answer to the same question; if it could not answer, `ok` is false and `answer` says why. */
export type TriedAgain = { tried: { model: string; ok: boolean; answer: string } } | FormResult;

/** The models to which a question can be put again. */
export async function modelsToTry(context: Context): Promise<{ id: string; name: string }[]> {
  const { items } = await read(context.get(apiContext).api.model.$get({ query: { limit: "100" } }));
  return items.filter(({ provider }) => provider !== "local").map(({ id, name }) => ({ id, name }));
}

/** «Probar de nuevo»: asks the chosen model what was asked when the opinion was given. */
export const tryAgain = (context: Context, id: string) =>
  sendFields(context, z.object({ modelId: z.string().default("") }), async ({ modelId }) => {
    const { api } = context.get(apiContext);
    const { ok, answer } = await read(api.opinion[":id"].try.$post({ param: { id }, json: { modelId } }));
    const { name } = await read(api.model[":id"].$get({ param: { id: modelId } }));
    return { tried: { model: name, ok, answer } };
  });
