import { createMiddleware } from "hono/factory";
import type { SelectQueryBuilder } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { readHouse } from "../../db/house.server.ts";
import type { AssistantRow, RoomRow, Tables } from "../../db/tables.ts";
import { hashToken } from "../../process/crypto.server.ts";
import { findAssistant } from "../assistants/assistants.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { findPerson } from "../http/authentication.server.ts";
import { notFound, Problem } from "../http/problem.server.ts";
import { whyNotOpening } from "./opening.server.ts";

/** Header with a guest's token. The token opens nothing but the room, and no other token opens the room. */
export const guestHeader = "Room-Guest";

/** Lets guests of a room in; 401 for anybody else. */
export const asGuest = createMiddleware<ApiEnv>(async (c, next) => {
  const { db, clock } = c.var.services;
  const token = c.req.header(guestHeader);
  const session =
    token &&
    (await db
      .selectFrom("sessions")
      .innerJoin("chats", "chats.sessionId", "sessions.id")
      .where("guestHash", "=", hashToken(token))
      .where("refreshExpiresAt", ">", clock.now())
      .select(["sessions.id", "sessions.roomId", "sessions.guestName", "chats.id as chatId"])
      .executeTakeFirst());
  const room =
    session && (await db.selectFrom("rooms").where("id", "=", session.roomId).selectAll().executeTakeFirst());
  if (!room) throw notHere();
  c.set("guest", { sessionId: session.id, chatId: session.chatId, name: session.guestName ?? "", room });
  await next();
});

/** Reason why a room takes no questions. `full`: the room only takes no more people. */
export type Shut = "closed" | "ended" | "spent" | "full";

const sentences: Record<Shut, string> = {
  closed: "La sala está cerrada. Pregunta a quien te dio el enlace.",
  ended: "La sala ya ha terminado.",
  spent: "En esta sala ya no se puede preguntar más: se ha llegado a su límite.",
  full: "En la sala ya no cabe nadie más. Pregunta a quien te dio el enlace.",
};

/** A room with its host and assistant. `assistant` is undefined if it is gone, or the host may no longer use it or open rooms. */
export type HostedRoom = { room: RoomRow; host: Person; hostName: string; assistant: AssistantRow | undefined };

/** The room as it can be used now. Throws 404 if the host of the room is gone. */
export async function hostedRoom(db: Db, room: RoomRow): Promise<HostedRoom> {
  const [host, account, house] = await Promise.all([
    findPerson({ db }, room.userId),
    db.selectFrom("users").where("id", "=", room.userId).select("name").executeTakeFirst(),
    readHouse(db),
  ]);
  if (!host || !account) throw notFound();
  const mayOpen = whyNotOpening(house, host) === undefined;
  const assistant =
    mayOpen && host.status === "active" && room.assistantId
      ? await findAssistant(db, host, room.assistantId).catch((error) => {
          if (!(error instanceof Problem)) throw error;
        })
      : undefined;
  return { room, host, hostName: account.name, assistant: assistant ?? undefined };
}

/** The assistant of a room. Throws 403 where there is none to talk with. */
export function assistantOf({ assistant }: HostedRoom): AssistantRow {
  if (!assistant) throw shutOut("closed");
  return assistant;
}

/** Reason why a room takes no questions, or no more people; undefined if it takes both. `now`: epoch ms. */
export function shutBy(room: RoomRow, now: number): Shut | undefined {
  if (room.isOpen === 0) return "closed";
  if (Number(room.endsAt) <= now) return "ended";
  if (Number(room.asked) >= Number(room.messages) || (room.budget !== null && room.spent >= room.budget))
    return "spent";
  if (Number(room.joined) >= Number(room.people)) return "full";
}

export const shutOut = (why: Shut) => new Problem(403, sentences[why]);

/** In ms: how long the texts of a room can still be read after its end. Then they are deleted. */
export const readFor = 24 * 60 * 60_000;

type GuestSessions = SelectQueryBuilder<Tables, "sessions", object>;
type WhichGuests = (guests: GuestSessions) => GuestSessions;

/** Stops what is being written for some guests. */
export async function stopWritten({ db, runs }: Services, which: WhichGuests): Promise<void> {
  const chats = db
    .selectFrom("chats")
    .where("sessionId", "in", which(db.selectFrom("sessions")).select("id"))
    .select("id");
  const streaming = db.selectFrom("messages").where("status", "=", "streaming").where("chatId", "in", chats);
  const replies = await streaming.select("id").execute();
  await Promise.all(replies.map(({ id }) => runs.stop(id)));
}

/** Removes some guests and all their texts. First, the guests lose the right to ask, so that no reply begins during the other steps. */
export async function endGuests(services: Services, which: WhichGuests): Promise<void> {
  const { db } = services;
  const found = await which(db.selectFrom("sessions").where("roomId", "is not", null))
    .select("id")
    .execute();
  const ids = ["", ...found.map(({ id }) => id)];
  await db.updateTable("sessions").set({ refreshExpiresAt: 0 }).where("id", "in", ids).execute();
  await stopWritten(services, (guests) => guests.where("id", "in", ids));
  await db.deleteFrom("sessions").where("id", "in", ids).execute();
}

/** The refusal of somebody who is not in the room, or no longer. */
export const notHere = () => new Problem(401, "Ya no estás en esta sala. Vuelve a entrar por su dirección.");
