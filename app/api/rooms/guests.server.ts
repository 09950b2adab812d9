import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type ExpressionBuilder, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Trx } from "../../db/engine.server.ts";
import { chatRow } from "../../db/rows.server.ts";
import type { MessageRow, Tables } from "../../db/tables.ts";
import { pullStream } from "../../http/pull-stream.server.ts";
import { hashToken } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import { textsIn } from "../../process/text/json.ts";
import { ConcurrencyLimit } from "../../process/work/concurrency-limit.server.ts";
import { Busy, CannotReply } from "../../replies/cannot-reply.server.ts";
import type { Chunk } from "../../replies/chunk.ts";
import { follow } from "../../replies/follow.server.ts";
import { replyAgain, sendMessage } from "../../replies/start.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import { branchOf, turn } from "../chats/branch.server.ts";
import { textBesideFiles, unwritten } from "../chats/conversation-text.server.ts";
import type { ApiEnv, Guest, Services } from "../env.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, id, iso, line, takes } from "../http/schemas.server.ts";
import { stopReplies } from "../http/visibility.server.ts";
import { modelToUse, withSettings } from "../models/models.server.ts";
import { zoneOfCall } from "../site/time-zone.server.ts";
import {
  asGuest,
  assistantOf,
  endGuests,
  guestHeader,
  type HostedRoom,
  hostedRoom,
  notHere,
  readFor,
  shutBy,
  shutOut,
} from "./guest.server.ts";

const shown = {
  name: z.string(),
  assistant: z.string(),
  purpose: z.string(),
  beginnings: z.array(z.string()),
  host: z.string().openapi({ description: "Quién la ha abierto." }),
  endsAt: z.string(),
  deletedAt: z.string().openapi({ description: "Cuándo se borra lo que se ha escrito en ella." }),
  showsTexts: z.boolean().openapi({ description: "Si quien la ha abierto lee lo que se escribe." }),
  aiNotice: z.string(),
};
const entrance = z
  .object({ ...shown, refusal: z.string().nullable().openapi({ description: "Por qué no se puede entrar." }) })
  .openapi("RoomEntrance");

const codeParam = z.object({
  code: z.string().openapi({ param: { name: "code", in: "path" } }),
});
const guestToken = z.object({
  [guestHeader.toLowerCase()]: z.string().optional().openapi({ description: "Lo que se dio al entrar." }),
});

const showRoom = (c: Context<ApiEnv>, { room, hostName, assistant }: HostedRoom) => {
  const { config } = c.var.services;
  const endsAt = Number(room.endsAt);
  return {
    ...{ name: room.name, assistant: assistant?.name ?? room.name, purpose: assistant?.purpose ?? "", host: hostName },
    beginnings: textsIn(assistant?.beginnings ?? "[]"),
    ...{ endsAt: iso(endsAt), deletedAt: iso(endsAt + readFor), showsTexts: room.showsTexts === 1 },
    aiNotice: config.aiNotice,
  };
};

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
    body: takes(z.strictObject({ name: line("El nombre", limits.name).default("") })),
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
  const token = randomBytes(24).toString("base64url");
  const now = clock.now();
  const endsAt = Number(room.endsAt) + readFor;
  await db.transaction().execute(async (trx) => {
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
    const sessionId = newId();
    await trx
      .insertInto("sessions")
      .values({
        ...{ id: sessionId, createdAt: now, updatedAt: now, userId: room.userId, roomId: room.id },
        ...{ guestHash: hashToken(token), guestName: c.req.valid("json").name },
        // Tokens that nobody has: what opens a session of an account opens none of these.
        ...{ accessHash: hashToken(newId()), refreshHash: hashToken(newId()), generation: 0, rotatedAt: now },
        ...{ accessExpiresAt: 0, refreshExpiresAt: endsAt, lastSeenAt: now, endsAt },
        ...{ userAgent: "", ip: "", accessId: null, providerSession: null, idToken: null, byPasskey: 0 },
      })
      .execute();
    const { userId, name: title } = room;
    // Titled, as no model is to be asked for a title that nobody reads.
    const chat = chatRow(now, { userId, title, titled: 1, sessionId, assistantId: assistant.id });
    await trx.insertInto("chats").values(chat).execute();
  });
  return c.json({ token, deletedAt: iso(endsAt) }, 201);
};

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
    ...shown,
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

/** Turns of a guest's chat: texts and their sources, as guests can't open anything else. */
export async function guestBranch({ db }: Services, chatId: string, before?: string) {
  const chat = await db
    .selectFrom("chats")
    .where("id", "=", chatId)
    .select(["id", "leafId", "userId", "sessionId"])
    .executeTakeFirstOrThrow(notFound);
  const reader = { id: chat.userId, sessionId: chat.sessionId ?? "" };
  const { items, hasEarlier } = await branchOf(db, chat, reader, { before });
  return {
    items: items.map((item) => ({ ...item, parts: item.parts.filter(({ kind }) => kind === "text") })),
    hasEarlier,
  };
}

type ShownTurn = Awaited<ReturnType<typeof guestBranch>>["items"][number];

/** A turn without what is its host's: the model and what it takes, and sentences about those that have failed. */
const forGuest = (turn: ShownTurn): ShownTurn => ({
  ...turn,
  ...{ modelId: null, inputTokens: null, outputTokens: null, reasoningTokens: null },
  error: guestSentence(turn.status),
});

const guestSentence = (status: string) =>
  status === "failed" ? "No se ha podido contestar. Reinténtalo, o avisa a quien te dio el enlace." : null;

const question = textBesideFiles.refine((content) => content !== "", unwritten);
const message = z.union([
  z.strictObject({ content: question, key: z.string().max(100).optional() }),
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
  const now = services.clock.now();
  const room = {
    enter: (trx: Trx) => holdGuest(trx, guest, now),
    take: (trx: Trx) => takeMessage(trx, guest, now),
  };
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
    // Their sentences are about the plan of who has opened the room.
    if (error instanceof Busy || !(error instanceof CannotReply || error instanceof LimitReached)) throw error;
    throw shutOut("spent");
  }
};

/** Condition on a room that has messages and money left. */
const hasLeft = (e: ExpressionBuilder<Tables, "rooms">) =>
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

/** Takes a message out of what a room has left. Throws 403 where nothing is, or nobody may ask any more. */
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
  // Whoever is answered, but never reads, is not counted.
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
  const headers = { "Content-Type": "application/x-ndjson; charset=utf-8", "Cache-Control": "no-store" };
  if (c.env.handOver) {
    c.env.handOver(chunks);
    return c.body(null, 200, headers);
  }
  const said = (some: Chunk[]) => some.map((chunk) => `${JSON.stringify(chunk)}\n\n`).join("");
  return c.body(
    pullStream(chunks, () => chunks.return(undefined), said),
    200,
    headers,
  );
};

// Pages of one guest that follow a reply.
const followers = new ConcurrencyLimit(8);

/** Chunks of a reply for a guest: without thoughts, calls and pictures, which have an end (`part-end`), and without what it takes. */
async function* forGuests(chunks: AsyncGenerator<Chunk[]>): AsyncGenerator<Chunk[]> {
  const others: Chunk["type"][] = ["reasoning", "tool", "image", "part-end"];
  for await (const some of chunks) {
    const seen = some.filter(
      (chunk) => !others.includes(chunk.type) && (chunk.type !== "part" || chunk.kind === "text"),
    );
    yield seen.map((chunk) => (chunk.type === "end" ? endForGuest(chunk.status) : chunk));
  }
}

function endForGuest(status: Extract<Chunk, { type: "end" }>["status"]): Chunk {
  const error = guestSentence(status);
  return { type: "end", status, usage: { inputTokens: 0, outputTokens: 0 }, ...(error && { error }) };
}

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

/** Doings of guests of a room, who have no account. */
export const guests = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(readEntranceRoute, readEntrance)
  .openapi(enterRoute, enter)
  .openapi(leaveRoute, leave)
  .openapi(readConversationRoute, readConversation)
  .openapi(askRoute, ask)
  .openapi(readMessageRoute, readMessage)
  .openapi(followRoute, followReply)
  .openapi(stopRoute, stop);
