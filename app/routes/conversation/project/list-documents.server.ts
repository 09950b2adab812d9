import { limits } from "../../../process/limits.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, type Context } from "../../../web/context.ts";

/**
 * A page of a project's documents by name, from `cursor`. Documents that are being read or can't be read stand first, on the first page.
 * `total`: number of all documents; only on the first page. `unlisted`: number of unread documents beyond those that one list may have.
 */
export async function listDocuments(context: Context, projectId: string, cursor: string | null) {
  const { file } = context.get(apiContext).api;
  const list = (ready: boolean, from?: string | null) =>
    read(
      file.$get({
        query: {
          filter: JSON.stringify({ projectId, ready }),
          sort: '{"name":"asc"}',
          limit: String(limits.listMax),
          ...(from && { cursor: from }),
        },
      }),
    );
  const [unread, ready] = await Promise.all([cursor ? undefined : list(false), list(true, cursor)]);
  return {
    items: [...(unread?.items ?? []), ...ready.items],
    total: (unread?.total ?? 0) + ready.total,
    unlisted: unread ? unread.total - unread.items.length : 0,
    earlier: cursor !== null,
    next: ready.nextCursor,
  };
}
