import { read } from "../../web/api-result.server.ts";
import { apiContext, type Context } from "../../web/context.ts";

/** How somebody can be told that a reply is there: by e-mail alone, or (also) on their devices. */
export type WayToTell = "mail" | "device";

/** How the person can be told that a reply is there; undefined: not at all. */
export async function wayToTell(context: Context): Promise<WayToTell | undefined> {
  const { count, mails } = await read(context.get(apiContext).api.device.$get());
  return count > 0 ? "device" : mails ? "mail" : undefined;
}

/** «Avísame» beside a reply that is being written: how, and whether that was asked for. Undefined where nobody can be told. */
export type ReplyNotice = { by: WayToTell; asked: boolean };

export async function noticeOf(context: Context, messageId: string): Promise<ReplyNotice | undefined> {
  const { conversation } = context.get(apiContext).api.intelligence;
  const [by, { asked }] = await Promise.all([
    wayToTell(context),
    read(conversation[":messageId"].notify.$get({ param: { messageId } })),
  ]);
  return by && { by, asked };
}
