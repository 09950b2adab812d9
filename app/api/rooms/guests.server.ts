import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { MessageRow } from "../../db/tables.ts";
import { ConcurrencyLimit } from "../../process/work/concurrency-limit.server.ts";
import { Busy, CannotReply } from "../../replies/cannot-reply.server.ts";
import { follow } from "../../replies/follow.server.ts";
import { replyAgain, sendMessage } from "../../replies/start.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import { turn } from "../chats/branch.server.ts";
import { messageKey, stream, streamHeaders } from "../chats/conversation.server.ts";
import { textBesideFiles, unwritten } from "../chats/conversation-text.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, id, takes } from "../http/schemas.server.ts";
import { stopReplies } from "../http/visibility.server.ts";
import { modelToUse, withSettings } from "../models/models.server.ts";
import { zoneOfCall } from "../site/time-zone.server.ts";
import { asGuest, assistantOf, endGuests, guestHeader, hostedRoom, notHere, shutBy, shutOut } from "./guest.server.ts";
import { forGuest, forGuests, guestBranch, shownRoom, showRoom } from "./guest-views.server.ts";
import { askedIn } from "./room-left.server.ts";

const guestToken = z.object({
  [guestHeader.toLowerCase()]: z.string().optional().openapi({ description: "Lo que se dio al entrar." }),
});

const leaveRoute = createRoute({
  method: "delete",
  path: "/",
  middleware: [asGuest],
  request: { headers: guestToken },
  responses: { 204: { description: "Lo escrito se ha borrado." } },
});
const leave: RouteHandler<typeof leaveRoute, ApiEnv> = async (c) => {
  const { services, guest } = c.var;
  await endGuests(services, (guests) => guests.where("id", "=", guest.sessionId));
  return c.body(null, 204);
};

const conversation = z
  .object({
    ...shownRoom,
    code: z.string(),
    guest: z.string().openapi({ description: "Como quiere llamarse; vacío: de ninguna manera." }),
    refusal: z.string().nullable().openapi({ description: "Por qué no se puede preguntar más." }),
    left: z.number().openapi({ description: "Mensajes que quedan en la sala, entre todas las personas." }),
    items: z.array(turn),
    hasEarlier: z.boolean(),
  })
  .openapi("RoomConversation");

const readConversationRoute = createRoute({
  method: "get",
  path: "/conversation",
  middleware: [asGuest],
  request: {
    headers: guestToken,
    query: z.object({ before: id.optional().openapi({ description: "Solo lo anterior a este mensaje." }) }),
  },
  responses: { 200: answers(conversation, "La sala y lo que se ha escrito en ella con esa ficha.") },
});
const readConversation: RouteHandler<typeof readConversationRoute, ApiEnv> = async (c) => {
  const { services, guest } = c.var;
  const { room } = guest;
  const { before } = c.req.valid("query");
  const { items, hasEarlier } = await guestBranch(services, guest.chatId, before);
  const hosted = await hostedRoom(services.db, room);
  const why = hosted.assistant ? shutBy(room, services.clock.now()) : "closed";
  return c.json(
    {
      ...showRoom(c, hosted),
      ...{ code: room.code, guest: guest.name },
      refusal: why && why !== "full" ? shutOut(why).message : null,
      left: Math.max(0, Number(room.messages) - Number(room.asked)),
      ...{ items: items.map(forGuest), hasEarlier },
    },
    200,
  );
};

const question = textBesideFiles.refine((content) => content !== "", unwritten);
const message = z.union([
  z.strictObject({ content: question, key: messageKey }),
  z.strictObject({ again: id.openapi({ description: "La pregunta que no tuvo respuesta, o la tuvo a medias." }) }),
]);
const askRoute = createRoute({
  method: "post",
  path: "/message",
  middleware: [asGuest],
  request: { headers: guestToken, body: takes(message) },
  responses: { 201: answers(z.object({ messageId: z.string() }), "La respuesta que se está escribiendo.") },
});
const ask: RouteHandler<typeof askRoute, ApiEnv> = async (c) => {
  const { services, guest } = c.var;
  await countAttempt(c, "guest", guest.sessionId);
  const zone = await zoneOfCall(c);
  const hosted = await hostedRoom(services.db, guest.room);
  const assistant = assistantOf(hosted);
  const { host } = hosted;
  const used = await modelToUse(services, host.id, undefined, assistant.modelId);
  const model = withSettings(used, assistant);
  const room = askedIn(guest, services.clock.now());
  const given = c.req.valid("json");
  try {
    if ("again" in given) {
      const asked = await messageOf(c, given.again);
      if (asked.role !== "user") throw invalid("again", "Eso no es una pregunta.");
      const { messageId } = await replyAgain(services, asked, model, zone, room);
      return c.json({ messageId }, 201);
    }
    const { content, key } = given;
    const { messageId } = await sendMessage(services, {
      ...{ content, model, zone, room, userId: host.id, chatId: guest.chatId },
      ...(key && { key: `${guest.sessionId}:${key}` }),
      keepDraft: true,
    });
    return c.json({ messageId }, 201);
  } catch (error) {
    const chat = services.db.selectFrom("chats").where("id", "=", guest.chatId).select("id");
    if (!(error instanceof Problem) && !(await chat.executeTakeFirst())) throw notHere();
    // The sentences of these errors are about the plan of the room's host.
    if (error instanceof Busy || !(error instanceof CannotReply || error instanceof LimitReached)) throw error;
    throw shutOut("spent");
  }
};

/** A message of the guest's own conversation. Throws 404. */
async function messageOf(c: Context<ApiEnv>, messageId: string): Promise<MessageRow> {
  const { services, guest } = c.var;
  return services.db
    .selectFrom("messages")
    .where("id", "=", messageId)
    .where("chatId", "=", guest.chatId)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

const messageParam = z.object({ messageId: id.openapi({ param: { name: "messageId", in: "path" } }) });
const readMessageRoute = createRoute({
  method: "get",
  path: "/message/{messageId}",
  middleware: [asGuest],
  request: { headers: guestToken, params: messageParam },
  responses: {
    200: answers(
      z.object({ content: z.string(), status: z.string() }),
      "Un mensaje de la conversación de quien pregunta.",
    ),
  },
});
const readMessage: RouteHandler<typeof readMessageRoute, ApiEnv> = async (c) => {
  const { content, status } = await messageOf(c, c.req.valid("param").messageId);
  return c.json({ content, status }, 200);
};

const followRoute = createRoute({
  method: "post",
  path: "/message/{messageId}/follow",
  middleware: [asGuest],
  request: { headers: guestToken, params: messageParam },
  responses: { 200: { description: "La respuesta según se escribe: objetos JSON separados por líneas en blanco." } },
});
const followReply: RouteHandler<typeof followRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const reply = await messageOf(c, c.req.valid("param").messageId);
  if (reply.role !== "assistant") throw notFound();
  const { sessionId } = c.var.guest;
  if (!followers.enter(sessionId)) throw new Problem(429, "Ya sigues esta respuesta en demasiados sitios a la vez.");
  // A guest who is answered, but never reads, is not counted.
  followers.leave(sessionId);
  const arrive = () => {
    const isCounted = followers.enter(sessionId);
    return {
      signal: c.req.raw.signal,
      leave() {
        if (isCounted) followers.leave(sessionId);
      },
    };
  };
  const chunks = forGuests(follow(services, reply.id, { known: { after: 0 }, arrive }));
  if (!c.env.handOver) return c.body(stream(chunks), 200, streamHeaders);
  c.env.handOver(chunks);
  return c.body(null, 200, streamHeaders);
};

// Pages of one guest that follow a reply.
const followers = new ConcurrencyLimit(8);

const stopRoute = createRoute({
  method: "post",
  path: "/stop",
  middleware: [asGuest],
  request: { headers: guestToken },
  responses: { 204: { description: "La respuesta está detenida; lo escrito se queda." } },
});
const stop: RouteHandler<typeof stopRoute, ApiEnv> = async (c) => {
  await stopReplies(c.var.services, c.var.guest);
  return c.body(null, 204);
};

/** Actions of guests of a room, who have no account. */
export const guests = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(leaveRoute, leave)
  .openapi(readConversationRoute, readConversation)
  .openapi(askRoute, ask)
  .openapi(readMessageRoute, readMessage)
  .openapi(followRoute, followReply)
  .openapi(stopRoute, stop);
