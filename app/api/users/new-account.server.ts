import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Engine, Trx } from "../../db/engine.server.ts";
import { readHouse } from "../../db/house.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { UserRow } from "../../db/tables.ts";
import { tellWebhooks } from "../../db/webhooks.server.ts";
import { parseGroupIds } from "../groups/group-ids.server.ts";

type Given = Pick<UserRow, "name" | "email" | "passwordHash" | "role" | "status">;

/** Row of a new account. `entersNow`: its person is coming in with it; otherwise somebody else makes it. `now`: epoch ms. */
export const accountRow = (given: Given, now: number, { entersNow }: { entersNow: boolean }): UserRow => ({
  ...{ ...newRow(now), ...given },
  ...{ emailKey: given.email.toLowerCase(), draft: null, remembers: 0, lastSeenAt: entersNow ? now : null },
});

/** Stores a new account with its plan and groups. Returns false, and stores nothing, if another account has its address. */
export async function storeAccount(trx: Trx, row: UserRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto("users")
    .values(row)
    .onConflict((conflict) => conflict.column("emailKey").doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) return false;
  await joinHouse(trx, row.id, row.createdAt);
  const limitless = { messagesPerDay: null, tokensPerMonth: null, storageMb: null };
  await trx
    .insertInto("subscriptions")
    .values({
      ...{ id: newId(), createdAt: row.createdAt, updatedAt: row.createdAt, userId: row.id, plan: "gratis" },
      ...{ status: "active", startsAt: row.createdAt, endsAt: null, ...limitless },
    })
    .execute();
  return true;
}

/** Makes somebody a member of the groups that the house gives to new accounts, and tells the webhooks. */
export async function joinHouse(trx: Trx, userId: string, now: number): Promise<void> {
  await tellWebhooks(trx, "personMade", { userId }, now);
  const groupIds = parseGroupIds(await readHouse(trx)) ?? [];
  if (groupIds.length === 0) return;
  const groups = await trx.selectFrom("groups").where("id", "in", groupIds).select("id").execute();
  for (const { id: groupId } of groups) {
    const member = { ...newRow(now), groupId, userId, accessId: null };
    await trx.insertInto("members").values(member).execute();
  }
}

export async function isFirstAccount(db: Db, engine: Engine): Promise<boolean> {
  // Two concurrent sign-ups must not both become the first account; SQLite runs one transaction at a time anyway.
  if (engine === "postgres") await sql`lock table users in share row exclusive mode`.execute(db);
  return !(await db.selectFrom("users").select("id").limit(1).executeTakeFirst());
}
