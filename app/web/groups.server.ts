import { read } from "./api-result.server.ts";
import { apiContext, type Context } from "./context.ts";

// As many as a list answers at once.
const atOnce = "100";

/** All groups of the installation by their ids. Only for administrators. */
async function listGroups(context: Context): Promise<Map<string, string>> {
  const { group } = context.get(apiContext).api;
  const names = new Map<string, string>();
  for (let cursor: string | undefined; ; ) {
    const page = await read(group.$get({ query: { limit: atOnce, ...(cursor && { cursor }) } }));
    for (const { id, name } of page.items) names.set(id, name);
    if (!page.nextCursor) return names;
    cursor = page.nextCursor;
  }
}

/** All groups to choose from, and the deleted ones in `ids`, so that things shown only to a deleted group do not become everybody's. */
export async function groupChoices(context: Context, ids: string[]): Promise<{ id: string; name: string }[]> {
  const names = await listGroups(context);
  const gone = ids.filter((id) => !names.has(id)).map((id) => ({ id, name: "Un grupo eliminado" }));
  return [...gone, ...[...names].map(([id, name]) => ({ id, name }))];
}
