import type { Context } from "../../web/context.ts";
import { dashboardOf } from "../../web/dashboard.server.ts";

/** `local`: the built-in assistant, which searches and quotes but is not a language model. */
export type ModelChoice = { id: string; name: string; isDefault: boolean; seesImages: boolean; local: boolean };

/** The models a person may choose from, the default marked. */
export async function listModels(context: Context): Promise<ModelChoice[]> {
  const { models } = await dashboardOf(context);
  return models.map(({ id, name, isDefault, acceptsImages, provider }) => ({
    id,
    name,
    isDefault,
    seesImages: acceptsImages,
    local: provider === "local",
  }));
}
