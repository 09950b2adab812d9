import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { ChatRow } from "../../db/tables.ts";
import { storedJson } from "../../process/text/json.ts";
import { CannotReply } from "../../replies/cannot-reply.server.ts";
import type { EndStatus } from "../../replies/running/run.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { active, findPerson, refuseInactive, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { bearer, idParam, takes } from "../http/schemas.server.ts";
import { findChat, findMessage } from "../http/visibility.server.ts";
import { modelToUse } from "../models/models.server.ts";
import { ownMessage, start } from "./conversation.server.ts";

/** Models that are still to answer a question, one after another; `problem`: why the next one could not begin. */
export type Compared = { parentId: string; modelIds: string[]; zone?: string | undefined; problem?: string };

export const parseCompared = (stored: string | null): Compared | null =>
  stored === null ? null : storedJson<Compared>(stored);

const comparedAtMost = 3;

const compareRoute = createRoute({
  method: "post",
  path: "/{id}/compared",
  security: bearer,
  middleware: [signedIn, active, publishes("chat")],
  request: {
    params: idParam,
    body: takes(
      z.strictObject({
        parentId: z.string().openapi({ description: "El mensaje de la persona." }),
        modelIds: z
          .array(z.string(), "modelIds tiene que ser una lista.")
          .min(1, "Falta algún modelo.")
          .max(comparedAtMost, `Se comparan ${comparedAtMost} modelos como mucho.`)
          .transform((ids) => [...new Set(ids)]),
      }),
    ),
  },
  responses: { 204: { description: "Contestan uno tras otro, cada cual en una versión; el primero ya ha empezado." } },
});
const compare: RouteHandler<typeof compareRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id: chatId } = c.req.valid("param");
  const { parentId, modelIds } = c.req.valid("json");
  const parent = await ownMessage(services, person, parentId);
  if (parent.chatId !== chatId || parent.role !== "user") throw notFound();
  for (const id of modelIds) await modelToUse(services, person.id, id);
  const zone = c.req.header("Time-Zone");
  const [modelId, ...rest] = modelIds;
  const { messageId } = await start(services, person, { parentId, modelId }, zone);
  await keep(services, chatId, rest.length > 0 ? { parentId, modelIds: rest, zone } : null);
  const { status } = await findMessage(services, person, messageId);
  // The first reply has ended before the other models were stored.
  if (status !== "streaming") await goOnComparing(services, await findChat(services, person, chatId), "complete");
  return c.body(null, 204);
};

/** «Comparar»: several models answer one question. */
export const comparisons = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(compareRoute, compare);

/**
 * Lets the next model answer that has not answered yet; returns whether a reply has begun. A reply that was stopped ends the comparison.
 * A refusal is kept with the comparison.
 */
export async function goOnComparing(
  services: Services,
  chat: Pick<ChatRow, "id" | "userId" | "sessionId" | "compared">,
  ended: EndStatus,
): Promise<boolean> {
  const { db } = services;
  const chatId = chat.id;
  const compared = parseCompared(chat.compared);
  if (!compared || compared.problem) return false;
  const { modelIds, parentId, zone } = compared;
  const [modelId, ...rest] = modelIds;
  const next = ended === "stopped" || rest.length === 0 ? null : { ...compared, modelIds: rest };
  // If two processes come at once, one takes the chat.
  const taken = await db
    .updateTable("chats")
    .set({ compared: next && JSON.stringify(next) })
    .where("id", "=", chatId)
    .where("compared", "=", chat.compared)
    .executeTakeFirst();
  if (taken.numUpdatedRows === 0n || ended === "stopped") return false;
  try {
    const person = await findPerson(services, chat.userId);
    if (!person) return false;
    refuseInactive(person);
    await start(services, { ...person, sessionId: chat.sessionId ?? "" }, { parentId, modelId }, zone);
    return true;
  } catch (error) {
    if (!(error instanceof Problem || error instanceof LimitReached || error instanceof CannotReply)) throw error;
    await keep(services, chatId, { ...compared, problem: error.message });
    return false;
  }
}

const keep = ({ db }: Services, chatId: string, compared: Compared | null) =>
  db
    .updateTable("chats")
    .set({ compared: compared && JSON.stringify(compared) })
    .where("id", "=", chatId)
    .execute();
