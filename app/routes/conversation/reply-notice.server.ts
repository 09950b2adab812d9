import { read } from "../../web/api-result.server.ts";
import { apiContext, type Context } from "../../web/context.ts";

/** «Avísame» beside a reply that is being written: by e-mail alone or (also) on devices, and whether that was asked for. */
export type AskedNotice = { by: "mail" | "device"; asked: boolean };

/** How the person can be told of their reply; undefined where they can't. */
export async function noticeOf(context: Context, messageId: string): Promise<AskedNotice | undefined> {
  const { conversation } = context.get(apiContext).api.intelligence;
  const { by, asked } = await read(conversation[":messageId"].notify.$get({ param: { messageId } }));
  return by === null ? undefined : { by, asked };
}
