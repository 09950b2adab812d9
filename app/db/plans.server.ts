import type { Db } from "./connection.server.ts";
import type { SubscriptionRow } from "./tables.ts";

/**
 * The subscription whose limits apply now: among those that have begun, are active and have not ended, the latest.
 * Undefined: no limits.
 */
export function currentPlan(db: Db, userId: string, now: number): Promise<SubscriptionRow | undefined> {
  return db
    .selectFrom("subscriptions")
    .where("userId", "=", userId)
    .where("status", "=", "active")
    .where("startsAt", "<=", now)
    .where((e) => e.or([e("endsAt", "is", null), e("endsAt", ">", now)]))
    .orderBy("startsAt", "desc")
    .selectAll()
    .executeTakeFirst();
}
