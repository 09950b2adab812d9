import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { sql } from "kysely";
import type { RoomRow } from "../../db/tables.ts";
import { turn } from "../chats/branch.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { answers, bearer, id, idParam, iso } from "../http/schemas.server.ts";
import { guestBranch } from "./guest-views.server.ts";

const shown = {
  id: z.string(),
  name: z.string().openapi({ description: "Como quiere llamarse; vacío: de ninguna manera." }),
  joinedAt: z.string(),
};
const common = { security: bearer, middleware: [signedIn, active] };

/** The room, for its host alone: administrators close and delete rooms, but do not look into them. Throws 404. */
const findOwn = (c: Context<ApiEnv>, roomId: string): Promise<RoomRow> =>
  c.var.services.db
    .selectFrom("rooms")
    .where("id", "=", roomId)
    .where("userId", "=", c.var.person.id)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);

const listGuestsRoute = createRoute({
  method: "get",
  path: "/{id}/guests",
  ...common,
  request: { params: idParam },
  responses: {
    200: answers(
      z.object({
        items: z.array(z.object({ ...shown, asked: z.number(), lastAt: z.string().nullable() }).openapi("GuestOfRoom")),
      }),
      "Quién está en la sala, y cuánto ha preguntado cada cual.",
    ),
  },
});
const listGuests: RouteHandler<typeof listGuestsRoute, ApiEnv> = async (c) => {
  const room = await findOwn(c, c.req.valid("param").id);
  const rows = await c.var.services.db
    .selectFrom("sessions as s")
    .leftJoin("chats", "chats.sessionId", "s.id")
    .leftJoin("messages", (join) => join.onRef("messages.chatId", "=", "chats.id").on("messages.role", "=", "user"))
    .where("s.roomId", "=", room.id)
    .groupBy(["s.id", "s.guestName", "s.createdAt"])
    .orderBy("s.id")
    .select(["s.id", "s.guestName", "s.createdAt"])
    .select([sql<number>`count(messages.id)`.as("asked"), sql<number | null>`max(messages."createdAt")`.as("lastAt")])
    .execute();
  const items = rows.map(({ id: guestId, guestName, createdAt, asked, lastAt }) => ({
    ...{ id: guestId, name: guestName ?? "", joinedAt: iso(Number(createdAt)), asked: Number(asked) },
    lastAt: lastAt === null ? null : iso(Number(lastAt)),
  }));
  return c.json({ items }, 200);
};

const readGuestRoute = createRoute({
  method: "get",
  path: "/{id}/guests/{guestId}",
  ...common,
  request: {
    params: idParam.extend({ guestId: id.openapi({ param: { name: "guestId", in: "path" } }) }),
    query: z.object({ before: id.optional().openapi({ description: "Solo lo anterior a este mensaje." }) }),
  },
  responses: {
    200: answers(
      z.object({ ...shown, items: z.array(turn), hasEarlier: z.boolean() }),
      "Lo que ha escrito alguien en la sala, si al abrirla se dijo que se leería.",
    ),
  },
});
const readGuest: RouteHandler<typeof readGuestRoute, ApiEnv> = async (c) => {
  const { id: roomId, guestId } = c.req.valid("param");
  const room = await findOwn(c, roomId);
  if (room.showsTexts === 0) throw new Problem(403, "A quien entró en esta sala se le dijo que nadie lo leería.");
  const guest = await c.var.services.db
    .selectFrom("sessions as s")
    .innerJoin("chats", "chats.sessionId", "s.id")
    .where("s.id", "=", guestId)
    .where("s.roomId", "=", room.id)
    .select(["s.id", "s.guestName", "s.createdAt", "chats.id as chatId"])
    .executeTakeFirstOrThrow(notFound);
  const branch = await guestBranch(c.var.services, guest.chatId, c.req.valid("query").before);
  const { guestName, createdAt } = guest;
  return c.json({ id: guest.id, name: guestName ?? "", joinedAt: iso(Number(createdAt)), ...branch }, 200);
};

/** Guests of a room, for its host. */
export const roomGuests = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listGuestsRoute, listGuests)
  .openapi(readGuestRoute, readGuest);
