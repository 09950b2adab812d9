import { read } from "../../../web/api-result.server.ts";
import { apiContext, type Context } from "../../../web/context.ts";
import { zoneContext } from "../zone.server.ts";

export type DueNow = { total: number; items: { id: string; name: string; to: string | null; at: string }[] };

/** Address at which an administrator sees an item; null: only its owner sees it. */
const places = { file: "/user/file", chat: "/admin/chat", artifact: null };

/** Items that a rule of retention would delete now, the oldest first. */
export async function dueNow(context: Context, id: string): Promise<DueNow> {
  const { total, items } = await read(context.get(apiContext).api.retention[":id"].due.$get({ param: { id } }));
  const day = new Intl.DateTimeFormat("es", { dateStyle: "medium", timeZone: context.get(zoneContext) });
  return {
    total,
    items: items.map((item) => ({
      ...item,
      to: places[item.kind] && `${places[item.kind]}/${item.id}`,
      at: day.format(Date.parse(item.at)),
    })),
  };
}
