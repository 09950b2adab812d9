import type { Db } from "./connection.server.ts";
import { prepared } from "./prepared.server.ts";
import type { SubscriptionRow } from "./tables.ts";

/**
 * The subscription whose limits apply now: among those that have begun, are active and have not ended, the latest.
 * Undefined: no limits.
 */
export async function currentPlan(db: Db, userId: string, now: number): Promise<SubscriptionRow | undefined> {
  return (await findCurrent(db, { userId, now })).rows[0];
}

const findCurrent = prepared((db, { userId, now }: { userId: string; now: number }) =>
  db
    .selectFrom("subscriptions")
    .where("userId", "=", userId)
    .where("status", "=", "active")
    .where("startsAt", "<=", now)
    .where((e) => e.or([e("endsAt", "is", null), e("endsAt", ">", now)]))
    .orderBy("startsAt", "desc")
    .selectAll()
    .limit(1),
);
