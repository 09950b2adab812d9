import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import { chatRow } from "../../db/rows.server.ts";
import { hashToken } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, iso, line, takes } from "../http/schemas.server.ts";
import { assistantOf, guestHeader, hostedRoom, readFor, shutBy, shutOut } from "./guest.server.ts";
import { shownRoom, showRoom } from "./guest-views.server.ts";
import { hasLeft } from "./room-left.server.ts";

const entrance = z
  .object({ ...shownRoom, refusal: z.string().nullable().openapi({ description: "Por qué no se puede entrar." }) })
  .openapi("RoomEntrance");

const codeParam = z.object({
  code: z.string().openapi({ param: { name: "code", in: "path" } }),
});
/** Throws 404. Whoever tries codes is slowed down. */
async function findRoom(c: Context<ApiEnv>, code: string) {
  await countAttempt(c, "room", networkOf(c));
  const { db } = c.var.services;
  return db.selectFrom("rooms").where("code", "=", code.toLowerCase()).selectAll().executeTakeFirstOrThrow(notFound);
}

const readEntranceRoute = createRoute({
  method: "get",
  path: "/room/{code}",
  request: { params: codeParam },
  responses: { 200: answers(entrance, "La sala, para quien llega por su dirección.") },
});
const readEntrance: RouteHandler<typeof readEntranceRoute, ApiEnv> = async (c) => {
  const { db, clock } = c.var.services;
  const room = await findRoom(c, c.req.valid("param").code);
  const hosted = await hostedRoom(db, room);
  const why = hosted.assistant ? shutBy(room, clock.now()) : "closed";
  return c.json({ ...showRoom(c, hosted), refusal: why ? shutOut(why).message : null }, 200);
};

const enterRoute = createRoute({
  method: "post",
  path: "/room/{code}",
  request: {
    params: codeParam,
    body: takes(
      z.strictObject({
        name: line("El nombre", limits.name).default(""),
        key: z
          .string()
          .regex(/^[\w-]{32,100}$/, "La clave tiene de 32 a 100 letras, cifras o guiones.")
          .optional()
          .openapi({
            description: "Al azar, y será su «token»: si llega dos veces, entra una sola persona.",
            example: "Zk3v9Q2mXo7rT1yLwB8sUcPeZk3v9Q2m",
          }),
      }),
    ),
  },
  responses: {
    201: answers(
      z.object({ token: z.string(), deletedAt: z.string() }).openapi("RoomGuest"),
      `Lo que se manda en «${guestHeader}» desde ahora, y hasta cuándo vale.`,
    ),
  },
});
const enter: RouteHandler<typeof enterRoute, ApiEnv> = async (c) => {
  const { db, clock } = c.var.services;
  const room = await findRoom(c, c.req.valid("param").code);
  const assistant = assistantOf(await hostedRoom(db, room));
  const { name: guestName, key: token = randomBytes(24).toString("base64url") } = c.req.valid("json");
  const now = clock.now();
  const endsAt = Number(room.endsAt) + readFor;
  await db.transaction().execute(async (trx) => {
    const sessionId = newId();
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto("sessions")
      .values({
        ...{ id: sessionId, createdAt: now, updatedAt: now, userId: room.userId, roomId: room.id },
        ...{ guestHash: hashToken(token), guestName },
        // Random tokens that nobody has: an access or refresh token of an account opens no guest session.
        ...{ accessHash: hashToken(newId()), refreshHash: hashToken(newId()), generation: 0, rotatedAt: now },
        ...{ accessExpiresAt: 0, refreshExpiresAt: endsAt, lastSeenAt: now, endsAt },
        ...{ userAgent: "", ip: "", accessId: null, providerSession: null, idToken: null, byPasskey: 0 },
      })
      // A guest who has pressed twice has a session already.
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) return;
    const { numUpdatedRows } = await trx
      .updateTable("rooms")
      .set({ joined: sql`joined + 1` })
      .where("id", "=", room.id)
      .where("isOpen", "=", 1)
      .where("endsAt", ">", now)
      .whereRef("joined", "<", "people")
      .where(hasLeft)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw shutOut(shutBy(room, now) ?? "full");
    const { userId, name: title } = room;
    // Marked as titled, so that no model is asked for a title that nobody reads.
    const chat = chatRow(now, { userId, title, titled: 1, sessionId, assistantId: assistant.id });
    await trx.insertInto("chats").values(chat).execute();
  });
  return c.json({ token, deletedAt: iso(endsAt) }, 201);
};

/** Entry to rooms, for people who have the address. */
export const guestEntry = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(readEntranceRoute, readEntrance)
  .openapi(enterRoute, enter);
