import { read } from "../../../web/api-result.server.ts";
import type { Context } from "../../../web/context.ts";
import type { AnyAdminResource } from "../descriptions/description.ts";
import { resourceOf } from "./resource.server.ts";

/** Things that would be deleted with these items of a resource, in words: «3 conversaciones y 1 proyecto»; empty for nothing. */
export async function goesAlong(context: Context, { goes = [] }: AnyAdminResource, ids: string[]): Promise<string> {
  const counted = await Promise.all(
    goes.map(async ({ path, filter, words: [one, many] }) => {
      const { list } = resourceOf(context, path);
      let [total, atLeast] = [0, ""];
      // One request after the other: a hundred items may be marked, and other people's requests have their turn in between.
      for (const id of ids) {
        const page = await read(list({ query: { limit: "1", filter: JSON.stringify({ [filter]: id }) } }));
        total += page.total;
        if (page.totalIsMinimum) atLeast = "más de ";
      }
      return total === 0 ? [] : [`${atLeast}${total.toLocaleString("es")} ${total === 1 ? one : many}`];
    }),
  );
  return new Intl.ListFormat("es").format(counted.flat());
}
