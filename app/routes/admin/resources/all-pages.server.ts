import { read } from "../../../web/api-result.server.ts";
import type { Calls, Item, ItemPage } from "../descriptions/description.ts";

/**
 * The items of a list to its end, a page at a time. The first page is read before the promise resolves: if this read renews the session
 * tokens, the cookie can still be set.
 */
export async function allPages(list: Calls["$get"], query: object): Promise<AsyncGenerator<Item[]>> {
  const { cursor: _, ...rest } = query as Record<string, string>;
  const ask = (cursor?: string): Promise<ItemPage> =>
    read(list({ query: { ...rest, limit: "100", ...(cursor && { cursor }) } }));
  const first = await ask();
  async function* pages(): AsyncGenerator<Item[]> {
    for (let answer = first; ; answer = await ask(answer.nextCursor)) {
      yield answer.items;
      if (!answer.nextCursor) return;
    }
  }
  return pages();
}
