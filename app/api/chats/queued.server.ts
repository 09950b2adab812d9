import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { prepared } from "../../db/prepared.server.ts";
import type { ChatRow } from "../../db/tables.ts";
import type { JobRules } from "../../jobs/jobs.server.ts";
import { Busy, CannotReply } from "../../replies/cannot-reply.server.ts";
import { parseQueued, TakenBack } from "../../replies/queue.server.ts";
import type { EndStatus } from "../../replies/running/run.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { active, findPerson, refuseInactive, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { bearer, idParam } from "../http/schemas.server.ts";
import { goOnComparing } from "./compared.server.ts";
import { ownChat, start } from "./conversation.server.ts";

type Queue = Pick<ChatRow, "id" | "userId" | "sessionId" | "queued">;

// In ms. A reply that ends sends the waiting message within this time, unless its process has died.
const sentWithin = 5_000;
const lookEvery = 10_000;

/**
 * Once a reply has ended, lets the next model of a comparison answer; without a next model, sends the message that waits in the chat, if
 * any, once. A message that could not be sent before is left to its author. A refusal is kept with the message.
 */
export async function sendQueued(services: Services, chatId: string, ended: EndStatus): Promise<void> {
  const [chat] = (await findQueue(services.db, { chatId })).rows;
  if (chat && (await goOnComparing(services, chat, ended))) return;
  if (ended !== "complete" && ended !== "stopped") return;
  if (!chat?.queued || parseQueued(chat.queued)?.problem) return;
  try {
    await send(services, chat);
  } catch (error) {
    // Busy: another reply has begun in the chat, and sends the message when it ends.
    if (error instanceof Busy || error instanceof TakenBack) return;
    const isRefused = error instanceof Problem || error instanceof LimitReached || error instanceof CannotReply;
    if (!isRefused) throw error;
    await services.db
      .updateTable("chats")
      .set({ queued: JSON.stringify({ ...parseQueued(chat.queued), problem: error.message }) })
      .where("id", "=", chatId)
      .where("queued", "=", chat.queued)
      .execute();
  }
}

const findQueue = prepared((db, { chatId }: { chatId: string }) =>
  db.selectFrom("chats").where("id", "=", chatId).select(["id", "userId", "sessionId", "queued", "compared"]),
);

/** Sends the message that waits in a chat. Throws what `start` throws, and TakenBack if the message was sent or taken back meanwhile. */
async function send(services: Services, chat: Queue): Promise<void> {
  const queued = parseQueued(chat.queued);
  const person = await findPerson(services, chat.userId);
  if (!chat.queued || !queued || !person) throw new TakenBack();
  refuseInactive(person);
  const { zone, problem: _, keys, ...message } = queued;
  const given = { ...message, key: keys.at(-1), chatId: chat.id, temporary: false, keepDraft: true };
  await start(services, { ...person, sessionId: chat.sessionId ?? "" }, given, zone, chat.queued);
}

/** Sends messages that wait for a reply whose process died before it could send them: one process does so, every few seconds. */
export const sendingForgotten = (services: Services): JobRules => ({
  atOnce: 1,
  retries: [],
  every: lookEvery,
  work: async ({ signal }) => {
    const forgotten = await services.db
      .selectFrom("chats")
      .innerJoin("messages", "messages.id", "chats.leafId")
      .where((e) =>
        e.or([
          e("chats.queued", "is not", null).and("messages.status", "in", ["complete", "stopped"]),
          e("chats.compared", "is not", null).and("messages.status", "in", ["complete", "stopped", "failed"]),
        ]),
      )
      .where("messages.finishedAt", "<", services.clock.now() - sentWithin)
      .select(["chats.id", "messages.status"])
      .execute();
    for (const { id, status } of forgotten) {
      if (signal.aborted) return;
      // A message that fails does not hold up the other messages.
      await sendQueued(services, id, status as EndStatus).catch((error: Error) =>
        services.log.error({ chatId: id, err: error }, "no se pudo enviar un mensaje en espera"),
      );
    }
  },
});

const sendRoute = createRoute({
  method: "post",
  path: "/{id}/queued",
  security: bearer,
  middleware: [signedIn, active, publishes("chat")],
  request: { params: idParam },
  responses: { 204: { description: "El mensaje que esperaba está enviado." } },
});

/** «Enviar ahora»: for a message that waits though no reply is being written. */
export const queuedMessages = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(sendRoute, async (c) => {
  const { person, services } = c.var;
  const { id } = c.req.valid("param");
  await ownChat(services, person, id);
  const [chat] = (await findQueue(services.db, { chatId: id })).rows;
  if (!chat) throw notFound();
  await send(services, chat);
  return c.body(null, 204);
});
