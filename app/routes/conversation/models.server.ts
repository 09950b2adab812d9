import { read } from "../../web/api-result.server.ts";
import { apiContext, type Context } from "../../web/context.ts";

/** `local`: the built-in assistant, which searches and quotes but is not a language model. */
export type ModelChoice = { id: string; name: string; isDefault: boolean; seesImages: boolean; local: boolean };

/** The models a person may choose from, the default marked. */
export async function listModels(context: Context): Promise<ModelChoice[]> {
  const filter = JSON.stringify({ enabled: true });
  const { items } = await read(context.get(apiContext).api.model.$get({ query: { filter, limit: "100" } }));
  return items.map(({ id, name, isDefault, acceptsImages, provider }) => ({
    id,
    name,
    isDefault,
    seesImages: acceptsImages,
    local: provider === "local",
  }));
}
