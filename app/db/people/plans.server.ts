import type { Db } from "../engine.server.ts";
import { prepared } from "../prepared.server.ts";
import type { SubscriptionRow } from "../tables.ts";
import { type GroupOf, groupsOf } from "./groups.server.ts";

/**
 * The subscription whose limits apply now: among those that have begun, are active and have not ended, the latest.
 * Undefined: no limits.
 */
export async function currentPlan(db: Db, userId: string, now: number): Promise<SubscriptionRow | undefined> {
  return (await findCurrent(db, { userId, now })).rows[0];
}

/** Limits of a person. null: no limit. */
export type Limits = {
  messagesPerDay: number | null;
  tokensPerMonth: number | null;
  costPerMonth: number | null;
  /** A group whose budget is used up, if no other group of the person has budget left. */
  spent: GroupOf | undefined;
  groups: GroupOf[];
  /** The subscription whose limits apply now, if there is one. */
  plan: SubscriptionRow | undefined;
};

/**
 * The limits of a person: each is the most generous limit of their groups; where no group sets a limit, the plan's limit. Among
 * groups with a budget, one group with budget left is enough.
 */
export async function limitsOf(db: Db, userId: string, now: number): Promise<Limits> {
  // One query after the other: callers may be in a transaction, which has one connection.
  const plan = await currentPlan(db, userId, now);
  const groups = await groupsOf(db, userId, now);
  const most = (limit: "messagesPerDay" | "tokensPerMonth" | "costPerMonth") => {
    const said = groups.flatMap((group) => group[limit] ?? []);
    return said.length > 0 ? Math.max(...said.map(Number)) : null;
  };
  const budgeted = groups.filter(({ budget }) => budget !== null);
  const isSpent = ({ budget, spent }: GroupOf) => (spent ?? 0) >= (budget ?? 0);
  return {
    messagesPerDay: most("messagesPerDay") ?? plan?.messagesPerDay ?? null,
    tokensPerMonth: most("tokensPerMonth") ?? plan?.tokensPerMonth ?? null,
    costPerMonth: most("costPerMonth"),
    spent: budgeted.every(isSpent) ? budgeted[0] : undefined,
    groups,
    plan,
  };
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
