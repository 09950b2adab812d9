import { read } from "../../web/api-result.server.ts";
import { apiContext, type Context } from "../../web/context.ts";

/** How somebody can be told that a reply is there: by e-mail alone, or (also) on their devices. */
export type WayToTell = "mail" | "device";

/** How the person can be told that a reply is there; undefined: not at all. */
export async function wayToTell(context: Context): Promise<WayToTell | undefined> {
  const { api, auth } = context.get(apiContext);
  const [{ tells }, { count }] = await Promise.all([read(auth.options.$get()), read(api.device.$get())]);
  return count > 0 ? "device" : tells ? "mail" : undefined;
}
