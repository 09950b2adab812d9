import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/connection.server.ts";
import { currentPlan } from "../../db/plans.server.ts";
import { storedBytes } from "../../db/storage-use.server.ts";
import type { UserRow } from "../../db/tables.ts";
import { usageOf } from "../../replies/usage.server.ts";
import { iso, isoOrNull } from "../http/schemas.server.ts";

/** A person's plan and how much of it is used. Limits are per UTC day and month; null: none. */
export const planUse = z.object({
  subscription: z.object({
    plan: z.enum(["gratis", "pro", "equipo"]),
    status: z.enum(["active", "past_due", "canceled"]),
    startsAt: z.string(),
    endsAt: z.string().nullable(),
    messagesPerDay: z.number().nullable(),
    tokensPerMonth: z.number().nullable(),
    storageMb: z.number().nullable(),
  }),
  usage: z.object({
    messagesToday: z.number(),
    tokensThisMonth: z.number(),
    storedBytes: z.number(),
  }),
});

/** Reads what an account may use and has used. */
export async function planUseOf(db: Db, account: UserRow): Promise<z.output<typeof planUse>> {
  const { id } = account;
  const now = Date.now();
  const [plan, latest, usage, stored] = await Promise.all([
    currentPlan(db, id, now),
    db.selectFrom("subscriptions").where("userId", "=", id).orderBy("startsAt", "desc").selectAll().executeTakeFirst(),
    usageOf(db, id, now),
    storedBytes(db, id),
  ]);
  // An expired or unpaid subscription is still shown, but its limits no longer apply.
  const subscription = plan ?? latest;
  return {
    subscription: {
      plan: subscription?.plan ?? "gratis",
      status: subscription?.status ?? "active",
      startsAt: iso(subscription?.startsAt ?? account.createdAt),
      endsAt: isoOrNull(subscription?.endsAt ?? null),
      messagesPerDay: plan?.messagesPerDay ?? null,
      tokensPerMonth: plan?.tokensPerMonth ?? null,
      storageMb: plan?.storageMb ?? null,
    },
    usage: { ...usage, storedBytes: stored },
  };
}
