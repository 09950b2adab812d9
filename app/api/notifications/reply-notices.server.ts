import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { replyNotice } from "../../db/reply-notices.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules } from "../../jobs/jobs.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, id } from "../http/schemas.server.ts";
import { findMessage } from "../http/visibility.server.ts";
import { hasDevices } from "./push.server.ts";
import { endOfReply } from "./reply-end.server.ts";

const day = 24 * 60 * 60_000;
const minute = 60_000;

/** Whether this installation can tell by e-mail: a link needs an address that no request can forge. */
export const canMail = ({ mail, config }: Pick<Services, "mail" | "config">): boolean =>
  mail.available && config.publicUrl !== undefined;

const messageParam = z.object({ messageId: id.openapi({ param: { name: "messageId", in: "path" } }) });
const own = { path: "/{messageId}/notify" as const, security: bearer, middleware: [signedIn, active] };

const notifyRoute = createRoute({
  method: "post",
  ...own,
  request: { params: messageParam },
  responses: {
    204: {
      description:
        "Cuando la respuesta acabe, o espere un sí, su dueño recibirá un correo y un aviso en sus dispositivos.",
    },
  },
});
const notify: RouteHandler<typeof notifyRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const reply = await ownReply(services, person, c.req.valid("param").messageId);
  await countAttempt(c, "notice", person.id);
  // The person who asks has just seen the reply being written; a reply that ended long ago needs no notice.
  const ended = reply.status !== "streaming" && Date.now() - (reply.finishedAt ?? reply.updatedAt) > minute;
  if (!ended) await addReplyNotice(services, reply);
  return c.body(null, 204);
};

const replyNoticeShown = z
  .object({
    by: z
      .enum(["mail", "device"])
      .nullable()
      .openapi({ description: "device: en los dispositivos, y por correo si se envían; null: de ninguna manera." }),
    asked: z.boolean(),
  })
  .openapi("ReplyNotice");

const showNotifyingRoute = createRoute({
  method: "get",
  ...own,
  request: { params: messageParam },
  responses: {
    200: answers(replyNoticeShown, "Cómo se puede avisar de esta respuesta, y si se avisará."),
  },
});
const showNotifying: RouteHandler<typeof showNotifyingRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { db } = services;
  const { id: replyId } = await ownReply(services, person, c.req.valid("param").messageId);
  const reply = await endOfReply(db, replyId, services.config);
  if (!reply) throw notFound();
  const by = (await hasDevices(db, reply)) ? "device" : canMail(services) ? "mail" : null;
  return c.json({ by, asked: await isAsked(db, replyId) }, 200);
};

/** «Avísame cuando esté»: an e-mail, and a notice on each device that takes them, once a reply has ended or waits for the person's yes. */
export const replyNotices = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(notifyRoute, notify)
  .openapi(showNotifyingRoute, showNotifying);

/** The message, if it is a reply to the person. Throws 404. */
async function ownReply(services: Services, person: Person, messageId: string): Promise<MessageRow> {
  const reply = await findMessage(services, person, messageId);
  if (reply.role !== "assistant" || reply.userId !== person.id) throw notFound();
  return reply;
}

/** Whether somebody is told of a reply, or has been. */
const isAsked = async (db: Db, replyId: string): Promise<boolean> =>
  (await db
    .selectFrom("jobs")
    .where("kind", "=", replyNotice)
    .where("subjectId", "=", replyId)
    .select("id")
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** Plans a notice to the owner of a reply for its end. Repeated requests lead to one notice. */
export async function addReplyNotice(
  { db, clock, jobs }: Pick<Services, "db" | "clock" | "jobs">,
  reply: Pick<MessageRow, "id" | "userId" | "status">,
): Promise<void> {
  if (await isAsked(db, reply.id)) return;
  // The end of the reply makes the job due (`db/reply-notices.server.ts`). After that end, the job has to be due at once.
  const dueAt = clock.now() + (reply.status === "streaming" ? minute : 0);
  await jobs.add({ kind: replyNotice, subjectId: reply.id, userId: reply.userId, dueAt });
}

/** How people who asked are told. */
export const replyNotifying = (services: Pick<Services, "db" | "clock" | "mail" | "config" | "jobs">): JobRules => ({
  atOnce: 2,
  retries: [minute, 5 * minute],
  work: (job) => tell(services, job),
});

async function tell(
  { db, clock, mail, config, jobs }: Pick<Services, "db" | "clock" | "mail" | "config" | "jobs">,
  job: JobAtWork,
) {
  const reply = await endOfReply(db, job.subjectId, config);
  // Deleted meanwhile.
  if (!reply) return;
  const { userId, chatId, status, email, title, said } = reply;
  if (status === "streaming") {
    await jobs.add({ kind: replyNotice, subjectId: job.subjectId, userId, dueAt: clock.now() + minute });
    return;
  }
  // A job of its own: a notice that a push service does not take is retried, and the e-mail is not sent again with it.
  if (await hasDevices(db, reply)) {
    await jobs.add({ kind: "reply-push", subjectId: job.subjectId, userId });
    jobs.wake("reply-push");
  }
  if (!canMail({ mail, config })) return;
  const text = `Hola:\n\n${said}\n\n${config.publicUrl}/conversation/chat/${chatId}\n`;
  mail.post({ to: email, subject: title, text }, { goodUntil: clock.now() + day });
}
