import type { Db } from "../db/engine.server.ts";
import { readHouse } from "../db/house.server.ts";
import type { JobRules } from "../jobs/jobs.server.ts";
import type { EventsDestination } from "../process/events-url.server.ts";
import type { SecurityEvent } from "./security-event.server.ts";
import { sendSyslog } from "./syslog.server.ts";
import { sendWebhook } from "./webhook.server.ts";

// In ms: rows are sealed a few seconds after they happened, and only then have their place in the order.
const every = 10_000;
const atOnce = 100;

/**
 * Sends the events of the audit trail to EVENTS_URL, in order, each at least once: events that could not be sent are sent the next
 * time. The first run does not send the events from before EVENTS_URL was set.
 */
export const tellingEvents = (db: Db, to: EventsDestination): JobRules => ({
  atOnce: 1,
  retries: [],
  every,
  async work({ signal }) {
    const { eventsTold } = await readHouse(db);
    let told = eventsTold === null ? await newest(db) : Number(eventsTold);
    await remember(db, told);
    while (!signal.aborted) {
      const rows = await db
        .selectFrom("audit")
        .leftJoin("users", "users.id", "audit.actorId")
        .where("audit.seq", ">", told)
        .orderBy("audit.seq")
        .limit(atOnce)
        .select(["audit.id", "audit.seq", "audit.createdAt", "audit.action", "audit.resource", "audit.resourceId"])
        .select(["audit.actorId", "audit.ip", "users.email as actor"])
        .execute();
      if (rows.length === 0) return;
      const events = rows.map(
        ({ seq: _, createdAt, ...row }): SecurityEvent => ({ ...row, at: new Date(createdAt).toISOString() }),
      );
      await (to.kind === "syslog" ? sendSyslog(to, events) : sendWebhook(to, events));
      told = Number(rows.at(-1)?.seq);
      await remember(db, told);
    }
  },
});

/** Stores the number of the last sent event in the database, so that it moves with the data to another database. */
const remember = (db: Db, eventsTold: number) => db.updateTable("house").set({ eventsTold }).execute();

async function newest(db: Db): Promise<number> {
  const { seq } = await db
    .selectFrom("audit")
    .select((e) => e.fn.max("seq").as("seq"))
    .executeTakeFirstOrThrow();
  return Number(seq ?? 0);
}
