import { tellWebhooks } from "../../db/webhooks.server.ts";
import type { LimitReached } from "../../replies/usage.server.ts";
import type { Services } from "../env.server.ts";

/** Tells other programs that a person's plan has refused them, once a day for each limit. */
export async function tellLimit({ db, clock, log }: Services, userId: string, limit: LimitReached): Promise<void> {
  const about = { userId, sentence: limit.message, resetsAt: new Date(limit.resetsAt).toISOString() };
  const key = `limit ${userId} ${limit.resetsAt}`;
  await tellWebhooks(db, "limitReached", about, clock.now(), key).catch((error) =>
    log.error({ err: error, userId }, "no se pudo avisar de un límite"),
  );
}
