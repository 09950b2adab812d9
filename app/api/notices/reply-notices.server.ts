import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { replyNotice } from "../../db/reply-notices.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules } from "../../jobs/jobs.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { findMessage } from "../http/access.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { bearer, id } from "../http/schemas.server.ts";

const day = 24 * 60 * 60_000;
const minute = 60_000;

/** Whether this installation can tell anybody: a link needs an address that no request can forge. */
export const canTell = ({ mail, config }: Pick<Services, "mail" | "config">): boolean =>
  mail.available && config.publicUrl !== undefined;

/** «Avísame cuando esté»: an e-mail once a reply has ended, or waits for the person's yes. */
export const replyNotices = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/{messageId}/notify",
    security: bearer,
    middleware: [signedIn, active],
    request: { params: z.object({ messageId: id.openapi({ param: { name: "messageId", in: "path" } }) }) },
    responses: { 204: { description: "Cuando la respuesta acabe, o espere un sí, su dueño recibirá un correo." } },
  }),
  async (c) => {
    const { person, services } = c.var;
    const reply = await findMessage(services, person, c.req.valid("param").messageId);
    if (reply.role !== "assistant" || reply.userId !== person.id) throw notFound();
    await countAttempt(c, "notice", person.id);
    // Whoever asks has just seen it being written; of what ended long ago there is nothing to tell.
    const ended = reply.status !== "streaming" && Date.now() - (reply.finishedAt ?? reply.updatedAt) > minute;
    if (!ended) await addReplyNotice(services, reply);
    return c.body(null, 204);
  },
);

/** Has the owner of a reply told once it has ended. However often that is asked, they are told once. */
export async function addReplyNotice(
  { db, clock, jobs }: Pick<Services, "db" | "clock" | "jobs">,
  reply: Pick<MessageRow, "id" | "userId" | "status">,
): Promise<void> {
  const known = db.selectFrom("jobs").where("kind", "=", replyNotice).where("subjectId", "=", reply.id);
  if (await known.select("id").executeTakeFirst()) return;
  // It is due when the reply ends (`db/reply-notices.server.ts`). If that was just now, nobody has told it.
  const dueAt = clock.now() + (reply.status === "streaming" ? minute : 0);
  await jobs.add({ kind: replyNotice, subjectId: reply.id, userId: reply.userId, dueAt });
}

/** How those who asked are told. */
export const replyNotifying = (services: Pick<Services, "db" | "clock" | "mail" | "config" | "jobs">): JobRules => ({
  atOnce: 2,
  retries: [minute, 5 * minute],
  work: (job) => tell(services, job),
});

async function tell(
  { db, clock, mail, config, jobs }: Pick<Services, "db" | "clock" | "mail" | "config" | "jobs">,
  job: JobAtWork,
) {
  const reply = await db
    .selectFrom("messages as m")
    .innerJoin("chats as c", "c.id", "m.chatId")
    .innerJoin("users as u", "u.id", "m.userId")
    .where("m.id", "=", job.subjectId)
    .select(["m.status", "m.userId", "c.id as chatId", "c.title", "u.email"])
    .executeTakeFirst();
  // Deleted meanwhile.
  if (!reply) return;
  if (reply.status === "streaming") {
    await jobs.add({ kind: replyNotice, subjectId: job.subjectId, userId: reply.userId, dueAt: clock.now() + minute });
    return;
  }
  const isWaiting = reply.status === "waiting";
  const subject = isWaiting ? `«${reply.title}» espera tu permiso` : `«${reply.title}»: la respuesta ya está`;
  const said = isWaiting
    ? "La respuesta que esperabas quiere usar una herramienta y necesita que lo permitas:"
    : reply.status === "complete"
      ? "La respuesta que esperabas ya está:"
      : "La respuesta que esperabas se ha quedado a medias. Ahí dice por qué y cómo seguir:";
  const text = `Hola:\n\n${said}\n\n${config.publicUrl}/conversation/chat/${reply.chatId}\n`;
  mail.post({ to: reply.email, subject, text }, { goodUntil: clock.now() + day });
}
