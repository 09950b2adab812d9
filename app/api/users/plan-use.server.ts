import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { limitsOf } from "../../db/people/plans.server.ts";
import { storedBytes } from "../../db/people/storage-use.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { UserRow } from "../../db/tables.ts";
import { usageOf } from "../../replies/usage.server.ts";
import { iso, isoOrNull } from "../http/schemas.server.ts";

/**
 * A person's plan, their groups, the limits that result, and how much of these is used. Limits are per UTC day and month; null: none.
 * Money is in the currency of the models' prices.
 */
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
  limits: z
    .object({
      messagesPerDay: z.number().nullable(),
      tokensPerMonth: z.number().nullable(),
      costPerMonth: z.number().nullable(),
    })
    .openapi({ description: "Lo que vale: lo más generoso de sus grupos y, si no dicen nada, su plan." }),
  groups: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      budget: z
        .number()
        .nullable()
        .openapi({ description: "Qué parte de su presupuesto de este mes se ha gastado; null: no tiene." }),
    }),
  ),
  usage: z.object({
    messagesToday: z.number(),
    tokensThisMonth: z.number(),
    costThisMonth: z.number(),
    storedBytes: z.number(),
  }),
});

/** Reads what an account may use and has used. */
export async function planUseOf(db: Db, account: UserRow): Promise<z.output<typeof planUse>> {
  const { id } = account;
  const now = Date.now();
  const [{ plan, groups, spent: _spent, ...limits }, usage, stored] = await Promise.all([
    limitsOf(db, id, now),
    usageOf(db, id, now),
    storedBytes(db, id),
  ]);
  // An expired or unpaid subscription is still shown, but its limits no longer apply.
  const subscription = plan ?? (await findLatest(db, { id })).rows[0];
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
    limits,
    groups: groups.map(({ id: groupId, name, budget, spent }) => ({
      id: groupId,
      name,
      // A budget of 0 counts as used up.
      budget: budget === null ? null : budget === 0 ? 1 : (spent ?? 0) / budget,
    })),
    usage: { ...usage, storedBytes: stored },
  };
}

const findLatest = prepared((db, { id }: Pick<UserRow, "id">) =>
  db.selectFrom("subscriptions").where("userId", "=", id).orderBy("startsAt", "desc").limit(1).selectAll(),
);
