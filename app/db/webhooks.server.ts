import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db } from "./engine.server.ts";
import { prepared } from "./prepared.server.ts";
import type { WebhookRow } from "./tables.ts";
import { waitingJob } from "./waiting-job.server.ts";

type Events = {
  replyEnded: { messageId: string; chatId: string; userId: string; modelId: string | null; status: string };
  personMade: { userId: string };
  limitReached: { userId: string; sentence: string; resetsAt: string };
};

/** Names by which events go out. */
export const eventTypes: Record<keyof Events, string> = {
  replyEnded: "reply.ended",
  personMade: "person.created",
  limitReached: "limit.reached",
};

/**
 * Adds jobs that send an event to the webhooks that want it; `db` may be the transaction that stores the event's subject. `key`: the
 * same event is sent once while its job is kept, a day. `now`: epoch ms.
 */
export async function tellWebhooks<Event extends keyof Events>(
  db: Db,
  event: Event,
  about: Events[Event],
  now: number,
  key?: string,
): Promise<void> {
  const { rows } = await wanting[event](db, { one: 1 });
  for (const { id } of rows) {
    const data = JSON.stringify({ type: eventTypes[event], timestamp: new Date(now).toISOString(), data: about });
    await db
      .insertInto("jobs")
      .values({ ...waitingJob("webhook", now), id: newId(), subjectId: id, data, key: key ? `${id} ${key}` : null })
      .onConflict((conflict) => conflict.column("key").doNothing())
      .execute();
  }
}

/** Prepared: runs at the end of each reply. */
const wantingOf = (event: keyof Events & keyof WebhookRow) =>
  prepared((db, { one }: { one: number }) =>
    db.selectFrom("webhooks").where("enabled", "=", sql.lit(1)).where(sql.ref(event), "=", one).select("id"),
  );
const wanting = {
  replyEnded: wantingOf("replyEnded"),
  personMade: wantingOf("personMade"),
  limitReached: wantingOf("limitReached"),
};
