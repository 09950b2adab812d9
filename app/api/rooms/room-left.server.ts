import type { ExpressionBuilder } from "kysely";
import { sql } from "kysely";
import type { Trx } from "../../db/engine.server.ts";
import type { Tables } from "../../db/tables.ts";
import type { AskedInRoom } from "../../replies/start.server.ts";
import type { Guest } from "../env.server.ts";
import { notHere, shutBy, shutOut } from "./guest.server.ts";

/** Steps of a guest's question in the transaction that stores it. `now`: epoch ms. */
export const askedIn = (guest: Guest, now: number): AskedInRoom => ({
  enter: (trx) => holdGuest(trx, guest, now),
  take: (trx) => takeMessage(trx, guest, now),
});

/** Condition on a room that has messages and money left. */
export const hasLeft = (e: ExpressionBuilder<Tables, "rooms">) =>
  e.and([e("asked", "<", e.ref("messages")), e.or([e("budget", "is", null), e("spent", "<", e.ref("budget"))])]);

/** Holds a guest until the transaction ends. Throws 401 where they have left. */
async function holdGuest(trx: Trx, { sessionId }: Guest, now: number): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable("sessions")
    .set({ lastSeenAt: now })
    .where("id", "=", sessionId)
    .where("refreshExpiresAt", ">", now)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw notHere();
}

/** Takes one message from the messages that a room has left. Throws 403 if none is left, or nobody may ask any more. */
async function takeMessage(trx: Trx, { room: { id: roomId } }: Guest, now: number): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable("rooms")
    .set({ asked: sql`asked + 1` })
    .where("id", "=", roomId)
    .where("isOpen", "=", 1)
    .where("endsAt", ">", now)
    .where(hasLeft)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const room = await trx.selectFrom("rooms").where("id", "=", roomId).selectAll().executeTakeFirst();
  throw shutOut((room && shutBy(room, now)) ?? "closed");
}
