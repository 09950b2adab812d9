import type { RouterContextProvider } from "react-router";
import { read } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";

export type ListedModel = { id: string; name: string; isDefault: boolean; seesImages: boolean };

/** The models a person may choose from, the default marked. */
export async function listModels(context: Readonly<RouterContextProvider>): Promise<ListedModel[]> {
  const filter = JSON.stringify({ enabled: true });
  const { items } = await read(context.get(apiContext).api.model.$get({ query: { filter, limit: "100" } }));
  return items.map(({ id, name, isDefault, acceptsImages }) => ({ id, name, isDefault, seesImages: acceptsImages }));
}
